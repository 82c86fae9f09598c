"""Whatever text comes: a record whose faults can be told, or a NotationError; nothing else, and no hang."""

from __future__ import annotations

import json
import time
import tracemalloc
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bg_env.errors import NotationError, SettingsError
from bg_env.records import (
    parse_analysis,
    parse_records,
    read_analysis,
    read_jsonl,
    read_mat,
    read_records,
    read_sgf,
    replay,
    replay_files,
    replay_settings,
    stated_settings,
    targets,
    write_jsonl,
    write_mat,
    write_records,
    write_sgf,
)
from bg_env.records.decode import decoded
from bg_env.records.gnubg_text import read_gnubg_texts
from bg_env.records.mat import read_mats
from bg_env.records.sgf import read_sgfs

RECORDS = Path(__file__).parent / "data" / "records"
(BEAVERS,) = read_records(RECORDS / "money_beavers_noisy.sgf")
SHORT = replace(BEAVERS, games=tuple(sorted(BEAVERS.games, key=lambda game: len(game.entries))[k] for k in (8, 3)))
TEXTS = {
    "mat": (RECORDS / "match_std_7pt.mat").read_text()[:1500],
    "sgf": write_sgf(SHORT),
    "jsonl": write_jsonl([SHORT]),
}
TEXTS["txt"] = (RECORDS.parent / "dialects" / "export.txt").read_text()[:5_500]
SAVED = (RECORDS.parent / "dialects" / "saved_position.sgf").read_text()
READ = {"mat": read_mats, "sgf": read_sgfs, "jsonl": read_jsonl, "txt": read_gnubg_texts}
WRITE = {"mat": write_mat, "sgf": write_sgf, "jsonl": lambda record: write_jsonl([record])}


def judged(text, kind):
    """Read, replay and write again; only NotationError may come of it."""
    try:
        found = READ[kind](text)
        for record in found:
            faults = [str(fault) for fault in replay(record).faults]
            assert all("\n" not in fault for fault in faults)
            for other in ("mat", "sgf", "jsonl"):
                written(record, other)
    except NotationError as error:
        assert "\n" not in str(error)  # noqa: PT017 - the message is looked at, the kind is what `except` is for


def written(record, kind):
    try:
        text = WRITE[kind](record)
    except NotationError:
        return
    READ[kind](text)


@st.composite
def spoilt(draw, text, words):
    """The text with a few places overwritten, cut out, doubled or exchanged."""
    words = [*words.replace("\n", "|").split("|"), "\n", "\n\n Game 2\n A : 0   B : 0\n", "\t", "\x00", "\u2028"]
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(text)))
        length = draw(st.integers(0, 40))
        piece = draw(st.one_of(st.sampled_from(words), st.text(max_size=12), st.just(text[at : at + length] * 2)))
        text = text[:at] + piece + text[at + length :]
    return text


MAT_WORDS = """
| Game 2|Wins 4016 point|????|61: 24/18 13/12| Doubles => 4| Takes| Drops| Beavers => 8|  7)| 0 point match|Cannot Move
Losses 2 points|Resigns|66:|25/0|bar/off|(2)|*| A : 3   B : 4|; [Variation "HyperGammon"]|; [Jacoby "On"]|99999999999|:|8/5(4)
Concedes|61: ????| 5 point match|\t\t|Raccoons => 4|; [CubeLimit "1"]|Wins 7 points
"""
SGF_WORDS = """
(|)|;|[|]|\\|W[31hefe]|B[double]|;W[take]|;B[drop]|CV[4]|RE[W+3R]|RU[Crawford:CrawfordGame]|;W[66]|MI[length:7]|PB[x]
;PL[B]DI[61]|;CV[2]|;CP[b]|AW[a][a]|AB[y]|AE[a:y]|RE[B+2R]|MI[length:3][game:1]|;PL[W]
XGID[-b----E-C---eE---c-e----B-:0:0:1:31:0:0:0:0:10]|AE[a:y]|VARIANT[hypergammon]|GM[1]|;W[21yz]|(;GM[6];B[double])
"""
TXT_WORDS = """
* Ann doubles|* Bob accepts|* Bob rejects|* Ann cannot move|* Ann moves 13/5*|Move number 3:  Ann to play 62
Ann wins 3 points|The score (after 1 game) is: Ann 3, Bob 0 (match to 7 points), Crawford game
Position ID: 4HPwATDgc/ABMA|Match ID   : cIkJAAAAAAAA
     O: Bob|     X: Ann|Move number 4:  Ann doubles to 8|(after 0 games)|* |bar/20*(3)|Bob|*    24/23|:
"""
JSON_WORDS = """
{|}|[|]|,|:|null|true|-1|1e999|NaN|"|"start": "x", |"state": {}, |"cube": 4, |\\u0000|[1, "tie 33"], |[0, "throw 61"],
[0, "resign 2"], |"events": [[0, "31: 8/5 6/5"], [1, "double 2"], [0, "illegal 7"]]|"length": 3, |"variant": "hypergammon",
"""


