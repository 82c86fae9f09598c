"""What a player is: something that chooses for a batch of games at once."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

import numpy.typing as npt

from bg_env.rules import Settings, States

__all__ = ["PlayPlayer", "Player", "bound"]


@runtime_checkable
class Player(Protocol):
    """A player that chooses one action at a time.

    A player that must know the rules in force has a method `bind(settings) -> player`, which every environment and the
    arena calls once before the first choice and whose answer they use; without it the player itself is used.
    """

    def choose(self, states: States, words: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """One legal action number for each state; each waits for this player (field `decider`).

        Args:
            states: STATE records (n,), not to be written to.
            words: uint64 (n,), 64 random bits for each decision, from the game's own stream: a player that draws from
                nothing else is the same in any batch.

        Returns:
            integers (n,).
        """
        ...


@runtime_checkable
class PlayPlayer(Protocol):
    """A player that chooses a whole play a turn; it knows the cube only through `choose`, if it has that as well.

    Without `choose` it rolls, takes, and names 6-6.
    """

    def choose_plays(self, states: States, words: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """The steps of one legal whole play for each state (phase CHECKER): integers (n, 4), -1 behind the last step."""
        ...


def bound(player: Any, settings: Settings) -> Any:
    """The player for these settings: `player.bind(settings)` where there is such a method, else the player itself."""
    bind = getattr(player, "bind", None)
    return bind(settings) if bind is not None else player
