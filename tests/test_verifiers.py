"""bg_env as tasks and rollouts of verifiers: scripted replies, good and bad, in place of a model."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from types import ModuleType, SimpleNamespace

import pytest

from bg_env import SettingsError

vf = pytest.importorskip("verifiers.v1", reason="needs the extra bg_env[verifiers]")

from bg_env.adapters.verifiers import GamesTaskset, RolloutConfig, RolloutEnv  # noqa: E402


@pytest.fixture(autouse=True)
def module():
    """A top-level module, as verifiers finds tasks."""
    made = ModuleType("bg_env_games")
    made.RolloutEnv, made.GamesTaskset = RolloutEnv, GamesTaskset
    made.__all__ = ["RolloutEnv", "GamesTaskset"]
    sys.modules["bg_env_games"] = made
    yield
    del sys.modules["bg_env_games"]


def environment(**options):
    taskset = {"id": "bg_env_games", "settings": "hypergammon", "opponent": "random", "legal": True, "number": 3, **options}
    return vf.load_environment(RolloutConfig(taskset=taskset, scale=3))


class Scripted:
    """The agents of a rollout, one of which replies by a function; the trace keeps what is recorded."""

    def __init__(self, reply, turns=10_000):
        self.player, self.reply, self.left = self, reply, turns
        self.rewards, self.metrics = {}, {}
        self.trace = SimpleNamespace(
            record_reward=lambda name, value, weight: self.rewards.update({name: value * weight}),
            record_metrics=self.metrics.update,
        )

    @contextlib.asynccontextmanager
    async def interaction(self, task):
        self.text = task.data.prompt
        yield self

    async def turn(self, text=None):
        self.text = text or self.text
        self.left -= 1
        return SimpleNamespace(terminated=self.left < 0, last_reply=self.reply(self.text))


def first_legal(text):
    line = [line for line in text.splitlines() if line.startswith("Legal (")][-1]
    return "Move: " + line.split(": ", 1)[1].rstrip(".").split("; ")[0]


def test_tasks_are_seeds_with_prompts():
    env = environment(first_seed=7)
    tasks = list(env.taskset)
    assert [task.data.seed for task in tasks] == [7, 8, 9]
    assert [task.data.name for task in tasks] == [f"hypergammon#{seed}" for seed in (7, 8, 9)]
    assert all("Reply: end with one line" in task.data.prompt for task in tasks)
    assert "You play hypergammon" in tasks[0].data.system_prompt
    assert [task.data.prompt for task in environment(first_seed=7).taskset] == [task.data.prompt for task in tasks]
    assert len(list(environment(number=None).taskset.take(5))) == 5


def test_a_rollout_of_good_replies_is_a_game():
    env = environment()
    for task in env.taskset:
        agents = Scripted(first_legal)
        asyncio.run(env.run(task, agents))
        points = 3 * agents.rewards["points"]
        assert points == round(points) != 0
        assert agents.metrics["won"] == (points > 0)
        assert agents.metrics["decisions"] > 3
        assert (agents.metrics["refused"], agents.metrics["forfeited"]) == (0, 0)


def test_bad_replies_are_refused_and_then_lose():
    env = environment(retries=1)
    (task, *_) = env.taskset
    agents = Scripted(lambda text: first_legal(text) if "Your reply was refused" in text else "I pass")
    asyncio.run(env.run(task, agents))
    assert agents.metrics["refused"] == agents.metrics["decisions"]
    assert agents.metrics["forfeited"] == 0
    agents = Scripted(lambda _: "I pass")
    asyncio.run(env.run(task, agents))
    assert agents.rewards["points"] <= -1
    assert agents.metrics == {"won": 0, "decisions": 0, "refused": 2, "forfeited": 1}


def test_a_rollout_that_is_cut_off_has_no_points():
    env = environment()
    (task, *_) = env.taskset
    agents = Scripted(first_legal, turns=2)
    asyncio.run(env.run(task, agents))
    assert agents.rewards == {"points": 0}
    assert agents.metrics["decisions"] == 2


def test_bad_options_are_refused_with_the_first_task():
    for options, part in (
        ({"opponent": "gpt"}, "no player is called 'gpt'"),
        ({"retries": -1}, "retries"),
        ({"settings": "go"}, "go"),
    ):
        with pytest.raises(SettingsError, match=part):
            next(iter(environment(**options).taskset))
