"""The replay as one HTML file: what is in it, and how it behaves in a real browser."""

from __future__ import annotations

import json
import math
import re
import xml.etree.ElementTree as ET

import pytest
import render_browser
import render_cases

from bg_env.errors import BgEnvError
from bg_env.render.html import Candidate, Frame, replay_html
from bg_env.render.plot import _ticks
from bg_env.render.scene import scene
from bg_env.rules.settings import Settings
from bg_env.rules.state import Phase

SETTINGS = Settings(match_length=7)
NAMES = ("Ann </script><b>&\"'", "Bob @DATA@ <!--")


def frames() -> list[Frame]:
    """Two games, nine frames: dice, a move with arrows, cube turns, a new game, equities with a gap."""
    turn = {"phase": Phase.CHECKER, "dice": (3, 1), "left": (1, 1)}
    start = render_cases.state(games=1, turn=0, decider=0, **turn)
    played = render_cases.state(
        sides=({24: 2, 13: 5, 8: 2, 6: 4, 5: 2}, {24: 2, 13: 5, 8: 3, 6: 5}), games=1, turn=1, phase=Phase.ROLL_OR_DOUBLE
    )
    offered, taken, later = played.copy(), played.copy(), played.copy()
    offered["phase"], offered["chain"], offered["decider"] = Phase.TAKE_OR_DROP, 1, 0
    taken["phase"], taken["cube"], taken["owner"] = Phase.ROLL, 1, 0
    later["phase"], later["cube"], later["owner"], later["dice"], later["left"] = Phase.CHECKER, 1, 0, (6, 6), (2, 0)
    new = render_cases.state(games=2, phase=Phase.OPENING, score=(0, 2), winner=1, level=1, won=2)
    second = render_cases.state(games=2, turn=1, decider=1, score=(0, 2), **turn)
    over = render_cases.state(
        sides=({}, {6: 15}), games=2, turn=0, phase=Phase.OVER, winner=0, level=2, won=8, cube=2, owner=0, score=(8, 2)
    )
    plays = (Candidate("8/5 6/5", 0.21, played=True), Candidate("13/10 <i>6/5</i>", 0.1), Candidate("24/20", -0.05))
    return [
        Frame(start, text="Game 1", equity=0.1, candidates=plays),
        Frame(
            played,
            text="31: 8/5 6/5",
            player=0,
            arrows=[(0, 8, 5), (0, 6, 5)],
            equity=0.21,
            comment="a\n<good> play",
            dice=(3, 1),
            ids={"XGID": "XGID=-b----E-C", "GNU <b>": "4HPwATDgc/ABMA"},
        ),
        Frame(offered, text="doubles to 2", player=1, equity=None),
        Frame(taken, text="takes", player=0, equity=-0.3),
        Frame(later, text="", player=None, equity=-0.4),
        Frame(later, text="66: 24/18(2) 13/7(2)", player=1, equity=-0.4),
        Frame(new, text="Game 2", equity=0.0),
        Frame(second, text="", equity=-0.1),
        Frame(over, text="wins", player=0, equity=2.0),
    ]


@pytest.fixture(scope="module")
def page() -> str:
    return replay_html(frames(), SETTINGS, names=NAMES, record=("m <1>.mat", "; </script>\n 5 point match\n"))


def content(page: str) -> dict:
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)[1])


def picture(page: str, frame: int, seat: int) -> ET.Element:
    data = content(page)
    shapes = "".join(data["pieces"][n] for n in data["frames"][frame]["views"][seat])
    return ET.fromstring(f"<svg>{shapes}</svg>")  # noqa: S314 our own text


def checkers(root: ET.Element) -> list[list[int]]:
    sides = [[0] * 26, [0] * 26]
    for kind in ("checker", "count"):
        for shape in root.iter():
            if shape.get("class") == kind:
                side, point = sides[int(shape.get("data-player"))], int(shape.get("data-point"))
                side[point] = int(shape.text) if kind == "count" else side[point] + 1
    return sides


