"""The benchmark: it measures the same work on both sides, names who is missing, and writes what it found."""

from __future__ import annotations

import json
import sys

import pytest
from click.testing import CliRunner

from benchmarks import __main__ as program
from benchmarks import own
from benchmarks import processes as peers
from benchmarks.plan import RATIOS, groups
from benchmarks.report import table, write_report


@pytest.fixture
def alone(monkeypatch):
    """No peer is there, and none is started."""

    def missing(key, python=None):
        msg = f"{key}: not here"
        raise peers.PeerMissingError(msg)

    monkeypatch.setattr(program, "Peer", missing)


def test_everything_of_our_own_is_measured(alone):
    found = program.measure(rounds=2, seconds=0.002, quiet=True)
    assert found["missing"] == [f"{key}: not here" for key in peers.PEERS]
    assert {row["group"] for row in found["cases"].values()} == set(groups({}, own.random_states(8), None))
    for row in found["cases"].values():
        assert len(row["rates"]) == 2
        assert all(rate[row["count"]] >= 0 for rate in row["rates"])
    labels = [row["label"] for row in found["ratios"]]
    assert "Two threads / one, batch of 4,096, by the clock" in labels
    assert not any("OpenSpiel" in label for label in labels)
    json.dumps(found)


def test_the_states_are_of_every_part_of_a_game():
    states = own.random_states(2000)
    assert len(states) == 2000
    assert set(own._part(states).tolist()) == {0, 1, 2}
    assert (states["left"].sum(1) >= 2).all()


def test_gnubg_nn_does_the_same_work(tmp_path):
    pytest.importorskip("gnubg_nn", reason="needs gnubg-nn")
    states = own.random_states(300)
    peers.write_positions(states, tmp_path / "positions.json")
    peer = peers.Peer("gnubg-nn")
    try:
        theirs = peer.ask("plays", 0.01, positions=str(tmp_path / "positions.json"))
        ours = own.whole_plays(0.01, states)
        assert theirs["plays"] / theirs["rolls"] == ours["plays"] / ours["rolls"]
    finally:
        peer.close()


def test_openspiel_plays_whole_games():
    pytest.importorskip("pyspiel", reason="needs open-spiel")
    peer = peers.Peer("openspiel")
    try:
        for case in ("bare", "observation", "observation and mask"):
            counted = peer.ask(case, 0.05)
            assert 60 < counted["steps"] / counted["games"] < 200
            assert counted["seconds"] >= 0.05
    finally:
        peer.close()


def test_a_peer_that_is_not_there_is_named(tmp_path, monkeypatch):
    with pytest.raises(peers.PeerMissingError, match=r"^gnubg-nn: .*nowhere"):
        peers.Peer("gnubg-nn", str(tmp_path / "nowhere"))
    script = tmp_path / "openspiel.py"
    script.write_text("import a_library_that_is_absent\n")
    monkeypatch.setattr(peers, "FOLDER", tmp_path)
    with pytest.raises(peers.PeerMissingError, match=r"openspiel: ModuleNotFoundError: .*a_library_that_is_absent"):
        peers.Peer("openspiel")
    with pytest.raises(
        peers.PeerMissingError, match=r"its loop, pgx_cpu\.py in benchmarks/peers of the repository, is missing"
    ):
        peers.Peer("pgx")


def invented():
    """Figures of two rounds, as `measure` tells them."""
    rates = {"batch": (1000.0, 3000.0), "openspiel both": (10.0, 20.0), "size 64 x 1": (5e6, 5e6), "part contact": (4e6, 4e6)}
    cases = {
        key: {"label": f"loop {key}", "group": "all", "count": "games", "rates": [{"games": rate} for rate in pair]}
        for key, pair in rates.items()
    }
    ratio = {
        "label": RATIOS[0].label,
        "ours": 2000.0,
        "theirs": 15.0,
        "count": "games",
        "ratio": 125.0,
        "range": [100.0, 150.0],
    }
    machine = program._machine()
    about = {"date": "2026-11-30", "rounds": 2, "seconds": 1.0, "machine": machine, "peers": {"OpenSpiel": "2.0"}}
    return {**about, "missing": ["pgx: not here"], "ratios": [{**ratio, "wanted": 50}], "cases": cases}


def test_the_report(tmp_path):
    pytest.importorskip("matplotlib", reason="needs matplotlib")
    page, results, picture = write_report(invented(), tmp_path)
    text = page.read_text()
    assert "| 2,000 | 15 | games/s | 125x (100-150) | 50x |" in text
    assert "| loop openspiel both | 15 | games/s | 66,666,667 |" in text
    assert "pgx: not here" in text
    assert "OpenSpiel 2.0" in text
    assert table(invented()) in text
    assert json.loads(results.read_text())["rounds"] == 2
    assert picture.read_text().startswith("<?xml")
    before = picture.read_bytes()
    write_report(invented(), tmp_path)
    assert picture.read_bytes() == before  # the same figures make the same picture


def test_the_command(alone, tmp_path):
    run = CliRunner().invoke(
        program.bench, ["--rounds", "1", "--seconds", "0.01", "--quiet", "--only", "whole plays", "--out", str(tmp_path)]
    )
    assert run.exit_code == 0, run.output
    assert "distinct whole plays" in run.output
    assert "missing: openspiel: not here" in run.output
    assert (tmp_path / "benchmarks.md").exists()
    run = CliRunner().invoke(program.bench, ["--python", f"nobody={sys.executable}", "--only", "whole plays"])
    assert run.exit_code == 2
    run = CliRunner().invoke(program.bench, ["--only", "no such group", "--seconds", "0.01"])
    assert run.exit_code == 2
    assert "no such group" in run.output
