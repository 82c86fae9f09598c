"""verifiers: games of bg_env as tasks and rollouts for language models, to evaluate them and to train them by prime-rl.

verifiers finds tasks by the name of a top-level module. Such a module needs two lines (`examples/verifiers_game.py` is one):

    from bg_env.adapters.verifiers import RolloutEnv, GamesTaskset
    __all__ = ["RolloutEnv", "GamesTaskset"]

A task is a seed: the dice of a game, the seat of the model and the draws of the opponent. In a rollout the model replies to
prompts until the game ends. The reward is `points`, the points won or lost, divided by `scale`; the metrics are `won`,
`decisions`, `refused` (refused replies) and `forfeited` (whether the game ended by them).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from bg_env.errors import needs
from bg_env.rules import Settings
from bg_env.text import TextEnv

try:
    import verifiers.v1 as vf
except ImportError as error:
    msg = "bg_env.adapters.verifiers needs verifiers"
    raise needs(msg, "verifiers") from error

__all__ = ["GameData", "GameTask", "GamesConfig", "GamesTaskset", "RolloutConfig", "RolloutEnv"]


class GamesConfig(vf.TasksetConfig):  # type: ignore[misc] # typed, but in an environment of its own
    """The games.

    Attributes:
        settings: what is played, as `bg_env.Settings` prints it.
        opponent: a player's name, see `bg_env.PLAYERS`.
        first_seed: seed of the first task; the next ones count on.
        number: number of tasks; None for no end.
        retries: as of `bg_env.text.TextEnv`.
        legal: likewise.
        board: likewise.
    """

    settings: str = "backgammon"
    opponent: str = "pubeval"
    first_seed: int = 0
    number: int | None = None
    retries: int = 2
    legal: bool = False
    board: bool = True

    def env(self) -> TextEnv:
        """The environment of a game.

        Raises:
            SettingsError: a field is out of range.
        """
        return TextEnv(
            settings=Settings.parse(self.settings),
            opponent=self.opponent,
            retries=self.retries,
            legal=self.legal,
            board=self.board,
        )


class GameData(vf.TaskData):  # type: ignore[misc] # typed, but in an environment of its own
    """The data of a task; `seed` is that of its game."""

    seed: int


class GameTask(vf.Task[GameData, vf.State, vf.TaskConfig]):  # type: ignore[misc] # typed, but in an environment of its own
    """A game to play."""


class GamesTaskset(vf.Taskset[GameTask, GamesConfig]):  # type: ignore[misc] # typed, but in an environment of its own
    """The tasks: games with different seeds, each with its first prompt."""

    INFINITE = True

    @property
    def bounded(self) -> bool:
        """Whether there is an end to the tasks."""
        return self.config.number is not None or super().bounded

    def load(self) -> Iterator[GameTask]:
        """The tasks, one seed after another.

        Raises:
            SettingsError: a field of the configuration is out of range.
        """
        config = self.config
        env = config.env()
        seeds = itertools.count(config.first_seed)
        for seed in seeds if config.number is None else itertools.islice(seeds, config.number):
            text, _ = env.reset(seed=seed)
            data = GameData(name=f"{config.settings}#{seed}", prompt=text, system_prompt=env.instructions, seed=seed)
            yield GameTask(data, config.task)


class RolloutConfig(vf.EnvConfig):  # type: ignore[misc] # typed, but in an environment of its own
    """The rollouts: `player` is the model that plays, `scale` the points that are a reward of 1."""

    player: vf.AgentConfig = vf.AgentConfig(harness={"id": "null"})
    scale: float = 1.0


class RolloutEnv(vf.Env[RolloutConfig]):  # type: ignore[misc] # typed, but in an environment of its own
    """A rollout: a game, with the opponent inside the environment."""

    async def run(self, task: GameTask, agents: Any) -> None:
        """Play a game."""
        env = self.taskset.config.env()
        env.reset(seed=task.data.seed)
        decisions = refused = 0
        points, info, ended = 0.0, {"fault": ""}, False
        async with agents.player.interaction(task) as interaction:
            segment = await interaction.turn()
            while not segment.terminated:
                text, points, terminated, truncated, info = env.step(segment.last_reply)
                refused += bool(info["fault"])
                decisions += not info["fault"]
                ended = terminated or truncated
                if ended:
                    break
                segment = await interaction.turn(text)
        trace = interaction.trace
        trace.record_reward("points", points / self.config.scale if ended else 0.0, 1.0)
        trace.record_metrics(
            {
                "won": float(ended and points > 0),
                "decisions": float(decisions),
                "refused": float(refused),
                "forfeited": float(ended and bool(info["fault"])),
            }
        )
