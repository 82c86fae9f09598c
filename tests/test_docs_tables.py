"""The generated parts of README and docs agree with the code; `make golden` rewrites them."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import numpy as np
import pytest
from docs_pictures import FILM, IMAGES, PICTURES, SHOWN, TRAPS
from docs_tables import PARTS, ROOT, first_line, layers, parts_of, rewrite

import bg_env
from bg_env import backgammon_v0
from bg_env.batch.info import INFO_KEYS
from bg_env.reset_options import RESET_OPTIONS

PAGES = sorted(page for page in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")] if parts_of(page))
each = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())


@each
def test_golden_tables(page, request):
    if request.config.getoption("--golden"):
        rewrite(page)
    for name, text in parts_of(page):
        assert text == PARTS[name](), f"table {name!r} of {page.name} is not what the code says: run make golden"


@pytest.mark.parametrize("name", PICTURES)
def test_golden_pictures(name, request):
    path, picture = IMAGES / name, PICTURES[name]()
    if request.config.getoption("--golden"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(picture, encoding="utf-8", newline="\n")
    assert path.read_text(encoding="utf-8") == picture, f"docs/images/{name} is not what is drawn now: run make golden"


def test_every_picture_is_made_and_shown():
    there = {path.relative_to(IMAGES).as_posix() for path in IMAGES.rglob("*") if path.is_file()}
    assert there == {*PICTURES, FILM.name}
    pages = "".join(page.read_text(encoding="utf-8") for page in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
    assert not [name for name in PICTURES if f"images/{name})" not in pages]


def test_the_traps_cover_the_clauses_of_movement():
    told = re.findall(r"^- (R[4-7]\.\d)", words_of("docs/rules.md"), re.MULTILINE)
    results = {"R7.4", "R7.5"}  # what a game is worth
    assert {trap.clause for trap in TRAPS} == set(told) - results


def test_every_table_is_shown_somewhere():
    assert {name for page in PAGES for name, _ in parts_of(page)} == set(PARTS)


def test_every_encoder_has_a_table_of_its_features():
    assert set(bg_env.ENCODERS) <= set(PARTS)


def test_no_mark_is_broken():
    for page in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]:
        text = page.read_text(encoding="utf-8")
        assert text.count("<!-- made:") == text.count("<!-- end -->") == len(parts_of(page)), page


def test_every_module_is_in_a_layer():
    named = {name for names in layers() for name in names}
    there = {path.stem for path in (ROOT / "bg_env").glob("*.py")} | {
        path.parent.name for path in (ROOT / "bg_env").glob("*/__init__.py")
    }
    assert there - {"__init__"} <= named


def test_every_module_says_what_it_is():
    for path in (ROOT / "bg_env").rglob("*.py"):
        assert len(first_line(path)) > 8, path


def words_of(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_environment_md_names_all_reset_options_and_info_keys():
    text = words_of("docs/environment.md")
    for name in (*RESET_OPTIONS, *INFO_KEYS):
        assert f"| `{name}` |" in text, name


def test_environment_md_tells_the_right_numbers():
    text = words_of("docs/environment.md")
    for given, n in (({"cube": False}, 150), ({}, 154), ({"beavers": 1}, 155), ({"variant": "acey_deucey"}, 161)):
        env = backgammon_v0.env(**given)
        assert env.action_space("player_0").n == n
        assert f"`Discrete({n})`" in text
    shape = backgammon_v0.env().observation_space("player_0")["observation"].shape
    assert f"| Observation Shape | `{shape}` |" in text
    low, high = (getattr(backgammon_v0.env().observation_space("player_0")["observation"], end) for end in ("low", "high"))
    assert f"| Observation Values | [{np.min(low):g}, {np.max(high):g}] |" in text


def test_the_readme_shows_the_board_of_its_picture():
    text = words_of("README.md")
    assert SHOWN in text
    assert "docs/images/board.svg" in text
    assert str(bg_env.Game.from_xgid(SHOWN)).splitlines()[3] in text


def test_the_readme_says_that_the_two_nackgammons_differ():
    sentences = re.findall(r"[^.]*nackgammon_ballard[^.]*\.", words_of("README.md"))
    assert any("differ" in sentence or "not the same" in sentence for sentence in sentences)


def test_the_docs_name_only_what_there_is():
    """Every `bg_env.NAME` in the pages can be looked up."""
    for page in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]:
        for dotted in set(re.findall(r"`bg_env((?:\.\w+)+)(?:\(.*?\))?`", page.read_text(encoding="utf-8"))):
            thing = bg_env
            for name in dotted.strip(".").split("."):
                if not hasattr(thing, name):
                    __import__(f"{thing.__name__}.{name}")
                thing = getattr(thing, name)


def test_every_clause_that_is_cited_is_in_the_rules():
    clause = re.compile(r"\bR\d{1,2}\.\d\b")
    told = re.findall(r"^- (R\d+\.\d+) ", words_of("docs/rules.md"), re.MULTILINE)
    assert len(told) == len(set(told))
    for folder in ("bg_env", "tests", "examples"):
        for path in (ROOT / folder).rglob("*.py"):
            unknown = set(clause.findall(path.read_text(encoding="utf-8"))) - set(told)
            assert not unknown, f"{path} cites {sorted(unknown)}"


def test_a_part_that_is_not_what_the_code_says_is_found(tmp_path: Path):
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- made: ids -->\nold\n<!-- end -->\nafter\n", encoding="utf-8")
    assert parts_of(page) == [("ids", "old\n")]
    rewrite(page)
    assert parts_of(page) == [("ids", PARTS["ids"]())]
    assert page.read_text(encoding="utf-8").startswith("before\n")
    assert page.read_text(encoding="utf-8").endswith("after\n")
    assert inspect.cleandoc(PARTS["ids"]()).count("\n") == len(bg_env.registration.IDS) + 1
