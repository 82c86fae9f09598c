"""What Gymnasium wants to be told of episodes that ended in the step that began the next ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from bg_env.batch.batch import Games
from bg_env.options import INFO_KEYS

__all__ = ["finals_of"]

_ONE = np.ones((), np.int8)


def finals_of(games: Games, done: npt.NDArray[np.bool_], episode: Any) -> dict[str, Any]:
    """`final_obs` and `final_info` with their masks, as Gymnasium's SyncVectorEnv has them in mode "same_step".

    Args:
        games: the batch.
        done: the games that ended in this step, bool (n,).
        episode: the `episode` of the infos, or None.

    Returns:
        final_obs: an object array (n,) of one game's observations, None where no episode ended; final_info: arrays (n,), 0
        where no episode ended (its masks of actions, which are ones, are read only); `_final_obs`, `_final_info` and the masks
        in final_info: `done`.
    """
    n, options, index, told = games.n, games.options, np.flatnonzero(done), games.final_info
    views = games.final_observations(done).reshape(-1, *options.encoder.shape)
    masks = np.ones((len(views), options.settings.actions), np.int8)
    final_obs = np.full(n, None, object)
    if options.in_observation:
        rows = zip(index.tolist(), views, masks, strict=True)
        for i, view, mask in rows:
            final_obs[i] = {"observation": view, "action_mask": mask}
    else:
        for i, view in zip(index.tolist(), views, strict=True):
            final_obs[i] = view
    final_info: dict[str, Any] = {}
    for row, name in enumerate(INFO_KEYS):
        column = np.zeros(n, np.int32)
        column[index] = told[row, index]
        final_info[name], final_info[f"_{name}"] = column, done
    if options.in_info:
        final_info["action_mask"] = np.broadcast_to(_ONE, (n, masks.shape[1]))
        final_info["_action_mask"] = done
    if episode is not None:
        final_info["episode"], final_info["_episode"] = episode, done
    return {"final_obs": final_obs, "_final_obs": done, "final_info": final_info, "_final_info": done}
