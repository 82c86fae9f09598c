"""An episode that ends before the learner can act is told of by the next step, in one game and in a batch alike."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
import pytest

import bg_env
from bg_env.envs.vector import VectorEnv

# Player 1 is on roll with one checker left; player 0 has none off: it has lost a gammon before it can act.
LOST = "XGID=-A----------------------o-:0:0:1:61:0:0:0:0:6"


@pytest.mark.parametrize("opponent", ["random", "pubeval"])
@pytest.mark.parametrize("mode", ["next_step", "same_step", "disabled"])
def test_a_batch_tells_the_loss_like_one_game(mode: str, opponent: str) -> None:
    batch = VectorEnv(3, opponent=opponent, seat=0, autoreset_mode=mode)
    one = gym.make("bg_env/Backgammon-v0", opponent=opponent, seat=0).unwrapped
    observation, info = one.reset(seed=4, options={"position": LOST})
    observations, infos = batch.reset(seed=4, options={"position": LOST})
    assert observation["action_mask"].all()
    assert observations["action_mask"].all()
    np.testing.assert_array_equal(observations["observation"][0], observation["observation"])
    assert infos["player"].tolist() == [-1] * 3
    assert info["player"] == -1
    _, reward, terminated, truncated, info = one.step(0)
    assert (reward, terminated, truncated, info["winner"], info["points"]) == (-2.0, True, False, 1, 2)
    observations, rewards, ended, cut, infos = batch.step(np.zeros(3, np.int64))
    assert rewards.tolist() == [-2.0] * 3
    assert ended.all()
    assert not cut.any()
    assert infos["episode"]["r"].tolist() == [-2.0] * 3
    if mode == "same_step":
        assert infos["final_info"]["winner"].tolist() == [1] * 3
        assert (infos["player"] == 0).all()
    else:
        assert infos["winner"].tolist() == [1] * 3


def test_in_a_match_points_lost_before_the_first_decision_are_in_the_first_reward() -> None:
    lost = "XGID=-A----------------------o-:0:0:1:61:0:0:0:5:6"
    one = gym.make("bg_env/Backgammon-v0", match_length=5, seat=0).unwrapped
    batch = VectorEnv(2, match_length=5, seat=0)
    observation, _ = one.reset(seed=1, options={"position": lost})
    observations, _ = batch.reset(seed=1, options={"position": lost})
    assert one.game.score == (0, 2)
    np.testing.assert_array_equal(observations["action_mask"][0], observation["action_mask"])
    action = bg_env.sample(observation["action_mask"], np.random.default_rng(0))
    assert one.step(action)[1] == -2.0
    assert batch.step(np.full(2, action))[1][0] == -2.0
