"""Common parts of all tests: the cases in the shared folder, and the settings of hypothesis."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import solved_games
from hypothesis import HealthCheck, settings

# A kernel's first call may compile it: neither a deadline nor "too slow" says anything about the code then.
settings.register_profile("dev", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("ci", settings.get_profile("dev"), derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "dev")


def pytest_addoption(parser):
    parser.addoption("--golden", action="store_true", help="rewrite the golden files and generated tables instead of comparing")


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session):
    """Count skips as failures in runs in which every library should be there (`.ci/groups`)."""
    report = session.config.pluginmanager.get_plugin("terminalreporter")
    if os.environ.get("BG_ENV_NO_SKIPS") and report and report.stats.get("skipped"):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
        report.write_line("a test was skipped, and none may be here (BG_ENV_NO_SKIPS)", red=True)


SHARED = Path(__file__).resolve().parents[2] / "shared"


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of handed cases beside the repository; a test that needs it is skipped where it is absent."""
    if not (SHARED / "data").is_dir():
        pytest.skip(f"needs the handed cases in {SHARED}, which are not here")
    return SHARED


@pytest.fixture
def own_folder(tmp_path_factory, monkeypatch):
    """The current folder is an empty one of the test's own, so that it cannot meet a run or a file of the user."""
    folder = tmp_path_factory.mktemp("current")
    monkeypatch.chdir(folder)
    root = str(Path(__file__).resolve().parents[1])
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, (root, os.environ.get("PYTHONPATH")))))
    return folder


@pytest.fixture(scope="session")
def one():
    """The solution of the game of one checker a side (`solved_games`)."""
    return solved_games.solved(solved_games.ONE)


@pytest.fixture(scope="session")
def two():
    """The solution of the game of two checkers a side."""
    return solved_games.solved(solved_games.TWO)
