"""Films of games: animated pictures of few kilobytes, the one of README and docs among them."""

from __future__ import annotations

import io

import numpy as np
import pytest
import render_cases
from cli_run import run
from docs_pictures import FILM
from docs_tables import ROOT

from bg_env.errors import BgEnvError
from bg_env.render.drawing import draw
from bg_env.render.film import gif
from bg_env.render.scene import scene
from bg_env.rules import Settings

Image = pytest.importorskip("PIL.Image")
COMMAND = ["watch", "td", "pubeval", "--seed", "2", "--delay", "0"]


def drawings(n=3):
    states = [render_cases.state(turn=k % 2) for k in range(n)]
    return [draw(scene(one, 0, Settings(), seat=0), [(0, 8, 5)] * (k == 1)) for k, one in enumerate(states)]


def frames(data):
    film = Image.open(io.BytesIO(data if isinstance(data, bytes) else data.read_bytes()))
    for k in range(film.n_frames):
        film.seek(k)
        yield np.asarray(film.convert("RGB"), np.int16), film.info["duration"]


def test_a_film_shows_its_drawings_in_their_colours():
    shown = list(frames(gif(drawings(), width=300, milliseconds=500)))
    assert [stands for _, stands in shown] == [500, 500, 1500]
    assert {picture.shape for picture, _ in shown} == {(280, 300, 3)}
    blue = (np.abs(shown[1][0] - [0x1F, 0x6F, 0xB2]).max(axis=2) < 40).sum()
    assert blue > 100  # the arrow of the second drawing, which is in no other
    assert (np.abs(shown[0][0] - [0x1F, 0x6F, 0xB2]).max(axis=2) < 40).sum() < blue / 2
    assert Image.open(io.BytesIO(gif(iter(drawings(1))))).size == (480, 447)


def test_refusals():
    with pytest.raises(BgEnvError, match="at least one"):
        gif([])
    for milliseconds in (0, 70_000):
        with pytest.raises(BgEnvError, match="20 to 60,000"):
            gif(drawings(), milliseconds=milliseconds)


def test_the_film_of_the_docs_is_small_and_made_by_the_command_they_name(tmp_path):
    out = tmp_path / "game.gif"
    result = run(*COMMAND, "--gif", out)
    assert result.exit_code == 0, result.output
    assert result.output.endswith(f"written: {out}\n")
    made, kept = list(frames(out)), list(frames(FILM))
    assert len(made) == len(kept) > 20
    assert all(np.abs(a - b).mean() < 3 for (a, _), (b, _) in zip(made, kept, strict=True))
    assert FILM.stat().st_size < 400_000
    line = f"bg-env {' '.join(COMMAND)} --gif game.gif"
    for page, image in (("README.md", "docs/images/game.gif"), ("docs/index.md", "images/game.gif")):
        text = (ROOT / page).read_text(encoding="utf-8")
        assert image in text.partition("\n## ")[0]
        assert page != "README.md" or line in text
    assert line in (ROOT / "docs" / "records.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(("name", "says"), [("a.png", "ends with .gif"), ("none/a.gif", "existing folder")])
def test_a_film_that_cannot_be_written_is_refused_before_the_game(name, says, tmp_path):
    result = run(*COMMAND, "--gif", tmp_path / name)
    assert (result.exit_code, result.output.count("\n")) == (2, 1)
    assert says in result.output
    assert not list(tmp_path.iterdir())


def test_a_record_is_saved_only_in_formats_that_are_written(tmp_path):
    result = run(*COMMAND, "--save", tmp_path / "a.txt")
    assert (result.exit_code, "ends with .mat, .sgf or .jsonl" in result.output) == (2, True)