def test_every_frame_holds_its_board_from_both_seats(page):
    for k, frame in enumerate(frames()):
        for seat in (0, 1):
            root = picture(page, k, seat)
            assert checkers(root) == frame.states[0]["points"].tolist()
            assert sum(shape.get("class") == "arrow" for shape in root.iter()) == len(frame.arrows)
            names = [shape for shape in root.iter() if shape.get("class") == "name"]
            assert [name.text for name in names] == list(NAMES)
            below = max(names, key=lambda shape: float(shape.get("y")))
            assert below.get("data-player") == str(seat)
            numbers = [shape for shape in root.iter() if shape.get("class") == "number"]
            turn = frame.player if frame.arrows or frame.dice else scene(frame.states, 0, SETTINGS).on_roll
            lower_right = max(numbers, key=lambda shape: (float(shape.get("x")), float(shape.get("y"))))
            assert lower_right.text == ("1" if turn in (None, seat) else "24")


def test_pieces_are_stored_once(page):
    pieces = content(page)["pieces"]
    assert len(set(pieces)) == len(pieces)
    assert sum('class="page"' in piece for piece in pieces) == 1
    assert len(replay_html(frames() * 10, SETTINGS)) < 2.5 * len(replay_html(frames(), SETTINGS))


def test_names_and_texts_cannot_leave_their_place(page):
    data = content(page)
    assert tuple(data["names"]) == NAMES
    assert data["frames"][0]["candidates"][1][0] == "13/10 <i>6/5</i>"
    assert page.count("</script>") == 2
    assert "<!--" not in page
    assert "<b>&" not in re.sub(r'<script type="application/json".*?</script>', "", page, flags=re.DOTALL)
    assert "<title>Ann &lt;/script&gt;&lt;b&gt;&amp;&quot;&#x27; - Bob @DATA@ &lt;!--</title>" in page


def test_the_file_stands_alone(page):
    outside = re.findall(r'(?:src|href)="([^"]*)"|url\(([^)]*)\)|@import', page)
    assert outside == [("data:,", "")]
    assert "http" not in page.replace("http://www.w3.org/2000/svg", "").replace("http-equiv", "")
    assert re.search(r"<!DOCTYPE html>\n<html lang=\"en\">", page)


def test_refusals():
    frame = Frame(render_cases.state())
    with pytest.raises(BgEnvError, match="at least one frame"):
        replay_html([], SETTINGS)
    with pytest.raises(BgEnvError, match="seat is 0, 1"):
        replay_html([frame], SETTINGS, seat=3)
    with pytest.raises(BgEnvError, match="frame 1: player is 0, 1 or None, not 2"):
        replay_html([frame, Frame(render_cases.state(), player=2)], SETTINGS)
    with pytest.raises(BgEnvError, match="frame 0: the equity is a number, not nan"):
        replay_html([Frame(render_cases.state(), equity=math.nan)], SETTINGS)
    with pytest.raises(BgEnvError, match="a candidate's equity"):
        replay_html([Frame(render_cases.state(), candidates=[Candidate("8/5", math.inf)])], SETTINGS)
    with pytest.raises(BgEnvError, match="an arrow is"):
        replay_html([Frame(render_cases.state(), arrows=[(0, 1, 5)])], SETTINGS)


def test_plots_hold_the_pip_counts_and_the_equities(page):
    plots = [ET.fromstring(text) for text in re.findall(r"<svg xmlns.*?</svg>", page, re.DOTALL)]  # noqa: S314
    assert [plot[0].text for plot in plots] == ["Pip count", "Estimated equity"]
    all_pips = [scene(frame.states, 0, SETTINGS).pips for frame in frames()]
    top = max(map(max, all_pips))
    lines = [shape for shape in plots[0].iter() if shape.get("class") == "series"]
    assert len(lines) == 4  # two players, two games
    for player in (0, 1):
        ys = [
            float(xy.split(",")[1])
            for line in lines
            if line.get("data-series") == str(player)
            for xy in line.get("points").split()
        ]
        assert ys == pytest.approx([156 - 130 * pair[player] / top for pair in all_pips], abs=0.01)
    lines = [shape for shape in plots[1].iter() if shape.get("class") == "series"]
    assert [len(line.get("points").split()) for line in lines] == [2, 3, 3]  # a gap, and a new game
    without = replay_html([Frame(frame.states) for frame in frames()], SETTINGS)
    assert len(re.findall(r"<svg xmlns", without)) == 1


