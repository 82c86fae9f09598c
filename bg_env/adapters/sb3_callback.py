"""A callback of Stable-Baselines3 that measures the model as it learns."""

from __future__ import annotations

from typing import Any

from bg_env.adapters.measures import PREFIX, check_options, measures_of
from bg_env.checks import checked_flag, checked_whole
from bg_env.errors import needs

try:
    from stable_baselines3.common.callbacks import BaseCallback
except ImportError as error:
    msg = "bg_env.adapters.sb3_callback needs Stable-Baselines3"
    raise needs(msg, "sb3") from error

__all__ = ["MeasureCallback"]


class MeasureCallback(BaseCallback):
    """Measures the model from time to time, and records error rate and adjusted points with the values of the algorithm.

    They are in event files of TensorBoard where the model has a `tensorboard_log`, under "bg_env/". The model plays its most
    probable actions.

    Args:
        every: steps of training from one measurement to the next, at least; it takes place at the end of a rollout.
        at_start: whether to measure before the training as well. Its end is always measured.
        verbose: as of Stable-Baselines3.
        **options: as of `bg_env.adapters.measures.measures_of`.

    Attributes:
        measures: the steps and the values of each measurement.

    Raises:
        SettingsError: an argument is refused.
    """

    def __init__(self, every: int = 50_000, *, at_start: bool = True, verbose: int = 0, **options: Any) -> None:
        super().__init__(verbose)
        self.every = checked_whole("every", every, 1)
        self.at_start = checked_flag("at_start", at_start)
        check_options(options)
        self.options = options
        self.measures: list[tuple[int, dict[str, float]]] = []
        self._last = 0

    def _measure(self) -> None:
        found = measures_of(self.model, **self.options)
        self._last = self.num_timesteps
        self.measures.append((self.num_timesteps, found))
        for name, value in found.items():
            self.logger.record(f"{PREFIX}/{name}", value)

    def _on_training_start(self) -> None:
        self._last = self.num_timesteps
        if self.at_start:
            self._measure()
            self.logger.dump(self.num_timesteps)

    def _on_step(self) -> bool:
        return True

    def _on_rollout_end(self) -> None:
        if self.num_timesteps >= self._last + self.every:
            self._measure()  # the algorithm writes the record after its rollout

    def _on_training_end(self) -> None:
        if self.num_timesteps > self._last or not self.measures:
            self._measure()
        self.logger.dump(self.num_timesteps)
