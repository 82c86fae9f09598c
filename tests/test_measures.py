"""Error rates and adjusted points as learning curves."""

from __future__ import annotations

import numpy as np
import pytest

from bg_env import SettingsError, arena, measure_errors
from bg_env.adapters.measures import log_measures, measures_of
from bg_env.errors import UnknownOptionError

QUICK = {"positions": "hypergammon", "games": 20}


class Writer:
    def __init__(self):
        self.written = []

    def add_scalar(self, name, value, step):
        self.written.append((name, value, step))


def test_values_are_those_of_the_measures():
    found = measures_of("pubeval", against="random", **QUICK)
    settings = {"variant": "hypergammon", "cube": False}
    played = arena.play("pubeval", "random", games=20, luck="td", **settings)
    report = measure_errors("pubeval", "hypergammon")
    assert found["error_rate"] == report.error_rate
    assert found["error_rate/race"] == next(row.error_rate for row in report.by_position if row.name == "race")
    assert (found["points"], found["points_low"], found["points_high"]) == tuple(played.adjusted)
    plain = measures_of("pubeval", against="random", positions=None, games=20, luck=None)
    assert plain["points"] == arena.play("pubeval", "random", games=20, cube=False).points.value
    assert "error_rate" not in plain


def test_any_loop_writes_them():
    def first(seen):
        return np.argmax(seen["action_mask"], axis=1)

    writer = Writer()
    found = log_measures(writer, 7, first, against=None, positions="hypergammon")
    assert writer.written == [(f"bg_env/{name}", value, 7) for name, value in found.items()]
    assert ("bg_env/error_rate", found["error_rate"], 7) in writer.written


@pytest.mark.parametrize(
    ("writer", "step", "options"),
    [
        (None, 1, {}),
        (Writer(), -1, {}),
        (Writer(), 1, {"games": 3}),
        (Writer(), 1, {"positions": "none"}),
        (Writer(), 1, {"positions": None, "against": None}),
        (Writer(), 1, {"against": "nobody", "positions": None}),
    ],
)
def test_bad_options_write_nothing(writer, step, options):
    with pytest.raises(SettingsError):
        log_measures(writer, step, "random", **options)
    assert writer is None or writer.written == []


def test_the_callback_of_stable_baselines3(tmp_path):
    sb3 = pytest.importorskip("sb3_contrib")
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    from bg_env.adapters.sb3 import make_sb3
    from bg_env.adapters.sb3_callback import MeasureCallback

    env = make_sb3("bg_env/Hypergammon-v0", 4, seed=1, settings={"variant": "hypergammon", "cube": False})
    model = sb3.MaskablePPO(
        "MlpPolicy", env, n_steps=8, batch_size=32, n_epochs=1, policy_kwargs={"net_arch": [8]}, tensorboard_log=str(tmp_path)
    )
    callback = MeasureCallback(64, against="random", **QUICK)
    model.learn(160, callback=callback)
    steps = [step for step, _ in callback.measures]
    assert steps == [0, 64, 128, 160]
    (folder,) = tmp_path.iterdir()
    events = EventAccumulator(str(folder))
    events.Reload()
    shown = [(event.step, event.value) for event in events.Scalars("bg_env/error_rate")]
    assert shown == [(step, pytest.approx(found["error_rate"])) for step, found in callback.measures]
    assert [event.step for event in events.Scalars("bg_env/points")] == steps
    for wrong in ({"every": 0}, {"games": 5}, {"against": "nobody"}, {"positions": 3}, {"at_start": 2}):
        with pytest.raises(SettingsError):
            MeasureCallback(**wrong)
    with pytest.raises(UnknownOptionError, match="game"):
        MeasureCallback(game=20)