@pytest.mark.parametrize(("low", "high"), [(0, 375), (0, 1), (-0.1, 0.1), (-2, 2), (-3.3, 3.3), (0, 167)])
def test_ticks_are_few_and_round(low, high):
    ticks = _ticks(low, high)
    assert 3 <= len(ticks) <= 5
    assert all(low <= tick <= high for tick in ticks)
    assert 0 in ticks
    assert all(len(f"{tick:g}") <= 5 for tick in ticks)


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    browser = render_browser.Browser(tmp_path_factory.mktemp("profile"))
    yield browser
    browser.close()


@pytest.fixture
def opened(browser, page, tmp_path):
    file = tmp_path / "replay.html"
    file.write_text(page, encoding="utf-8")
    browser.open(file.as_uri())
    return browser


def where(browser) -> int:
    text = browser.evaluate("document.getElementById('where').textContent")
    assert browser.evaluate("location.hash") == "#" + text.split()[0]
    assert browser.evaluate("document.getElementById('slider').value") == str(int(text.split()[0]) - 1)
    return int(text.split()[0]) - 1


def shown(browser) -> list[list[int]]:
    return checkers(ET.fromstring(browser.evaluate("document.getElementById('board').outerHTML").replace("xmlns=", "x=")))  # noqa: S314


def test_keys_step_through_the_game_in_a_browser(opened):
    boards = [frame.states[0]["points"].tolist() for frame in frames()]
    last = len(boards) - 1
    steps = [
        ("", 0), ("ArrowLeft", 0), ("ArrowRight", 1), ("ArrowRight", 2), ("ArrowLeft", 1), ("End", last), ("ArrowRight", last),
        ("Home", 0), ("PageDown", 6), ("PageDown", last), ("PageUp", 6), ("PageUp", 0),
    ]  # fmt: skip
    for key, expected in steps:
        if key:
            opened.press(key)
        assert where(opened) == expected, key
        assert shown(opened) == boards[expected]
    assert opened.problems() == []


def test_words_cube_and_dice_in_a_browser(opened):
    def text(name):
        return opened.evaluate(f"document.getElementById('{name}').textContent")

    assert (text("text"), text("message")) == ("Game 1", f"{NAMES[0]} to play 3-1")
    assert opened.evaluate("document.querySelectorAll('#board .die').length") == 2
    rows = opened.evaluate(
        "[...document.querySelectorAll('#candidates tbody tr')].map((r) => [...r.cells].map((c) => c.textContent))"
    )
    assert rows == [
        ["1.", "8/5 6/5", "+0.210", ""],
        ["2.", "13/10 <i>6/5</i>", "+0.100", "\u22120.110"],
        ["3.", "24/20", "\u22120.050", "\u22120.260"],
    ]
    assert opened.evaluate("document.querySelector('#candidates tr.played').rowIndex") == 1
    opened.press("ArrowRight")
    assert text("text") == f"{NAMES[0]}: 31: 8/5 6/5"
    assert text("comment") == "a\n<good> play"
    assert text("equity") == f"estimated equity of {NAMES[0]} +0.210"
    assert opened.evaluate("document.querySelectorAll('#board .arrow').length") == 2
    assert opened.evaluate("document.getElementById('candidates').hidden")
    opened.press("ArrowRight")
    cube = "document.querySelector('#board .cube').dataset"
    assert [opened.evaluate(f"{cube}.{name}") for name in ("value", "lies", "player")] == ["2", "offered", "0"]
    assert text("equity") == ""
    opened.press("ArrowRight")
    assert [opened.evaluate(f"{cube}.{name}") for name in ("value", "lies", "player")] == ["2", "owned", "0"]
    opened.press("ArrowRight")
    dice = "[...document.querySelectorAll('#board .die')].map((d) => d.dataset.number + d.dataset.played)"
    assert opened.evaluate(dice) == ["6no", "6no", "6yes", "6yes"]
    assert opened.problems() == []


