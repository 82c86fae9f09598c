"""Invariants of the rules, checked over random games of any settings."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np

from bg_env.game import Game
from bg_env.notation.gnubg_ids import decode_position_id
from bg_env.position import Position
from bg_env.rules import Phase, Reason, Settings, Variant, illegal_reason
from bg_env.rules.actions import ACTIONS
from bg_env.testing.basics import GAMES, chooser, need

__all__ = ["check_game"]


def _ends(game: Game, mover: int) -> set[Position]:
    """The boards, as the mover sees them, that its roll can end with, found step by step."""
    found, waiting, seen = set(), [game], set()
    while waiting:
        here = waiting.pop()
        if here.phase != Phase.CHECKER or here.player != mover:
            mine = here.player == mover or here.winner == mover or (here.player is None and here.winner is None)
            found.add(here.position if mine else here.position.turned())
            continue
        for action in here.legal_actions():
            after = here.copy()
            after.apply(action)
            key = (after.position, after.dice, after.phase)
            if key not in seen:
                seen.add(key)
                waiting.append(after)
    return found


def _check_state(game: Game) -> None:
    settings, position = game.settings, game.position
    for side in (position.mover, position.opponent):
        need(sum(side) == settings.variant.checkers, f"{sum(side)} checkers, not {settings.variant.checkers}: {position!r}")
        need(min(side) >= 0, f"a negative number of checkers: {position!r}")
    shared = [p for p in range(1, 25) if position.mover[p] and position.opponent[25 - p]]
    need(not shared, f"both players hold the points {shared}")
    need(position.turned().turned() == position, "turning a position twice changes it")
    back = decode_position_id(position.id, settings.variant)
    need(back == (position.mover, position.opponent), f"the position id {position.id} is read as something else")
    legal = set(game.legal_actions())
    waits = game.phase not in (Phase.OPENING, Phase.ROLL, Phase.OVER)
    need(bool(legal) == waits, f"in phase {game.phase} the legal actions are {legal}")
    need(bool(game.chance()) == (game.phase in (Phase.OPENING, Phase.ROLL)), f"chance() in phase {game.phase}")
    need(abs(sum(p for _, p in game.chance()) - 1) < 1e-9 or not game.chance(), "the probabilities of chance() do not sum to 1")
    states, rules = game.states, settings.record()
    found = {action for action in range(ACTIONS) if illegal_reason(states, 0, rules, action) == Reason.LEGAL}
    need(found == legal, f"mask and reasons disagree about {sorted(found ^ legal)} in {game!r}")
    need(max(legal, default=0) < settings.actions, f"legal actions are outside Discrete({settings.actions})")


def check_game(variant: str | Variant = "backgammon", *, episodes: int = GAMES, seed: int = 0, **settings: Any) -> None:
    """Play random episodes by `bg_env.Game` and check the invariants of the rules in every state.

    Checkers are conserved, no point is shared, mask and reasons agree about all actions, whole plays are the results of single
    steps, ids and settings are read back unchanged, and a history played again leads to the same game.

    Raises:
        AssertionError: an invariant does not hold; the message names it.
    """
    rules = Settings(variant, **settings)
    need(Settings.parse(str(rules)) == rules, f"{rules} is read back as {Settings.parse(str(rules))}")
    need(pickle.loads(pickle.dumps(rules)) == rules, f"{rules} is unpickled as something else")  # noqa: S301 - made here
    need(hash(Settings.parse(str(rules))) == hash(rules), "equal settings have different hashes")
    for episode in range(episodes):
        rng, choose = np.random.default_rng((seed, episode)), chooser(seed + episode)
        game, turns, before = Game.new(**_arguments(rules)), 0, None
        while game.phase != Phase.OVER:
            _check_state(game)
            if game.chance():
                rolls = game.chance()
                mover, before = game.player, game.position
                game.apply_roll(*rolls[int(rng.integers(len(rolls)))][0])
                turns += 1
                if turns % 7 == 0 and before is not None and game.phase == Phase.CHECKER and game.player == mover:
                    plays = before.legal_plays(*(game.dice * 2)[:2])
                    boards = {play.result.turned() for play in plays}
                    need(len(boards) == len(plays), f"two whole plays of {game.dice} have the same result")
                    need(_ends(game, int(mover or 0)) == boards, f"steps and whole plays of {game.dice} differ in {before!r}")
            else:
                mask = np.zeros(ACTIONS, np.int8)
                mask[game.legal_actions()] = 1
                game.apply(choose(mask))
        _check_state(game)
        again = Game.new(**_arguments(rules))
        for event in game.history:
            if event.roll is not None:
                again.apply_roll(*event.roll)
            elif event.action is not None:
                again.apply(event.action)
        need(again == game, "a history played again leads to another game")


def _arguments(settings: Settings) -> dict[str, Any]:
    return {name: getattr(settings, name) for name in settings.__dataclass_fields__}
