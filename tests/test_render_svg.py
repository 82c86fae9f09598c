"""The drawing as SVG: read back from the text and counted against the state, by what shapes say and by where they lie."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from collections import Counter
from pathlib import Path

import pytest
import render_cases
from hypothesis import given
from hypothesis import strategies as st

from bg_env.errors import BgEnvError, PositionError
from bg_env.render.drawing import HEIGHT, WIDTH, draw
from bg_env.render.scene import scene
from bg_env.render.svg import board_svg, position_svg
from bg_env.rules.settings import Settings
from bg_env.rules.state import Phase
from bg_env.rules.variant import BAR, OFF, VARIANTS

GOLDEN = Path(__file__).parent / "golden" / "svg"
NS = "{http://www.w3.org/2000/svg}"
CASES = render_cases.ALL


def parse(text: str) -> list:
    root = ET.fromstring(text)  # noqa: S314 our own text
    assert root.tag == f"{NS}svg"
    assert root.get("viewBox") == f"0 0 {WIDTH} {HEIGHT}"
    return list(root)


def of_kind(shapes, kind: str) -> list:
    return [shape for shape in shapes if shape.get("class") == kind]


def middle(shape) -> tuple[float, float]:
    if shape.tag == f"{NS}circle":
        return float(shape.get("cx")), float(shape.get("cy"))
    if shape.tag == f"{NS}rect":
        x, y, w, h = (float(shape.get(name)) for name in ("x", "y", "width", "height"))
        return x + w / 2, y + h / 2
    return float(shape.get("x")), float(shape.get("y"))


def box(shape) -> tuple[float, float, float, float]:
    x, y = middle(shape)
    w, h = (
        (2 * float(shape.get("r")),) * 2
        if shape.tag == f"{NS}circle"
        else (float(shape.get("width")), float(shape.get("height")))
    )
    return x - w / 2, y - h / 2, x + w / 2, y + h / 2


def counted(shapes) -> list[list[int]]:
    """Checkers of both, by what the shapes say: those drawn, or the height written on the stack."""
    sides = [[0] * 26, [0] * 26]
    for checker in of_kind(shapes, "checker"):
        sides[int(checker.get("data-player"))][int(checker.get("data-point"))] += 1
    for count in of_kind(shapes, "count"):
        player, point = int(count.get("data-player")), int(count.get("data-point"))
        assert sides[player][point] == (int(count.text) if point == OFF else 5)
        sides[player][point] = int(count.text)
    return sides


def check_places(shapes, below: int) -> None:
    """Every checker lies where its point is: under the number written at the edge, on the bar, or in its tray."""
    numbers = {(middle(n)[0], middle(n)[1] < HEIGHT / 2): int(n.text) for n in of_kind(shapes, "number")}
    assert sorted(numbers.values()) == list(range(1, 25))
    assert max(x for x, _ in numbers) == next(x for (x, top), n in numbers.items() if n == 1 and not top)  # R1.4
    assert max(x for x, _ in numbers) == next(x for (x, top), n in numbers.items() if n == 24 and top)
    fields = sorted(box(field) for field in of_kind(shapes, "field"))
    trays = sorted((box(tray) for tray in of_kind(shapes, "tray")), key=lambda b: b[1])
    for checker in of_kind(shapes, "checker"):
        player, point = int(checker.get("data-player")), int(checker.get("data-point"))
        (x, y), (x0, y0, x1, y1) = middle(checker), box(checker)
        if point == OFF:
            tray = trays[player == below]
            assert tray[0] < x0 < x1 < tray[2]
            assert tray[1] < y0 < y1 < tray[3]
        elif point == BAR:
            assert fields[0][2] < x0 < x1 < fields[1][0]
            assert (y > (fields[0][1] + fields[0][3]) / 2) == (player == below)
        else:
            top = y < HEIGHT / 2
            label = numbers[min((key for key in numbers if key[1] == top), key=lambda key: abs(key[0] - x))]
            assert label == (point if player == below else 25 - point)


@pytest.mark.parametrize("seat", [None, 0, 1])
@pytest.mark.parametrize("name", CASES)
def test_checkers_of_the_state(name, seat):
    states, settings = CASES[name]
    shapes = parse(board_svg(states, 0, settings, seat=seat))
    assert counted(shapes) == states[0]["points"].tolist()
    below = scene(states, 0, settings).below if seat is None else seat
    check_places(shapes, below)
    pips = [f"pips {sum(p * n for p, n in enumerate(side))}" for side in states[0]["points"].tolist()]
    found = {shape.get("data-player"): shape for shape in of_kind(shapes, "pips")}
    assert [found["0"].text, found["1"].text] == pips
    assert middle(found[str(below)])[1] > middle(found[str(1 - below)])[1]


@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize("name", CASES)
def test_dice_of_the_state(name, seat):
    states, settings = CASES[name]
    state = states[0]
    shapes = parse(board_svg(states, 0, settings, seat=seat))
    dice, pips = of_kind(shapes, "die"), of_kind(shapes, "pip")
    thrown, left = state["dice"].tolist(), state["left"].tolist()
    if not thrown[0] or state["phase"] == Phase.OVER:
        assert dice == pips == []
        return
    assert Counter(int(die.get("data-number")) for die in dice) == Counter(thrown * 2 if thrown[0] == thrown[1] else thrown)
    open_dice = [die for die in dice if die.get("data-played") == "no"]
    assert Counter(int(die.get("data-number")) for die in open_dice) == Counter({thrown[0]: left[0]}) + Counter(
        {thrown[1]: left[1]}
    )
    for die in dice:
        x0, y0, x1, y1 = box(die)
        inside = [p for p in pips if x0 < middle(p)[0] < x1 and y0 < middle(p)[1] < y1]
        assert len(inside) == int(die.get("data-number"))
        assert (die.get("opacity") is not None) == (die.get("data-played") == "yes")
        assert (x0 > WIDTH / 2) == (state["turn"] == seat)  # to the right of who rolled
        faces = {c.get("fill") for c in of_kind(shapes, "checker") if c.get("data-player") == str(state["turn"])}
        assert faces == {die.get("fill")}
    assert len(pips) == sum(int(die.get("data-number")) for die in dice)


@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize("name", CASES)
def test_cube_of_the_state(name, seat):
    states, settings = CASES[name]
    state = states[0]
    shapes = parse(board_svg(states, 0, settings, seat=seat))
    cubes = of_kind(shapes, "cube")
    if not settings.cube:
        assert cubes == []
        return
    (cube,) = cubes
    (value,) = of_kind(shapes, "cube-value")
    (x, y), fields = middle(cube), sorted(box(field) for field in of_kind(shapes, "field"))
    centre = (fields[0][1] + fields[0][3]) / 2
    on_bar = fields[0][2] < box(cube)[0] < box(cube)[2] < fields[1][0]
    chain = int(state["chain"])
    if state["phase"] == Phase.TAKE_OR_DROP:
        assert cube.get("data-lies") == "offered"
        assert value.text == str(1 << int(state["cube"]) + chain)
        assert cube.get("data-player") == str(state["decider"])
        assert not on_bar
        assert (x > WIDTH / 2) == (state["decider"] == seat)
        return
    assert value.text == str(1 << int(state["cube"]) + max(chain - 1, 0))
    assert on_bar
    assert abs(x - middle(value)[0]) < 0.01
    if state["owner"] == -1:
        assert (cube.get("data-lies"), y) == ("centred", centre)
    else:
        assert cube.get("data-lies") == "owned"
        assert cube.get("data-player") == str(state["owner"])
        assert (y > centre) == (state["owner"] == seat)


@pytest.mark.parametrize("name", CASES)
def test_golden(name, request):
    """The picture is as it was; `--golden` rewrites it, and a person looks at it."""
    states, settings = CASES[name]
    file = GOLDEN / f"{name}.svg"
    drawn = board_svg(states, 0, settings)
    if request.config.getoption("--golden", default=False):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(drawn, encoding="utf-8", newline="\n")
    assert drawn == file.read_text(encoding="utf-8")


def test_no_golden_without_a_case():
    assert {file.stem for file in GOLDEN.iterdir()} == set(CASES)


@given(
    board=render_cases.boards(),
    seat=st.sampled_from((0, 1)),
    owner=st.sampled_from((-1, 0, 1)),
)
def test_any_placement(board, seat, owner):
    states = render_cases.state(phase=Phase.ROLL, turn=0, owner=owner)
    states["points"][0] = board
    shapes = parse(board_svg(states, 0, Settings(), seat=seat))
    assert counted(shapes) == [list(board[0]), list(board[1])]
    check_places(shapes, seat)
    x0, y0, x1, y1 = box(of_kind(shapes, "cube")[0])
    for checker in of_kind(shapes, "checker"):
        a0, b0, a1, b1 = box(checker)
        assert a1 <= x0 or a0 >= x1 or b1 <= y0 or b0 >= y1  # no checker under the cube


def test_everything_lies_on_the_page():
    for states, settings in CASES.values():
        for shape in parse(board_svg(states, 0, settings, arrows=[(0, 25, 20), (1, 6, 0)])):
            if shape.tag in {f"{NS}circle", f"{NS}rect"}:
                x0, y0, x1, y1 = box(shape)
                assert 0 <= x0 <= x1 <= WIDTH
                assert 0 <= y0 <= y1 <= HEIGHT


def test_names_are_escaped_and_long_ones_cut():
    states, settings = CASES["backgammon-roll"]
    bad = "</text><script>alert(1)</script>&\"'"
    text = board_svg(states, 0, settings, names=(bad, "x" * 500))
    assert "<script" not in text
    names = of_kind(parse(text), "name")
    assert names[0].text == bad
    assert len(names[1].text) < 60
    assert names[1].text.endswith("...")
    assert board_svg(states, 0, settings, names=("a\x00b", "c\nd")) == board_svg(states, 0, settings, names=("a b", "c d"))


def test_arrows_go_from_the_place_left_to_the_place_reached():
    """Black has played 8/4* 6/4 and entered from the bar; White's arrow is drawn on White's numbering."""
    sides = ({25: 1, 13: 14}, {22: 2, 13: 3, 8: 2, 6: 4, 4: 4})
    states = render_cases.state(sides=sides, phase=Phase.ROLL, turn=0)
    arrows = [(1, 8, 4), (1, 6, 4), (1, 25, 22), (0, 14, 13)]
    shapes = parse(board_svg(states, 0, Settings(), seat=1, arrows=arrows))
    numbers = {int(n.text): middle(n)[0] for n in of_kind(shapes, "number")}
    ghosts, lines, heads = (of_kind(shapes, kind) for kind in ("ghost", "arrow", "arrow-head"))
    assert len(ghosts) == len(lines) == len(heads) == len(arrows)
    checkers = {middle(c) for c in of_kind(shapes, "checker")}
    for (player, source, target), ghost, line, head in zip(arrows, ghosts, lines, heads, strict=True):
        tip = tuple(float(v) for v in head.get("points").split()[0].split(","))
        start = tuple(float(v) for v in line.get("d")[1:].split("Q")[0].split())
        assert math.dist(start, middle(ghost)) < 0.2
        assert min(math.dist(tip, c) for c in checkers) < 0.2  # it ends on a checker
        if source != BAR:
            assert middle(ghost) not in checkers  # it starts where none is any more
            assert middle(ghost)[0] == numbers[source if player == 1 else 25 - source]
        assert abs(tip[0] - numbers[target if player == 1 else 25 - target]) < 0.2
    tips = [head.get("points").split()[0] for head in heads]
    assert tips[0] != tips[1]  # two arrive on one point, each on its own checker


@pytest.mark.parametrize("arrow", [(2, 6, 4), (0, 4, 6), (0, 26, 6), (0, 6, -1), (0, 6, 6)])
def test_an_arrow_that_is_no_way_is_refused(arrow):
    states, settings = CASES["backgammon-roll"]
    with pytest.raises(BgEnvError, match="an arrow is"):
        board_svg(states, 0, settings, arrows=[arrow])


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("mover_is", [0, 1])
def test_position(variant, mover_is):
    start = VARIANTS[variant].start
    mover = list(start)
    highest = max(p for p in range(26) if start[p])
    mover[highest] -= 1
    mover[OFF] += 1
    shapes = parse(position_svg(mover, start, variant, mover_is=mover_is))
    assert counted(shapes) == ([mover, list(start)] if mover_is == 0 else [list(start), mover])
    check_places(shapes, mover_is)
    assert of_kind(shapes, "cube") == of_kind(shapes, "die") == []
    assert [shape.get("data-player") for shape in of_kind(shapes, "on-roll")] == [str(mover_is)]
    with pytest.raises(PositionError):
        position_svg(start, start[:-1], variant)


def test_numbers_may_follow_the_player_on_roll_while_the_seat_stays():
    states, settings = CASES["backgammon-roll"]
    seen = scene(states, 0, settings, seat=0, numbers=1)
    numbers = [shape.text for shape in draw(seen).shapes if shape.kind == "number"]
    plain = [shape.text for shape in draw(scene(states, 0, settings, seat=0)).shapes if shape.kind == "number"]
    assert [int(a) + int(b) for a, b in zip(numbers, plain, strict=True)] == [25] * 24
    with pytest.raises(BgEnvError, match="numbers is 0, 1 or None"):
        scene(states, 0, settings, numbers=5)


def test_it_is_a_pure_function_and_stands_alone():
    states, settings = CASES["acey_deucey-checker"]
    before = states.copy()
    first = board_svg(states, 0, settings)
    assert first == board_svg(states, 0, settings)
    assert (states == before).all()
    assert len(first) < 20_000
    assert not any(word in first for word in ("href", "url(", " id=", "<style", "@import"))