def test_the_move_list_in_a_browser(opened):
    rows = opened.evaluate(
        "[...document.querySelectorAll('#moves tbody tr')].map((r) => [...r.cells].map((c) => c.textContent))"
    )
    assert rows == [
        ["", "Game 1"],
        ["1", "31: 8/5 6/5", "doubles to 2"],
        ["2", "takes", "66: 24/18(2) 13/7(2)"],
        ["", "Game 2"],
        ["1", "wins", ""],
    ]
    opened.click("#moves [data-frame='3']")
    assert where(opened) == 3
    current = "document.querySelector('.entry.now').textContent"
    assert opened.evaluate(current) == "takes"
    opened.press("ArrowRight")
    assert opened.evaluate(current) == "takes"  # a frame without an entry belongs to the one before
    opened.press("ArrowRight")
    assert opened.evaluate(current) == "66: 24/18(2) 13/7(2)"
    assert opened.problems() == []


def test_a_move_is_shown_with_its_dice_and_numbers(page):
    for seat in (0, 1):
        root = picture(page, 1, seat)
        dice = [(shape.get("data-player"), shape.get("data-number")) for shape in root.iter() if shape.get("class") == "die"]
        assert dice == [("0", "3"), ("0", "1")]
        assert [shape.get("data-player") for shape in root.iter() if shape.get("class") == "on-roll"] == ["0"]
        (message,) = (shape.text for shape in root.iter() if shape.get("class") == "message")
        assert message == f"{NAMES[0]}: 31: 8/5 6/5"
    double = replay_html([Frame(render_cases.state(turn=0), text="66: 24/18(4)", player=1, dice=(6, 6))], SETTINGS)
    assert sum(shape.get("class") == "die" for shape in picture(double, 0, 0).iter()) == 4


def test_ids_are_copied_in_a_browser(opened):
    assert opened.evaluate("document.getElementById('ids').hidden")
    opened.press("ArrowRight")
    rows = "[...document.querySelectorAll('#ids .id')].map((r) => [r.children[0].textContent, r.children[1].value])"
    assert opened.evaluate(rows) == [["XGID", "XGID=-b----E-C"], ["GNU <b>", "4HPwATDgc/ABMA"]]
    opened.click("#ids .id:nth-child(2) .copy")
    assert opened.evaluate("document.activeElement.value + document.activeElement.selectionEnd") == "4HPwATDgc/ABMA14"
    opened.press("ArrowRight")  # the arrow belongs to the field
    assert where(opened) == 1
    assert opened.problems() == []


def test_buttons_for_games_speed_theme_and_record_in_a_browser(opened):
    for button, expected in (("#game-next", 6), ("#game-back", 0), ("#last", 8)):
        opened.click(button)
        assert where(opened) == expected
    off = "['first', 'back', 'next', 'last', 'game-next'].map((id) => document.getElementById(id).disabled)"
    assert opened.evaluate(off) == [False, False, True, True, True]
    opened.press("Home")
    assert opened.evaluate(off) == [True, True, False, False, False]
    opened.evaluate("document.getElementById('speed').value = '4'")
    opened.press(" ")
    opened.evaluate("new Promise((done) => setTimeout(done, 600))")
    assert where(opened) in (2, 3)
    opened.press(" ")
    colour = "getComputedStyle(document.body).backgroundColor + getComputedStyle(document.querySelector('#board .page')).fill"
    before = opened.evaluate(colour)
    opened.click("#theme")
    dark = opened.evaluate(colour)
    assert (before, dark) == ("rgb(247, 243, 234)" * 2, "rgb(29, 26, 23)" * 2)
    opened.press("d")
    assert opened.evaluate(colour) == before
    link = "document.getElementById('download')"
    assert opened.evaluate(f"[{link}.download, {link}.hidden, {link}.href.slice(0, 5)]") == ["m <1>.mat", False, "blob:"]
    assert opened.evaluate("data.record[1]") == "; </script>\n 5 point match\n"
    assert opened.problems() == []


