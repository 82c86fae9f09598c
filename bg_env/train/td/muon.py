"""The optimizer Muon: steps of equal length in all directions of a matrix's momentum (Jordan et al. 2024).

The momentum of a matrix is replaced by the nearest matrix with orthogonal rows or columns, which five Newton-Schulz steps
approximate. `torch.optim.Muon` computes it in bfloat16, which takes some seventy times as long on processors without
instructions for it; here it is computed in float32.
"""

from __future__ import annotations

from typing import Any, Final

import torch

__all__ = ["Muon", "orthogonal"]

_STEPS: Final = 5
_CUBIC: Final = (3.4445, -4.7750, 2.0315)
"""Coefficients of x, x^3 and x^5: they bring singular values of 0.01 to 1 to between 0.6 and 1.3 in five steps."""
_RMS: Final = 0.2
"""Root mean square of a step in units of the learning rate, which is that of Adam's usual step."""


def orthogonal(matrix: torch.Tensor) -> torch.Tensor:
    """`matrix` (n, m) with its singular values changed to about 1, except those close to 0."""
    wide = matrix.T if matrix.shape[0] > matrix.shape[1] else matrix
    x: torch.Tensor = wide / (wide.norm() + 1e-7)
    a, b, c = _CUBIC
    for _ in range(_STEPS):
        square = x @ x.T
        x = torch.addmm(x, torch.addmm(square, square, square, beta=b, alpha=c), x, beta=a)
    return x if wide is matrix else x.T


class Muon(torch.optim.Optimizer):
    """Muon with Nesterov's momentum, for matrices only.

    Args:
        params: matrices, or groups of matrices.
        lr: learning rate; a step is about as long as Adam's with the same learning rate.
        momentum: decay of the momentum, 0 to 1.
    """

    def __init__(self, params: Any, lr: float, momentum: float = 0.95) -> None:
        super().__init__(params, {"lr": lr, "momentum": momentum})

    @torch.no_grad()
    def step(self) -> None:  # type: ignore[override]
        """Make one step along the gradients."""
        for group in self.param_groups:
            for matrix in group["params"]:
                state = self.state[matrix]
                if not state:
                    state["momentum"] = torch.zeros_like(matrix)
                kept = state["momentum"].lerp_(matrix.grad, 1 - group["momentum"])
                step = orthogonal(matrix.grad.lerp(kept, group["momentum"]))
                matrix.sub_(step, alpha=group["lr"] * _RMS * max(matrix.shape) ** 0.5)
