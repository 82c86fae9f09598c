"""The board as text: read back and counted, in every phase and variant, from both seats."""

from __future__ import annotations

import re

import pytest
import render_cases
from hypothesis import given
from hypothesis import strategies as st

from bg_env.errors import BgEnvError, PositionError
from bg_env.render.text import SYMBOLS, board_text, position_text
from bg_env.rules.settings import Settings
from bg_env.rules.state import Phase
from bg_env.rules.variant import BAR, OFF, VARIANTS


def read_board(text: str) -> dict:
    """The contents of a text board: checkers by symbol and column ("bar", "off" or the number at the edge), cube, dice."""
    lines = text.splitlines()
    top = next(k for k, line in enumerate(lines) if re.match(r"[┌+]", line))
    rows = [re.sub("[─-]", " ", line) for line in lines[top : top + 13]]
    assert re.match(r"[└+]", rows[12])
    counts: dict[str, dict[str, int]] = {symbol: {} for symbol in SYMBOLS}
    places = {}
    for edge in (rows[0], rows[12]):
        for match in re.finditer(r"\d+|bar|off", edge):
            places.setdefault((edge is rows[0], match[0]), match.start())
    for (above, label), column in places.items():
        start, width = (column - 1, 5) if label in {"bar", "off"} else (column + len(label) - 2, 3)
        symbols = _symbols(rows, start, width, above=above)
        for symbol in SYMBOLS:
            found, heights = 0, []
            for row in rows[1:6] if above else rows[7:12]:
                cell = row[start : start + width]
                found += cell.count(symbol)
                if symbol in symbols:
                    heights += [int(n) for n in re.findall(r"(?<![\[\d])\d+(?![\]\d])", cell)]
            n = heights[0] if heights else found
            if n:
                counts[symbol][label] = counts[symbol].get(label, 0) + n
    return {
        "counts": counts,
        "rows": rows,
        "middle": rows[6],
        "cubes": re.findall(r"\[(\d+)\]", "".join(row[20:27] for row in rows[1:12])),
        "beside": [row[53:].strip() for row in rows[1:12]],
        "title": lines[top - 1] if top else "",
        "below": lines[top + 13 :],
    }


def _symbols(rows: list[str], start: int, width: int, *, above: bool) -> set[str]:
    cells = "".join(row[start : start + width] for row in (rows[1:6] if above else rows[7:12]))
    return set(cells) & set(SYMBOLS)


def expected(points, below: int) -> dict[str, dict[str, int]]:
    counts = {}
    for player in (0, 1):
        named = {}
        for p, n in enumerate(points[player]):
            label = {OFF: "off", BAR: "bar"}.get(p, str(p if player == below else 25 - p))
            if n:
                named[label] = int(n)
        counts[SYMBOLS[player]] = named
    return counts


def default_seat(state) -> int:
    if state["phase"] == Phase.OVER and state["winner"] >= 0:
        return int(state["winner"])
    return max(int(state["turn"]), 0)


@pytest.mark.parametrize("unicode", [True, False])
@pytest.mark.parametrize("seat", [None, 0, 1])
@pytest.mark.parametrize("name", render_cases.ALL)
def test_text_shows_the_state(name, seat, unicode):
    states, settings = render_cases.ALL[name]
    text = board_text(states, 0, settings, seat=seat, unicode=unicode)
    state = states[0]
    below = default_seat(state) if seat is None else seat
    seen = read_board(text)
    assert seen["counts"] == expected(state["points"], below)
    assert text.isascii() or unicode
    assert "\x1b" not in text
    assert max(map(len, text.splitlines())) <= 110
    assert settings.variant.name in text.splitlines()[0]
    pips = [f"pips {sum(p * int(n) for p, n in enumerate(state['points'][side]))}" for side in (1 - below, below)]
    assert [line for line in seen["beside"] if line.startswith("pips")] == pips
    order = [SYMBOLS[1 - below], SYMBOLS[below]]
    assert [line.lstrip("▸> ")[0] for line in seen["beside"] if re.search("White|Black", line)] == order
    assert "O White (player_0), X Black (player_1)" in text
    if settings.match_length:
        assert f"match to {settings.match_length}" in text
        scores = [f"score {state['score'][side]}" for side in (1 - below, below)]
        assert [line for line in seen["beside"] if line.startswith("score")] == scores
    else:
        assert "score" not in text


