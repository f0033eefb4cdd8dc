"""The mean of the weights of several trainings: a "model soup" (Wortsman et al. 2022).

Trainings that start from the same published weights end in the same valley, so a point between
them is as good as either where both are right and better where they go wrong differently.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def mean_weights(
    models: Sequence[Mapping[str, Array]], shares: Sequence[float]
) -> dict[str, Array]:
    """The weighted mean of every tensor, summed in float64, as float32.

    Args:
        models: The tensors of each model, by name.
        shares: What each counts; together 1.

    Raises:
        ValueError: The shares are not together 1, or the models have not the same tensors.
    """
    if abs(sum(shares) - 1) > 1e-9:
        raise ValueError(f"the shares are together {sum(shares)}, not 1")
    names = {frozenset(model) for model in models}
    if len(names) != 1 or len(models) != len(shares):
        raise ValueError("models of the same tensors are needed, and a share for each")
    made = {}
    for name in models[0]:
        rows = [model[name].astype(np.float64) for model in models]
        total = sum(share * row for share, row in zip(shares, rows, strict=True))
        made[name] = np.asarray(total, np.float32)
    return made
