"""Pictures of an environment's game in each render mode, from one drawing."""

from __future__ import annotations

import os
import sys
from typing import Any, Final

import numpy as np

from bg_env.envs.episode import Episode
from bg_env.game import last_move
from bg_env.render.text import board_text

__all__ = ["RENDER_FPS", "RENDER_MODES", "View"]

RENDER_MODES: Final = ("ansi", "rgb_array", "human")
RENDER_FPS: Final = 2
PIXELS: Final = (686, 736, 3)
"""Shape of a picture."""


class View:
    """Shows the game of an environment: text (in colour on a terminal that has it), pixels, or a window.

    Pixels and window need the extra `render`.
    """

    def __init__(self, mode: str | None) -> None:
        self.mode = mode
        self._window: Any = None
        if mode in ("rgb_array", "human"):
            from bg_env.render.raster import need_pillow

            need_pillow()

    def open(self) -> None:
        """Open the window of "human", so that a failure shows before anything else happens.

        Raises:
            MissingDependencyError: pygame is absent.
            BgEnvError: there is no screen to open a window on.
        """
        if self.mode == "human" and self._window is None:
            from bg_env.render.window import Window

            window = Window(fps=RENDER_FPS)
            window.show(np.zeros(PIXELS, np.uint8))
            self._window = window

    def render(self, episode: Episode) -> Any:
        """The board as text ("ansi") or uint8 pixels (height, width, 3) ("rgb_array"); "human" shows it and returns None."""
        if self.mode is None:
            return None
        if self.mode == "ansi":
            colour = sys.stdout is not None and sys.stdout.isatty() and "NO_COLOR" not in os.environ
            return board_text(episode.states, 0, episode.settings, colour=colour)
        from bg_env.render.raster import board_rgb

        pixels = board_rgb(episode.states, 0, episode.settings, arrows=last_move(episode.events))
        if self.mode == "rgb_array":
            return pixels
        self.open()
        self._window.show(pixels)
        return None

    def close(self) -> None:
        """Close the window, if there is one."""
        if self._window is not None:
            self._window.close()
            self._window = None

    def __getstate__(self) -> dict[str, Any]:
        return {"mode": self.mode, "_window": None}  # a window stays with the original