@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize("name", render_cases.ALL)
def test_cube_lies_where_it_belongs(name, seat):
    states, settings = render_cases.ALL[name]
    state = states[0]
    seen = read_board(board_text(states, 0, settings, seat=seat))
    left, right = seen["middle"][1:19], seen["middle"][28:46]
    offered = state["chain"] > 0 and state["phase"] == Phase.TAKE_OR_DROP
    if not settings.cube:
        assert seen["cubes"] == []
    elif offered:
        assert seen["cubes"] == []
        answers = int(state["decider"])
        half = right if answers == seat else left
        assert f"[{1 << int(state['cube'] + state['chain'])}] offered" in half
    else:
        chain = int(state["chain"])
        assert seen["cubes"] == [str(1 << (int(state["cube"]) + max(chain - 1, 0)))]
        row = next(k for k, line in enumerate(seen["rows"][1:12]) if "[" in line[20:27])
        assert row == (5 if state["owner"] == -1 else 10 if state["owner"] == seat else 0)
    assert offered or "offered" not in seen["middle"]


@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize("name", render_cases.ALL)
def test_dice_left_and_played(name, seat):
    states, settings = render_cases.ALL[name]
    state = states[0]
    seen = read_board(board_text(states, 0, settings, seat=seat))
    half = seen["middle"][28:46] if state["turn"] == seat else seen["middle"][1:19]
    dice = [int(n) for n in state["dice"]]
    left = sorted([dice[0]] * int(state["left"][0]) + [dice[1]] * int(state["left"][1]))
    thrown = [] if not dice[0] or state["phase"] == Phase.OVER else [dice[0]] * 4 if dice[0] == dice[1] else dice
    if "offered" not in half:
        assert sorted(map(int, re.findall(r"\[(\d)\]", half))) == left
        assert sorted(map(int, re.findall(r"[\[(](\d)[\])]", half))) == sorted(thrown)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("backgammon-opening", "Opening throw: the higher die starts"),
        ("backgammon-roll", "Black to roll"),
        ("backgammon-roll_or_double", "White to roll or double"),
        ("backgammon-take_or_drop", "Black doubles to 2: White to take or drop"),
        ("backgammon-checker", "White to play 6-4, the 4 left"),
        ("backgammon-over", "White wins the match 8-4 (a backgammon, 6 points)"),
        ("acey_deucey-choose_double", "Black to name a double"),
        ("double", "White to play 3-3, 3 left"),
        ("bonus", "White to play 2-1, the 2 left (a double and another roll follow)"),
        ("named", "White to play the named double 5-5"),
        ("extra", "White to play the extra roll 6-5"),
        ("again", "Black to roll again"),
        ("beaver", "Black beavers to 8: White to take or drop"),
        ("raccoon", "White raccoons to 4096: Black to take or drop"),
        ("crawford", "backgammon, match to 7, Crawford game"),
        ("next", "Black won a gammon, 2 points. Opening throw"),
        ("illegal", "Black made an illegal action: White wins a backgammon, 12 points"),
        ("truncated", "Stopped at the limit of 200 turns"),
        ("largest", "[32768]"),
    ],
)
def test_words(name, words):
    states, settings = render_cases.ALL[name]
    assert words in board_text(states, 0, settings)


def test_title_says_what_is_played_for():
    def title(**settings):
        return board_text(render_cases.state(), 0, Settings(**settings)).splitlines()[0]

    assert title() == "backgammon, money play"
    assert title(cube=False) == "backgammon, money play, no cube"
    assert title(cube_cap=16, jacoby=True, beavers=1) == "backgammon, money play, cube up to 16, Jacoby, beavers"
    assert title(cube_cap=None, auto_doubles=2).endswith("no limit to the cube, automatic doubles (up to 2)")
    assert title(match_length=5, crawford=False, max_turns=9) == "backgammon, match to 5, no Crawford game, at most 9 turns"


