"""k-medoids: clusters around members of their own, by exchange (PAM)."""

import numpy as np

from sfumato.typing import FloatArray, IntArray


def medoids(distance: FloatArray, k: int) -> IntArray:
    """Part items into k clusters, each around the member nearest to all of it.

    Starts with the item nearest to all, adds one at a time what helps most (BUILD), and then
    exchanges a medoid for another item as long as that helps (SWAP). Nothing is random, and of
    equal choices the first is taken.

    Reference: "Finding Groups in Data", 1990, doi:10.1002/9780470316801

    Args:
        distance: `distance[i, j]`: how far items are apart.
        k: How many clusters; at most as many as there are items.

    Returns:
        The cluster of each item; clusters are numbered in the order of their first items.

    Example:
        >>> distance = np.abs(np.subtract.outer([1.0, 2, 8, 9], [1.0, 2, 8, 9]))
        >>> medoids(distance, 2).tolist()
        [0, 0, 1, 1]
    """
    chosen: list[int] = []
    for _ in range(k):
        chosen.append(_best(distance, chosen))
    cost = _cost(distance, chosen)
    while (better := _exchange(distance, chosen, cost)) is not None:
        cost, chosen = better
    nearest = np.argmin(distance[:, chosen], axis=1)
    # A medoid is in its own cluster, even if another one is at no distance.
    nearest[chosen] = np.arange(k)
    _, first, inverse = np.unique(nearest, return_index=True, return_inverse=True)
    rank = np.argsort(np.argsort(first))
    numbers: IntArray = rank[inverse].astype(np.int64)
    return numbers


def _best(distance: FloatArray, chosen: list[int]) -> int:
    free = [i for i in range(len(distance)) if i not in chosen]
    return min(free, key=lambda i: (_cost(distance, [*chosen, i]), i))


def _cost(distance: FloatArray, chosen: list[int]) -> float:
    # Rounded, so that sums which differ only by their order are equal.
    return round(float(distance[:, chosen].min(axis=1).sum()), 12)


def _exchange(
    distance: FloatArray, chosen: list[int], cost: float
) -> tuple[float, list[int]] | None:
    """Find the exchange that helps most; None if none does."""
    free = [i for i in range(len(distance)) if i not in chosen]
    tried = [[*chosen[:at], i, *chosen[at + 1 :]] for at in range(len(chosen)) for i in free]
    best = min(tried, key=lambda each: _cost(distance, each), default=chosen)
    least = _cost(distance, best)
    return (least, best) if least < cost else None