@settings(max_examples=1_500, deadline=None)
@given(spoilt(TEXTS["mat"], MAT_WORDS))
def test_spoilt_mat(text):
    judged(text, "mat")


@settings(max_examples=2_500, deadline=None)
@given(spoilt(TEXTS["sgf"], SGF_WORDS))
def test_spoilt_sgf(text):
    judged(text, "sgf")


@settings(max_examples=600, deadline=None)
@given(spoilt(SAVED, SGF_WORDS))
def test_spoilt_saved_position(text):
    judged(text, "sgf")


@settings(max_examples=800, deadline=None)
@given(spoilt(TEXTS["txt"], TXT_WORDS))
def test_spoilt_text(text):
    judged(text, "txt")


@settings(max_examples=1_500, deadline=None)
@given(st.one_of(st.binary(max_size=80), st.text(max_size=40).map(lambda text: text.encode("utf-16", "surrogatepass"))))
def test_any_bytes(data):
    try:
        assert isinstance(decoded(data), str)
    except NotationError as error:
        assert "\n" not in str(error)  # noqa: PT017 - as above


@settings(max_examples=1_500, deadline=None)
@given(spoilt(TEXTS["jsonl"], JSON_WORDS))
def test_spoilt_jsonl(text):
    judged(text, "jsonl")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6), lambda x: st.lists(x, max_size=3)
)
LINE = json.loads(TEXTS["jsonl"].split("\n", 1)[0])


@settings(max_examples=1_500, deadline=None)
@given(st.dictionaries(st.sampled_from([*LINE, "start", "state", "cube", "headers", "loose"]), JSON, max_size=4))
def test_lines_with_other_values(change):
    judged(json.dumps({**LINE, **change}), "jsonl")


@settings(max_examples=2_500, deadline=None)
@given(st.one_of(st.text(max_size=200), st.text("(;)[]\\WB314 hefe:\n", max_size=60)))
def test_any_text(text):
    try:
        for record in parse_records(text):
            replay(record)
    except NotationError as error:
        assert "\n" not in str(error)  # noqa: PT017 - as above
    for kind in READ:
        judged(text, kind)


@pytest.mark.parametrize(
    "text",
    [
        "(" * 200_000,
        "(;" * 100_000,
        "(;A[" + "\\" * 100_001,
        "[" * 200_000,
        '{"format": "bg_env", "x": ' + "[" * 100_000,
        '{"format": ' + "9" * 100_000 + "}",
        " 7 point match\n Game 1\n" + ": " * 100_000,
        " 7 point match\n Game 1\n" + " " * 200_000 + ":",
        " 7 point match\n Game 1\n  1) " + "31: " * 50_000,
        "; [" + " " * 200_000 + "\n 7 point match\n Game 1\n",
        " 7 point match\n" + " Game 1\n" * 5_000,
        "Position ID:" + " " * 200_000,
    ],
    ids=range(12),
)
def test_nothing_hangs(text):
    begin = time.process_time()
    for kind in READ:
        judged(text, kind)
    assert time.process_time() - begin < 20


SIZE = 1_000_000
SGF = "(;GM[6]"
MAT = " 7 point match\n\n Game 1\n A : 0   B : 0\n"
TXT = "The score (after 0 games) is: Ann 0, Bob 0\n"
JSON = json.loads(write_jsonl([SHORT]).splitlines()[0]) | {"events": []}


