"""Drawing the board, as pure functions of a STATE record: text, SVG, raster, window and the HTML replay."""
