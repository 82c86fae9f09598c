"""Prompts: a game in words for the player who must act, and what a reply looks like."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from bg_env.actions import action_text
from bg_env.checks import checked_flag, is_flag, is_player, is_whole
from bg_env.errors import SettingsError, quoted
from bg_env.game import Game
from bg_env.render.text import SYMBOLS, board_text
from bg_env.rules import BAR, Phase, Settings
from bg_env.text.choices import Unit
from bg_env.text.reply import checked_unit

__all__ = ["instructions", "prompt", "reply_format"]

_COLOURS: Final = ("White", "Black")
_RULES: Final = """\
You play {title}. The rules in short:
- Points are numbered from your own side: your checkers move down, from 24 to 1 and then off; your home board is 6 to 1.
- Play both dice of a roll if you can, else the larger one if you can; a double is played four times. A turn without a legal
  play passes by itself.
- A point with two or more opposing checkers is closed to you. A single opposing checker is hit and goes to the bar.
- A checker of yours on the bar must enter before any other moves: a die of n enters on point 25 - n.
- Bear off only when all your checkers are in your home board. A die larger than your highest point bears off from that point.
- {end}"""
_MOVES: Final = (
    "A move is written from/to, with your own numbers: 13/8, bar/22, 6/off. The order of the moves, a * for a hit, and points "
    "on the way are up to you."
)
_NUMBERS: Final = "All points are numbered from your side: you move from 24 down to 1, then off; your opponent moves up."
_WHOLE_FORM: Final = (
    'Reply: end with one line "Move: " and your whole play (the form only: "Move: 24/18 13/8" or "Move: bar/22 6/off").'
)
_STEP_FORM: Final = (
    'Reply: end with one line "Move: " and one step, of one die (the form only: "Move: 13/8", "Move: bar/22", "Move: 6/off").'
)


def instructions(settings: Settings) -> str:
    """The rules in short and the notation, for a system prompt; the same text for every game under these settings."""
    name = settings.variant.name
    if settings.match_length:
        end = f"The first to score {settings.match_length} points wins the match; a gammon counts 2, a backgammon 3"
    else:
        end = "The first to bear off all checkers wins 1 point, 2 for a gammon, 3 for a backgammon"
    cube = (
        ", times the cube. Before your roll you may double; who drops loses the cube's present value." if settings.cube else "."
    )
    rules = _RULES.format(title=name if name == "backgammon" else f"{name}, a variant of backgammon", end=end + cube)
    if settings.jacoby:
        rules += "\n- Gammons and backgammons count 1 while the cube is centred (Jacoby)."
    if settings.beavers:
        rules += "\n- Who is doubled may beaver: double again at once and keep the cube."
    if settings.variant.acey_deucey:
        rules += "\n- After a 1-2 you name a double, play it, and roll again."
    return f"{rules}\n{_MOVES}"


def reply_format(game: Game, *, unit: Unit = "play") -> str:
    """The form of a reply, in one line; "" where nobody decides.

    Args:
        game: the game.
        unit: as of `parse_reply`.

    Raises:
        SettingsError: `unit` is something else.
    """
    checked_unit(unit)
    if game.phase == Phase.CHECKER:
        return _STEP_FORM if unit == "step" else _WHOLE_FORM
    texts = [f'"Move: {text}"' for text in _texts(game, unit)]
    if not texts:
        return ""
    return f"Reply: end with one line {', '.join(texts[:-1])}{' or ' if texts[1:] else ''}{texts[-1]}."


def prompt(game: Game, *, legal: bool | int = False, board: bool = True, unit: Unit = "play", seat: int | None = None) -> str:
    """The state of a game for the player who must act, as text in ASCII; points are numbered from that player's side.

    Args:
        game: the game, not changed.
        legal: whether to list the legal plays or actions; a number lists so many of them at most.
        board: whether to draw the board; the checkers are also given in words.
        unit: as of `parse_reply`.
        seat: the player addressed where nobody must act, 0 or 1; None for the winner, before the opening throw player 0.

    Returns:
        Lines without a newline at the end: the game, the board, the checkers, cube and score, the roll, the legal choices if
        asked for, and the form of the reply. Equal games have equal prompts.

    Raises:
        SettingsError: an argument is something else.
    """
    checked_flag("board", board)
    checked_unit(unit)
    if not is_flag(legal) and not is_whole(legal, 0):
        msg = f"legal is True, False or the number of choices to list, not {quoted(legal)}"
        raise SettingsError(msg)
    states, settings = game.states, game.settings
    state = states[0]
    if seat is not None and not is_player(seat):
        msg = f"seat is 0, 1 or None, not {quoted(seat)}"
        raise SettingsError(msg)
    you = game.player
    if you is None:
        you = int(game.winner or 0) if seat is None else int(seat)
    drawn = board_text(states, 0, settings, seat=you, unicode=False, message=False).split("\n")
    lines = [
        f"Game: {drawn[0]}.",
        f"You are {SYMBOLS[you]} ({_COLOURS[you]}), your opponent is {SYMBOLS[1 - you]}. {_NUMBERS}",
    ]
    if board:
        lines += drawn[1:-1]
    points = state["points"].tolist()
    lines.append(f"Your checkers: {_checkers(points[you], own=True)}.")
    lines.append(f"Opposing checkers: {_checkers(points[1 - you], own=False)}.")
    lines += _stakes(game, you)
    lines.append(_due(game, you))
    texts = _texts(game, unit)
    if legal and texts:
        most = len(texts) if is_flag(legal) else int(legal)
        more = f"; and {len(texts) - most} more" if len(texts) > most else ""
        lines.append(f"Legal ({len(texts)}): {'; '.join(texts[:most])}{more}.")
    form = reply_format(game, unit=unit)
    return "\n".join([*lines, form] if form else lines).encode("ascii", "backslashreplace").decode()


def _texts(game: Game, unit: Unit) -> list[str]:
    if game.phase == Phase.CHECKER and unit == "play":
        return list(game.legal_texts())
    return list(dict.fromkeys(action_text(action, game.states) for action in game.legal_actions()))


def _checkers(side: Sequence[int], *, own: bool) -> str:
    """Counts by point, all on the numbering of the player addressed."""
    places = [(point if own else BAR - point, n) for point, n in enumerate(side) if 0 < point < BAR and n]
    words = [f"{point}: {n}" for point, n in sorted(places, reverse=True)]
    if side[BAR]:
        words.insert(0, f"bar: {side[BAR]}")
    if side[0]:
        words.append(f"off: {side[0]}")
    pips = sum(point * n for point, n in enumerate(side))
    return f"{', '.join(words)} ({pips} pips)"


def _stakes(game: Game, you: int) -> list[str]:
    """Cube and score."""
    lines = []
    if game.settings.cube:
        owner = game.cube_owner
        whose = "in the middle" if owner is None else "yours" if owner == you else "your opponent's"
        lines.append(f"Cube: {game.cube}, {whose}.")
    if game.match_length:
        crawford = ", the Crawford game: nobody may double" if game.crawford and game.settings.cube else ""
        lines.append(f"Score: you {game.score[you]}, opponent {game.score[1 - you]}, match to {game.match_length}{crawford}.")
    return lines


def _due(game: Game, you: int) -> str:
    """The decision that is due, or the result."""
    phase = game.phase
    if phase == Phase.OVER:
        winner = game.winner
        if winner is None:
            return "The game is over: nobody has won."
        points = f"{game.points} point{'s' * (game.points != 1)}"
        if game.match_length:
            return f"The match is over: you have {'won' if winner == you else 'lost'} it."
        return f"The game is over: you have {'won' if winner == you else 'lost'} {points}."
    if phase in (Phase.OPENING, Phase.ROLL):
        return "The dice are due."
    if phase == Phase.TAKE_OR_DROP:
        lost, offered = f"{game.cube} point{'s' * (game.cube != 1)}", 2 * game.cube
        return f"Your opponent has turned the cube to {offered}. Take to play on for {offered}, or drop and lose {lost}."
    if phase == Phase.ROLL_OR_DOUBLE:
        return "Before your roll: roll, or double."
    if phase == Phase.CHOOSE_DOUBLE:
        return "You have played a 1-2: name the double that you play next."
    state = game.states[0]
    high, low = (int(die) for die in state["dice"])
    left = game.dice
    if high == low:
        return f"You have rolled {high}-{low}: {len(left)} step{'s' * (len(left) != 1)} of {high} to play."
    if len(left) == 2:
        return f"You have rolled {high}-{low}: play both dice if you can."
    return f"You have rolled {high}-{low}: the {left[0]} is still to be played."
