"""A mechanism that spends nothing: rows of a fixed table, with accounts as a true one has them."""

import math

import numpy as np
import pyarrow as pa

from sfumato.synthesis.mechanisms import FittedModel, Measurement, NoisyTables

POLICY = {
    "columns": {
        "id": "identifier",
        "sex": {"role": "quasi-identifier", "domain": ["f", "m"]},
        "age": {"role": "quasi-identifier", "domain": {"from": 18, "to": 79, "width": 10}},
        "ill": {"role": "sensitive", "domain": ["flu", "gout", "cold"]},
    },
    "person": "id",
    "models": [{"model": "k-anonymity", "k": 5}],
}


def people(n=400, seed=1):
    """Return a table of people, one row each."""
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 80, n)
    ill = np.where(age > 50, rng.choice(["flu", "gout"], n), rng.choice(["flu", "cold"], n))
    sexes = rng.choice(["f", "m"], n).tolist()
    columns = {"id": np.arange(n), "sex": sexes, "age": age, "ill": ill.tolist()}
    return pa.table(columns)


class DrawsCells:
    """A model that draws cells evenly."""

    def __init__(self, sizes, total):
        self.sizes, self.total = sizes, total


def fit_nothing(counts, budget, *, mechanism="mst", contributions=1, report=None):
    """Return a model of even cells, whose accounts add up to the budget."""
    part = budget.spent / len(counts.names)
    scale = contributions / part if budget.pure else contributions / math.sqrt(2 * part)
    measured = tuple(Measurement((name,), scale, part) for name in counts.names)
    total = int(counts.rows.sum())

    class Even(FittedModel):
        def draw(self, rows):
            rng = np.random.default_rng(5)
            return np.stack([rng.integers(0, size - 1, rows) for size in self.sizes])

    model = DrawsCells(counts.sizes, total)
    return Even(model, counts.names, counts.sizes, measured, 0.0, "OpenDP 0.0")


def add_noise(counts, cliques, budget, *, contributions=1):
    """Return noisy counts as OpenDP draws them, with accounts that add up: for tests alone."""
    rng = np.random.default_rng()
    part = budget.spent / len(cliques)
    scale = contributions / part if budget.pure else contributions / math.sqrt(2 * part)

    def noisy(exact):
        if not budget.pure:
            return exact + np.rint(rng.normal(0, scale, exact.shape)).astype(np.int64)
        ends = [rng.geometric(1 - math.exp(-1 / scale), exact.shape) for _ in range(2)]
        return exact + ends[0] - ends[1]

    exact = [counts.marginal(clique).astype(np.int64) for clique in cliques]
    measured = tuple(Measurement(tuple(clique), scale, part) for clique in cliques)
    return NoisyTables(measured, tuple(map(noisy, exact)), "OpenDP 0.0")
