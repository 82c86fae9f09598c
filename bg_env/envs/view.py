"""What `render` gives in each render mode, from one drawing."""

from __future__ import annotations

import os
import sys
from typing import Any, Final

from bg_env.envs.one import OneGame
from bg_env.game import last_move
from bg_env.render.text import board_text

__all__ = ["RENDER_FPS", "RENDER_MODES", "View"]

RENDER_MODES: Final = ("ansi", "rgb_array", "human")
RENDER_FPS: Final = 2


class View:
    """Shows the game of an environment: text (in colour on a terminal that has it), pixels, or a window.

    Pixels and window need the extra `render`.
    """

    def __init__(self, mode: str | None) -> None:
        self.mode = mode
        self._window: Any = None

    def render(self, one: OneGame) -> Any:
        """The board as text ("ansi") or uint8 pixels (height, width, 3) ("rgb_array"); "human" shows it and gives None."""
        if self.mode is None:
            return None
        if self.mode == "ansi":
            colour = sys.stdout.isatty() and "NO_COLOR" not in os.environ
            return board_text(one.states, 0, one.settings, colour=colour)
        from bg_env.render.raster import board_rgb

        pixels = board_rgb(one.states, 0, one.settings, arrows=last_move(one.events or ()))
        if self.mode == "rgb_array":
            return pixels
        if self._window is None:
            from bg_env.render.window import Window

            self._window = Window(fps=RENDER_FPS)
        self._window.show(pixels)
        return None

    def close(self) -> None:
        """Close the window, if there is one."""
        if self._window is not None:
            self._window.close()
            self._window = None

    def __getstate__(self) -> dict[str, Any]:
        return {"mode": self.mode, "_window": None}  # a window stays with the original