def filled(piece):
    """The piece as often as it goes into a megabyte."""
    return piece * (SIZE // len(piece))


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        pytest.param("sgf", SGF + ")" + " " * SIZE, id="sgf-space"),
        pytest.param("sgf", SGF + "C[" + filled("\\a") + "])", id="sgf-escapes"),
        pytest.param("sgf", SGF + "C[" + " " * SIZE, id="sgf-open"),
        pytest.param("sgf", "(" + ";" * SIZE + ")", id="sgf-nodes"),
        pytest.param("sgf", filled("(;)"), id="sgf-games"),
        pytest.param("sgf", SGF + filled(";W[31]") + ")", id="sgf-rolls"),
        pytest.param("mat", filled("; [" + " " * 396 + "\n") + MAT, id="mat-headers"),
        pytest.param("mat", MAT + filled((":1" + " " * 18) * 19 + "x\n"), id="mat-names"),
        pytest.param("mat", MAT + filled("  1) " + "11: " * 98 + "\n"), id="mat-rolls"),
        pytest.param("mat", MAT + filled(" " * 399 + "\n"), id="mat-space"),
        pytest.param("txt", TXT + filled("* Ann doubles\n"), id="txt-doubles"),
        pytest.param("txt", filled(TXT), id="txt-games"),
        pytest.param("txt", TXT + filled("     O: " + " " * 390 + "\n"), id="txt-names"),
        pytest.param("jsonl", filled(json.dumps(JSON) + "\n"), id="jsonl-games"),
        pytest.param("jsonl", json.dumps(JSON | {"events": [[0, "31:" + " " * SIZE + "x"]]}), id="jsonl-event"),
    ],
)
def test_time_and_memory_are_linear_in_the_size(kind, text):
    begin = time.process_time()
    with suppress(NotationError):
        READ[kind](text)
    assert time.process_time() - begin < 15  # quadratic time takes minutes
    part = text[:100_000]
    tracemalloc.start()
    with suppress(NotationError):
        READ[kind](part)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 130 * len(part)


@pytest.mark.parametrize(
    ("read", "text", "words"),
    [
        (read_sgf, "(;C[" + "a" * 100_001 + "])", "more than 100,000 characters"),
        (read_sgf, "(;)" * 100_001, "more than 100,000 games"),
        (read_sgf, " " * (2**26 + 1), "at most 67,108,864"),
        (read_mat, MAT + "Game 1\n" * 100_000, "100,001 games"),
        (read_mat, " " * (2**26 + 1), "at most 67,108,864"),
        (read_jsonl, " " * 2**24 + "1", "line 1 has 16,777,217 characters"),
        (read_sgf, None, "not from None"),
        (read_mat, 5, "not from 5"),
        (read_jsonl, b"{}", "not from b'{}'"),
        (parse_records, None, "not from None"),
    ],
)
def test_bounds_that_no_record_meets(read, text, words):
    with pytest.raises(NotationError, match=words):
        read(text)


def test_a_value_of_many_characters_is_read():
    (found,) = parse_records("(;GM[6]PW[" + "a\\]" * 33_000 + "])")
    assert found.players[0] == "a]" * 33_000


def test_a_file_is_named_by_a_path():
    with pytest.raises(SettingsError, match="not by None"):
        read_records(None)
    with pytest.raises(SettingsError, match="not by 5"):
        write_records(5, [SHORT])


@pytest.mark.parametrize("path", ["a\0b.mat", "\ud800.mat", Path("a\0b.sgf")])
def test_no_file_has_such_a_name(path, tmp_path):
    for call in (read_records, read_analysis, lambda it: write_records(it, [SHORT])):
        with pytest.raises(SettingsError, match="no file can be named"):
            call(path)
    file = tmp_path / "a.jsonl"
    write_records(file, [SHORT])
    first, none, last = replay_files([path, None, file])
    assert "no file can be named" in first.error
    first.lines[0].encode()
    assert "not by None" in none.error
    assert last.error is None
    with pytest.raises(SettingsError, match="paths are a sequence"):
        replay_files("a.mat")


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: write_records("x.sgf", SHORT), r"records are a sequence of Record: write \[record\]"),
        (lambda: write_records("x.sgf", [None]), "not None"),
        (lambda: write_records("x.sgf", None), "not None"),
        (lambda: write_jsonl(SHORT), r"write \[record\]"),
        (lambda: write_mat([SHORT]), "a record is"),
        (lambda: write_sgf(None), "a record is"),
        (lambda: replay([SHORT]), "a record is"),
        (lambda: replay("x"), "a record is"),
        (lambda: replay_settings(3), "a record is"),
        (lambda: stated_settings(None), "a record is"),
        (lambda: targets([None]), "decisions are a sequence of Decision, but None is not"),
        (lambda: targets(None), "decisions are a sequence"),
        *[(lambda value=value: parse_analysis(value), "read from text") for value in (b"", None, 3, [])],
        *[(lambda value=value: parse_records(value), "read from text") for value in (b"", None, 3, [])],
    ],
)
def test_values_of_other_kinds(call, says, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(NotationError, match=says):
        call()
    assert not list(tmp_path.iterdir())
