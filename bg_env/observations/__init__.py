"""Observations by name: `encoder("tesauro").encode(states, rules)`; a name's layout never changes.

| name | shape | description |
|---|---|---|
| tesauro | 229 | the default: the 196 board inputs of TD-Gammon and 33 values for dice, phase, cube, match and stakes |
| tesauro198 | 198 | Tesauro's 198 inputs, for value nets |
| counts | 85 | checkers on each point as a share of a side's checkers, and the same 33 values |
| planes | 45 x 24 | channels over the points, for convolutions |
| pubeval | 122 | the inputs of Tesauro's pubeval |
| openspiel | 200 | the observation of OpenSpiel's backgammon (standard game only) |
| pgx | 34 | the observation of Pgx's backgammon (standard game only) |
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from bg_env.errors import SettingsError, quoted
from bg_env.observations.base import Encoder, check_encoder, default_seat, default_seats, write_rows
from bg_env.observations.counts import COUNTS
from bg_env.observations.openspiel import OPENSPIEL
from bg_env.observations.pgx import PGX
from bg_env.observations.planes import PLANES
from bg_env.observations.pubeval import PUBEVAL
from bg_env.observations.tesauro import TESAURO
from bg_env.observations.tesauro198 import TESAURO198

__all__ = ["ENCODERS", "Encoder", "check_encoder", "default_seat", "default_seats", "encoder", "write_rows"]

ENCODERS: Final[Mapping[str, Encoder]] = MappingProxyType(
    {item.name: item for item in (TESAURO, TESAURO198, COUNTS, PLANES, PUBEVAL, OPENSPIEL, PGX)}
)
"""The encoders by name."""


def encoder(observation: str | Encoder) -> Encoder:
    """The built-in encoder called `observation`, or the encoder itself.

    Raises:
        SettingsError: no built-in encoder has that name, or another encoder was given the name of one.
    """
    if isinstance(observation, Encoder):
        if ENCODERS.get(observation.name, observation) is not observation:
            msg = f"observation {observation.name} is not the built-in encoder of that name: give yours a name of its own"
            raise SettingsError(msg)
        return observation
    if not isinstance(observation, str) or observation not in ENCODERS:
        known = ", ".join(ENCODERS)
        msg = f"no observation is called {quoted(observation)}: choose from {known}, or give a bg_env.Encoder"
        raise SettingsError(msg)
    return ENCODERS[observation]
