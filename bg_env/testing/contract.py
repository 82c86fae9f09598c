"""Class of tests of the whole contract, to derive from, and the function that runs all of them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, ClassVar

import gymnasium
from gymnasium.utils.env_checker import check_env as gymnasium_check
from pettingzoo import AECEnv

from bg_env.envs.aec import AGENTS, BackgammonEnv
from bg_env.envs.single import SingleEnv
from bg_env.envs.vector import VectorEnv
from bg_env.errors import IllegalActionError, OrderError, SettingsError
from bg_env.game import Game
from bg_env.rules import Settings, Variant
from bg_env.testing.basics import GAMES, chooser, mask_of, need, same
from bg_env.testing.game import check_game
from bg_env.testing.one_agent import check_single, check_vector
from bg_env.testing.two_agents import check_aec, play_aec

__all__ = ["EnvContract", "check_env"]


class EnvContract:
    """Tests of the whole contract of the environments, for one variant and its options.

    Subclass it in a test module under a name that begins with `Test`, and set `variant` and `options`. To test environments
    of your own making, override `make_aec`, `make_single` and `make_vector`.

    Attributes:
        variant: the variant, or its name.
        options: further arguments of the constructors.
        episodes: episodes played in each test.
        seed: the seed of the first episode.
    """

    variant: ClassVar[str | Variant] = "backgammon"
    options: ClassVar[Mapping[str, Any]] = {}
    episodes: ClassVar[int] = GAMES
    seed: ClassVar[int] = 0

    def make_aec(self, **more: Any) -> Any:
        """The PettingZoo environment."""
        return BackgammonEnv(self.variant, **{**self.options, **more})

    def make_single(self, **more: Any) -> Any:
        """The Gymnasium environment of one game."""
        return SingleEnv(self.variant, **{**self.options, **more})

    def make_vector(self, **more: Any) -> Any:
        """The Gymnasium environment of many games."""
        return VectorEnv(variant=self.variant, **{**self.options, **more})

    def _settings(self) -> dict[str, Any]:
        return {name: self.options[name] for name in Settings.__dataclass_fields__ if name in self.options}

    def test_game(self) -> None:
        """See `check_game`."""
        check_game(self.variant, episodes=self.episodes, seed=self.seed, **self._settings())

    def test_aec(self) -> None:
        """See `check_aec`; and the first episode of a seed is the game of `Game.new` with that seed."""
        env = self.make_aec()
        check_aec(env, episodes=self.episodes, seed=self.seed)
        env.reset(seed=self.seed)
        game = Game.new(self.variant, seed=self.seed, **self._settings())
        need(same(env.game.states["points"], game.states["points"]), "the first episode of a seed is not Game.new's")
        need((env.game.dice, env.game.player) == (game.dice, game.player), "the first episode of a seed is not Game.new's")

    def test_pettingzoo(self) -> None:
        """PettingZoo's own test of the interface."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the module warns when it is imported, and of every Dict observation
            from pettingzoo import test

            test.api_test(self.make_aec(), num_cycles=200)  # type: ignore[attr-defined,no-untyped-call]

    def test_masks(self) -> None:
        """The mask is where the option `mask` puts it, and its place does not affect the games."""
        games = []
        for mask in ("both", "observation", "info"):
            env = self.make_aec(mask=mask)
            env.reset(seed=self.seed)
            views = [(env.observe("player_0"), env.last()[4])]
            need(isinstance(views[0][0], dict) == (mask != "info"), f"mask={mask!r} and the observation")
            need(("action_mask" in views[0][1]) == (mask != "observation"), f"mask={mask!r} and the info")
            games.append([turn[-1] for turn in play_aec(env, chooser(self.seed))])
        need(games[0] == games[1] == games[2], "the mask's place changes the game")

    def test_illegal_actions(self) -> None:
        """An illegal action loses three times the cube, or raises and changes nothing; what is not an action raises."""
        env = self.make_aec(illegal="raise")
        env.reset(seed=self.seed)
        before, n = _state(env), env.action_space("player_0").n
        illegal = sorted(set(range(n)) - set(env.game.legal_actions()))
        for action in (*illegal, -1, n, None, True, 1.0, "roll"):
            _refused(IllegalActionError, env.step, action)
        need(_state(env) == before, "a refused action has changed the state")
        env = self.make_aec(illegal="terminate", reward="points")
        env.reset(seed=self.seed)
        loser, stake = env.agent_selection, env.game.cube
        env.step(illegal[0])
        need(env.rewards[loser] == -3 * stake, f"an illegal action costs {-env.rewards[loser]}, not {3 * stake}")
        need(all(env.terminations.values()) and env.infos[loser]["illegal"] == 1, "an illegal action does not end the episode")

    def test_order_and_options(self) -> None:
        """A step before reset and unknown options are refused, and change nothing."""
        for env in (self.make_aec(), self.make_single()):
            _refused(OrderError, env.step, 0)
            env.reset(seed=self.seed)
            before = _state(env)
            _refused(SettingsError, env.reset, options={"no such option": 1})
            need(_state(env) == before, "a refused option has changed the state")
            env.reset(seed=self.seed, options={"options": 1})

    def test_gymnasium(self) -> None:
        """Gymnasium's own test of the interface."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it plays illegal actions and warns of bounds
            gymnasium_check(self.make_single(), skip_render_check=True)

    def test_single(self) -> None:
        """See `check_single`: against the random player, pubeval, and in self-play."""
        for opponent in ("random", "pubeval", None):
            check_single(self.make_single(opponent=opponent), episodes=self.episodes, seed=self.seed)

    def test_self_play_is_the_two_agent_game(self) -> None:
        """One agent on both seats gets the observations, rewards and infos of the two agents."""
        env, aec, choose = self.make_single(opponent=None), self.make_aec(), chooser(self.seed)
        (view, info), over = env.reset(seed=self.seed), False
        aec.reset(seed=self.seed)
        while not over:
            agent = aec.agent_selection
            need(info["player"] == AGENTS.index(agent), "another player is to act")
            need(same(view, aec.observe(agent)), "their observations differ")
            action = choose(mask_of(view, info))
            aec.step(action)
            view, reward, terminated, truncated, info = env.step(action)
            over = terminated or truncated
            need(reward == aec.rewards[agent], "the reward is not that of the player who has just acted")
        need(aec.terminations[agent] == terminated, "they end differently")

    def test_vector(self) -> None:
        """See `check_vector`: on one thread and on two, against the random player, pubeval, and in self-play."""
        for opponent in ("random", "pubeval", None):
            for threads in (1, 2):
                batch = self.make_vector(num_envs=6, num_threads=threads, opponent=opponent)
                check_vector(batch, partial(self.make_single, opponent=opponent), seed=self.seed)
                batch.close()


def _state(env: Any) -> bytes:
    """The state of an environment of one game, without the key of its dice: each `env.game` has another one."""
    states = env.game.states
    states["key"] = 0
    return bytes(states.tobytes())


def _refused(error: type[Exception], call: Callable[..., Any], *arguments: Any, **named: Any) -> None:
    try:
        call(*arguments, **named)
    except error:
        return
    need(ok=False, message=f"{call.__qualname__} with {arguments or named} was not refused with {error.__name__}")


def check_env(
    env: str | Variant | AECEnv[Any, Any, Any] | gymnasium.Env[Any, Any] = "backgammon",
    *,
    episodes: int = GAMES,
    seed: int = 0,
    **options: Any,
) -> None:
    """Check an environment, or all environments of a variant, against the contract.

    Args:
        env: a variant or its name: then all of `EnvContract` is run on it. Or an environment of bg_env, wrapped and
            subclassed ones included: a PettingZoo one (`check_aec`) or a single-agent one (`check_single`).
        episodes: episodes played in each check.
        seed: the seed of the first episode.
        **options: arguments of the constructors; only with a variant.

    Raises:
        AssertionError: a part of the contract does not hold; the message names it.
        SettingsError: `env` cannot be checked, or the options are refused.
    """
    if isinstance(env, (str, Variant)):
        names = {"variant": env, "options": options, "episodes": episodes, "seed": seed}
        tests = type("Contract", (EnvContract,), names)()
        for name in dir(tests):
            if name.startswith("test_"):
                getattr(tests, name)()
        return
    if options:
        msg = f"options ({', '.join(options)}) go with a variant: this environment is already made"
        raise SettingsError(msg)
    if isinstance(env, AECEnv):
        check_aec(env, episodes=episodes, seed=seed)
    elif isinstance(env, gymnasium.Env):
        check_single(env, episodes=episodes, seed=seed)
    else:
        msg = f"check_env takes a variant, its name, or a PettingZoo or Gymnasium environment of one game, not {env!r}"
        raise SettingsError(msg)
