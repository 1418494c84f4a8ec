"""Synthetic rows of Adult beside those of OpenDP's own code, with the same budget and cells.

    python -m benchmarks.synthetic     # three minutes

It needs the extra synthetic, and the version of polars that OpenDP asks for (1.36.1 for 0.16).

Both draw nine columns by MST in one process, one after the other, and all two-way tables of what
they draw are compared with those of the table. It is run by hand: noise has no seed.
"""

import sys
from itertools import combinations
from time import process_time
from typing import Any

import numpy as np
import pyarrow as pa

import sfumato as sf
from benchmarks.workloads import adult
from sfumato.policy import Policy
from sfumato.synthesis.budget import PrivacyBudget
from sfumato.synthesis.domain import PublicDomain
from sfumato.synthesis.mechanisms import _hair_below
from sfumato.synthesis.opendp import libraries

EPSILON, DELTA = 1.0, 1e-9
_SECRET = ("occupation", "salary-class")


def policy_of(table: pa.Table) -> Policy:
    """Return a policy with a domain for each column; the values of Adult are in its codebook."""
    columns: dict[str, Any] = {}
    for name in table.column_names:
        values = sorted({value for value in table[name].to_pylist() if value is not None})
        domain = {"from": 17, "to": 90, "width": 5} if name == "age" else values
        role = "sensitive" if name in _SECRET else "quasi-identifier"
        columns[name] = {"role": role, "domain": domain}
    return Policy(
        columns=columns,
        models=[{"model": "k-anonymity", "k": 5}],
        person={"rows": "each row of the census extract is a person"},
    )


def cells_of(table: pa.Table, domain: PublicDomain) -> np.ndarray:
    """Return the cells of a table, by columns and rows."""
    found = []
    for each in domain.columns:
        values = table[each.name].to_pylist()
        cell = {value: each.cell_of(value) for value in set(values)}
        found.append([cell[value] for value in values])
    return np.array(found, dtype=np.int64)


def off(truth: np.ndarray, drawn: np.ndarray, domain: PublicDomain) -> float:
    """Return the mean total variation of all two-way tables."""
    errors = []
    for one, other in combinations(range(len(domain.columns)), 2):
        shape = domain.sizes[one], domain.sizes[other]
        both = []
        for cells in (truth, drawn):
            flat = np.ravel_multi_index((cells[one], cells[other]), shape)
            both.append(np.bincount(flat, minlength=shape[0] * shape[1]) / cells.shape[1])
        errors.append(float(np.abs(both[0] - both[1]).sum() / 2))
    return float(np.mean(errors))


def theirs(cells: np.ndarray, domain: PublicDomain, rho: float) -> np.ndarray:
    """Draw cells by OpenDP's own code alone, from rows in a data frame."""
    import polars as pl

    lib = libraries()
    dp = lib.dp
    mst = lib.algorithms.MST()
    # Its own rounding refuses eight parts of a budget, which nine columns have.
    for function in (type(mst).make_marginals, lib.algorithms.make_contingency_table):
        function.__globals__["prior"] = _hair_below
    frame = pl.LazyFrame({name: cells[at] for at, name in enumerate(domain.names)})
    series = [dp.series_domain(name, dp.atom_domain(T="i64")) for name in domain.names]
    keys = {n: list(range(size)) for n, size in zip(domain.names, domain.sizes, strict=True)}
    made, *_ = lib.algorithms.make_contingency_table(
        dp.lazyframe_domain(series),
        dp.symmetric_distance(),
        dp.zero_concentrated_divergence(),
        d_in=1,
        d_out=rho,
        keys=keys,
        algorithm=mst,
    )
    drawn = made(frame).synthesize()
    return np.stack([drawn[name].fill_null(0).to_numpy() for name in domain.names])


def main() -> None:
    """Say what both come to."""
    table = adult()
    policy = policy_of(table)
    domain = PublicDomain.of(policy, table.column_names)
    truth = cells_of(table, domain)
    libraries()
    budget = PrivacyBudget.of(EPSILON, DELTA)
    assert budget.rho is not None
    _say(f"{len(domain.names)} columns of {table.num_rows} rows, {budget}")
    start = process_time()
    other = theirs(truth, domain, budget.rho)
    error, needed = off(truth, other, domain), process_time() - start
    _say(f"OpenDP's own MST: mean total variation {error:.4f}, {needed:.0f} CPU s")
    start = process_time()
    release = sf.synthesize(table, policy, epsilon=EPSILON, delta=DELTA)
    ours, took = off(truth, cells_of(release.table, domain), domain), process_time() - start
    _say(f"ours: {ours:.4f}, {took:.0f} CPU s")
    _say(f"ours / theirs: error {ours / error:.2f}, CPU {took / needed:.2f}")


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
