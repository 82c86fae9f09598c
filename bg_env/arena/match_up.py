"""The options of head-to-head games as one value, `MatchUp`: the one list that `play`, `play_part` and Ray take by name."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Final, TypeVar, get_type_hints

from bg_env.checks import checked_even, checked_seed, checked_whole
from bg_env.errors import SettingsError, quoted, unexpected
from bg_env.observations import Encoder, encoder
from bg_env.options import read_luck
from bg_env.players.function import checked_mask
from bg_env.rules import Settings, SettingsKeywords, SettingsLike, VariantLike, read_settings
from bg_env.rules.settings import OLD_NAMES

__all__ = ["MatchUp", "MatchUpKeywords", "read_match_up", "takes_match_up"]

MOST_GAMES: Final = 2**31 - 1
"""Games of one result at most."""

Taker = TypeVar("Taker", bound=Callable[..., Any])


@dataclass(frozen=True)
class MatchUp:
    """The options of games between two players, checked.

    Attributes:
        settings: the settings in force.
        games: number of games (with `match_length`: matches), even and at least 2; half of them from each seat.
        seed: of the dice and of the players' random words, 0 to 2**64 - 1.
        boards: number of games played at once, at least 1.
        observation: the encoder of what callables are shown, by name or as a `bg_env.Encoder`.
        mask: how callables are shown the action mask: "both" or "observation" in a dict, "info" as a second argument.
        names: of both players, for the result; None for their own.
        luck: a player with a value net, or its name, or "fast" (see `bg_env.evaluation.luck`), by which the luck of the dice is
            measured and subtracted from the results (see `bg_env.arena.Adjustment`); None for plain results alone.

    Raises:
        SettingsError: an option is out of range, or the encoder cannot show the settings.
    """

    settings: Settings
    games: int = 1000
    seed: int = 1
    boards: int = 1024
    observation: str | Encoder = "tesauro"
    mask: str = "both"
    names: tuple[str, str] | None = None
    luck: Any = None

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "observation", encoder(self.observation))
        self.encoder.check(self.settings)
        put(self, "seed", checked_seed(self.seed))
        put(self, "games", checked_even("games", self.games, 2, MOST_GAMES))
        put(self, "boards", checked_whole("boards", self.boards, 1, MOST_GAMES))
        put(self, "mask", checked_mask(self.mask))
        if self.names is not None:
            if not isinstance(self.names, (tuple, list)) or len(self.names) != 2:
                msg = f"names are two names, one for each player, not {quoted(self.names)}"
                raise SettingsError(msg)
            put(self, "names", tuple(self.names))
        put(self, "luck", read_luck(self.luck))

    @property
    def encoder(self) -> Encoder:
        """The observation as an encoder."""
        return encoder(self.observation)


class MatchUpKeywords(SettingsKeywords, total=False):
    """The options of `MatchUp`, and the fields of `Settings`, as keyword arguments."""

    variant: VariantLike | None
    settings: SettingsLike | None
    games: int
    seed: int
    boards: int
    observation: str | Encoder
    mask: str
    names: Sequence[str] | None
    luck: Any


_OWN: Final = tuple(item.name for item in fields(MatchUp) if item.name != "settings")
_SETTINGS: Final = tuple(name for name in MatchUpKeywords.__annotations__ if name not in _OWN)


def read_match_up(options: Mapping[str, Any]) -> MatchUp:
    """The options of head-to-head games, checked.

    Args:
        options: those of `MatchUpKeywords`, any of them.

    Raises:
        SettingsError: one of them is unknown, out of range, or contradicts another.
    """
    own = {name: value for name, value in options.items() if name in _OWN}
    return MatchUp(read_settings(**{name: value for name, value in options.items() if name not in _OWN}), **own)


def takes_match_up(taker: Taker) -> Taker:
    """Decorate a function that takes `**options: Unpack[MatchUpKeywords]`.

    Its signature then shows every option with its default, and an unknown name is an `UnknownOptionError`.
    """
    signature = inspect.signature(taker)
    own = [one for one in signature.parameters.values() if one.kind is not one.VAR_KEYWORD]
    defaults = {item.name: item.default for item in fields(MatchUp) if item.name in _OWN}
    defaults |= {name: one.default for name, one in inspect.signature(Settings).parameters.items()} | {
        "variant": None,
        "settings": None,
    }
    hints = get_type_hints(MatchUpKeywords)
    shown = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=defaults[name], annotation=hints[name])
        for name in (*_OWN, *_SETTINGS)
    ]
    known = [one.name for one in (*own, *shown)]

    @functools.wraps(taker)
    def checked(*args: Any, **given: Any) -> Any:
        unknown = given.keys() - known - OLD_NAMES
        if unknown:
            raise unexpected(taker.__name__, unknown, known)
        return taker(*args, **given)

    checked.__signature__ = signature.replace(parameters=[*own, *shown])  # type: ignore[attr-defined] # inspect looks for it
    return checked  # type: ignore[return-value]
