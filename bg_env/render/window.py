"""A window that shows pictures, by pygame; it needs the extra `render`."""

from __future__ import annotations

import os
import warnings
from types import ModuleType

import numpy as np
import numpy.typing as npt

from bg_env.errors import BgEnvError, needs

__all__ = ["Window"]


def _pygame() -> ModuleType:
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the packages that pygame imports
            import pygame
    except ImportError as error:
        msg = "a window needs pygame"
        raise needs(msg, "render") from error
    return pygame


class Window:
    """A window on the screen; it opens with the first picture.

    Args:
        caption: its title.
        fps: the most pictures a second, for which `show` waits; 0 for no limit.

    Attributes:
        closed: whether the viewer, or `close`, has closed it; it stays closed.
    """

    def __init__(self, caption: str = "bg_env", fps: float = 0) -> None:
        self.closed = False
        self._caption = caption
        self._fps = fps
        self._pygame: ModuleType | None = None

    def _open(self, size: tuple[int, int]) -> ModuleType:
        pygame = _pygame()
        try:
            pygame.display.init()
            pygame.display.set_mode(size)
        except pygame.error as error:
            msg = f"no window can be opened here ({error}): use render_mode='rgb_array' or 'ansi'"
            raise BgEnvError(msg) from error
        pygame.display.set_caption(self._caption)
        self._pygame, self._clock = pygame, pygame.time.Clock()
        return pygame

    def show(self, pixels: npt.NDArray[np.uint8]) -> bool:
        """Show a picture, uint8 of shape (height, width, 3), and check whether the viewer has closed the window.

        Returns:
            Whether the window is open; if not, nothing is shown.

        Raises:
            MissingDependencyError: pygame is not installed.
            BgEnvError: there is no screen to open a window on.
        """
        if self.closed:
            return False
        size = (pixels.shape[1], pixels.shape[0])
        pygame = self._pygame or self._open(size)
        screen = pygame.display.get_surface()
        if screen is None or screen.get_size() != size:
            screen = pygame.display.set_mode(size)
        pygame.surfarray.blit_array(screen, pixels.swapaxes(0, 1))
        pygame.display.flip()
        if any(event.type == pygame.QUIT for event in pygame.event.get()):
            self.close()
            return False
        if self._fps:
            self._clock.tick(self._fps)
        return True

    def close(self) -> None:
        """Close the window, if it is open."""
        self.closed = True
        if self._pygame is not None:
            self._pygame.display.quit()
            self._pygame = None
