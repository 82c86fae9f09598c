"""What Gymnasium wants to be told of episodes that ended in the step that began the next ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from bg_env.envs.batch_records import INFO
from bg_env.envs.games import Games
from bg_env.envs.options import INFO_KEYS

__all__ = ["finals_of"]


def finals_of(games: Games, done: npt.NDArray[np.bool_], episode: Any) -> dict[str, Any]:
    """`final_obs` and `final_info` with their masks, as Gymnasium's SyncVectorEnv has them in mode "same_step".

    Args:
        games: the batch.
        done: the games that ended in this step, bool (n,).
        episode: the `episode` of the infos, or None.

    Returns:
        final_obs: an object array (n,) of one game's observations, None where no episode ended; final_info: arrays (n,), 0
        where no episode ended; `_final_obs`, `_final_info` and the masks in final_info: `done`.
    """
    n, options, index, told = games.n, games.options, np.flatnonzero(done), games.final_info
    views = options.encoder.encode(games.finals[index], games.rules, seats=told[INFO, index])
    masks = np.ones((len(index), options.settings.actions), np.int8)
    final_obs = np.full(n, None, object)
    for k, i in enumerate(index.tolist()):
        final_obs[i] = {"observation": views[k], "action_mask": masks[k]} if options.in_observation else views[k]
    final_info: dict[str, Any] = {}
    for row, name in enumerate(INFO_KEYS):
        final_info[name] = np.zeros(n, np.int32)
        final_info[name][index] = told[row, index]
        final_info[f"_{name}"] = done
    if options.in_info:
        final_info["action_mask"] = np.zeros((n, masks.shape[1]), np.int8)
        final_info["action_mask"][index] = masks
        final_info["_action_mask"] = done
    if episode is not None:
        final_info["episode"], final_info["_episode"] = episode, done
    return {"final_obs": final_obs, "_final_obs": done, "final_info": final_info, "_final_info": done}
