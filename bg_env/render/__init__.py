"""Pictures of the board, as pure functions of a STATE record: text, SVG, pixels, a window and the HTML replay."""