@given(board=render_cases.boards(), seat=st.sampled_from((0, 1)), unicode=st.booleans())
def test_any_placement_reads_back(board, seat, unicode):
    states = render_cases.state(phase=Phase.ROLL, turn=0)
    states["points"][0] = board
    seen = read_board(board_text(states, 0, Settings(), seat=seat, unicode=unicode))
    assert seen["counts"] == expected(board, seat)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("mover_is", [0, 1])
def test_position_is_seen_by_the_player_on_roll(variant, mover_is):
    start = VARIANTS[variant].start
    mover = list(start)
    highest = max(p for p in range(26) if start[p])
    mover[highest] -= 1
    mover[OFF] += 1
    text = position_text(mover, start, variant, mover_is=mover_is)
    board = [mover, start] if mover_is == 0 else [start, mover]
    assert read_board(text)["counts"] == expected(board, mover_is)
    assert f"▸ {SYMBOLS[mover_is]} on roll" in text
    assert "[" not in text


def test_colour_is_only_paint():
    states, settings = render_cases.ALL["backgammon-checker"]
    painted = board_text(states, 0, settings, colour=True)
    plain = re.sub(r"\x1b\[[\d;]*m", "", painted)
    assert "\x1b[" in painted
    assert [line.rstrip() for line in plain.splitlines()] == board_text(states, 0, settings).splitlines()
    assert all(
        line.count("\x1b[0m") <= line.count("\x1b[") // 2 and not line.endswith("\x1b[") for line in painted.splitlines()
    )
    for line in painted.splitlines():
        codes = re.findall(r"\x1b\[([\d;]*)m", line)
        assert not codes or codes[-1] == "0"


def test_names_are_shown_and_cannot_break_the_board():
    states, settings = render_cases.ALL["backgammon-roll"]
    text = board_text(states, 0, settings, names=("Ann\x1b[31m", "Bo\nb"))
    assert "\x1b" not in text
    assert "X Bo b (player_1)" in text
    assert len(text.splitlines()) == len(board_text(states, 0, settings).splitlines())


def test_it_draws_the_state_it_is_asked_for_and_leaves_it_alone():
    states = render_cases.state().repeat(3)
    states[1] = render_cases.ALL["backgammon-checker"][0][0]
    before = states.copy()
    assert "White to play 6-4" in board_text(states, 1, Settings())
    assert "Opening" in board_text(states, 2, Settings())
    assert (states == before).all()


def test_refusals():
    with pytest.raises(BgEnvError, match="seat is 0, 1 or None, not 2"):
        board_text(render_cases.state(), 0, Settings(), seat=2)
    with pytest.raises(BgEnvError, match="mover_is"):
        position_text(VARIANTS["backgammon"].start, VARIANTS["backgammon"].start, mover_is=3)
    with pytest.raises(PositionError):
        position_text([1] * 26, [1] * 26)


OPENING = """\
backgammon, money play
┌13─14─15─16─17─18─┬──bar──┬19─20─21─22─23─24─┬─off─┐
│ O           X    │       │ X              O │     │   X Black
│ O           X    │       │ X              O │     │     pips 167
│ O           X    │       │ X                │     │
│ O                │       │ X                │     │
│ O                │       │ X                │     │
│                  │  [1]  │                  │     │
│ X                │       │ O                │     │
│ X                │       │ O                │     │
│ X           O    │       │ O                │     │
│ X           O    │       │ O              X │     │   O White
│ X           O    │       │ O              X │     │     pips 167
└12─11─10──9──8──7─┴──bar──┴─6──5──4──3──2──1─┴─off─┘
Opening throw: the higher die starts
O White (player_0), X Black (player_1)"""


def test_the_opening_board_line_by_line():
    assert board_text(render_cases.state(), 0, Settings()) == OPENING