def test_a_swipe_steps_in_a_browser(opened):
    swipe = """((dx) => { const board = document.getElementById('board');
      const at = (x) => [new Touch({identifier: 1, target: board, clientX: x, clientY: 90})];
      board.dispatchEvent(new TouchEvent('touchstart', {touches: at(200), changedTouches: at(200)}));
      board.dispatchEvent(new TouchEvent('touchend', {touches: [], changedTouches: at(200 + dx)})); })"""
    for dx, expected in ((-90, 1), (-90, 2), (90, 1), (20, 1)):
        opened.evaluate(f"{swipe}({dx})")
        assert where(opened) == expected
    assert opened.problems() == []


def test_a_page_of_one_game_has_no_buttons_for_games(browser, tmp_path):
    file = tmp_path / "one.html"
    file.write_text(replay_html(frames()[:4], SETTINGS), encoding="utf-8")
    browser.open(file.as_uri())
    shown = "['game-back', 'game-next', 'download', 'ids'].map((id) => document.getElementById(id).hidden)"
    assert browser.evaluate(shown) == [True, True, True, True]


def test_buttons_slider_and_plots_in_a_browser(opened):
    for button, expected in (("#next", 1), ("#last", 8), ("#back", 7), ("#first", 0)):
        opened.click(button)
        assert where(opened) == expected
    lower = "(a, b) => b.getAttribute('y') - a.getAttribute('y')"
    below = f"[...document.querySelectorAll('#board .name')].sort({lower})[0].dataset.player"
    assert opened.evaluate(below) == "0"
    opened.press("t")
    assert opened.evaluate(below) == "1"
    opened.click("#turn")
    assert opened.evaluate(below) == "0"
    opened.click("#slider", x=0.999)
    assert where(opened) == 8
    opened.click("#plots svg", x=46 / 736)
    assert where(opened) == 0
    opened.click("#plots svg:nth-of-type(2)", x=(46 + 680 * 3 / 8) / 736)
    assert where(opened) == 3
    cursors = opened.evaluate("[...document.querySelectorAll('.cursor')].map((c) => Number(c.getAttribute('x1')))")
    assert cursors == pytest.approx([46 + 680 * 3 / 8] * 2)
    assert opened.problems() == []


def test_it_plays_by_itself_in_a_browser(opened):
    opened.press("PageDown")
    opened.press("ArrowRight")
    assert where(opened) == 7
    opened.press(" ")
    assert opened.evaluate("document.getElementById('play').textContent") == "pause"
    opened.evaluate("new Promise((done) => setTimeout(done, 1200))")
    assert where(opened) == 8
    assert opened.evaluate("document.getElementById('play').textContent") == "play"
    opened.press(" ")
    assert where(opened) == 0
    opened.press(" ")
    assert opened.evaluate("document.getElementById('play').textContent") == "play"
    assert opened.problems() == []


def test_an_address_with_a_frame_and_a_narrow_screen(opened):
    address = opened.evaluate("location.href").split("#")[0]
    opened.open("about:blank")
    opened.open(f"{address}#4")
    assert where(opened) == 3
    opened.call("Emulation.setDeviceMetricsOverride", width=390, height=800, deviceScaleFactor=1, mobile=False)
    assert opened.evaluate("document.documentElement.scrollWidth") <= 390
    boxes = "[...document.querySelectorAll('button, select, .button')].filter((e) => e.offsetParent)"
    sizes = opened.evaluate(f"{boxes}.map((e) => e.getBoundingClientRect()).map((b) => Math.min(b.width, b.height))")
    assert len(sizes) > 15
    assert min(sizes) >= 44
    inside = f"{boxes}.filter((e) => e.scrollWidth > e.clientWidth || e.getBoundingClientRect().right > 390).map((e) => e.id)"
    assert opened.evaluate(inside) == []
    top = "((id) => document.getElementById(id).getBoundingClientRect().top)"
    order = opened.evaluate(f"['board', 'controls', 'now', 'moves', 'plots'].map({top})")
    assert order == sorted(order)
    across = "[...document.querySelectorAll('#moves tr:nth-child(2) td')].map((c) => c.getBoundingClientRect())"
    cells = opened.evaluate(f"{across}.map((b) => [b.left, b.width])")
    assert len(cells) == 3
    assert all(left >= 0 and width > 100 and left + width <= 390 for left, width in cells[1:])
    opened.call("Emulation.clearDeviceMetricsOverride")
    assert opened.problems() == []
