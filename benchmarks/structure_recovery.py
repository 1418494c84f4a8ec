"""How much of a known network is found again: `ic` beside pyAgrum's PC and MIIC.

Rows are drawn from networks that are written down here, Asia (Lauritzen and Spiegelhalter
1988) and random ones the size of Alarm (37 columns, 46 edges), and learned from anew.
How `ic` doubts tests was chosen on other networks and samples, those with seeds below 100.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from statistics import mean

import numpy as np

from benchmarks.bench import Bench
from benchmarks.results import Figure
from sfumato.counts import FrequencySet
from sfumato.networks import LEARNERS, Learner, Network

LEARNER_NAMES = ("ic", "pyagrum-pc", "pyagrum-miic")
SAMPLES = (1_000, 3_000, 10_000, 100_000)
_FIRST_SEED = 100


@dataclass(frozen=True)
class Known:
    """A network with its probabilities: `tables[column][parents' values]` over its values."""

    network: Network
    tables: Mapping[str, np.ndarray]

    def sample(self, rows: int, rng: np.random.Generator) -> FrequencySet:
        """Draw rows, column after column, and count them; the columns come out shuffled."""
        drawn: dict[str, np.ndarray] = {}
        for column in self.network.order or ():
            parents = tuple(drawn[p] for p in self.network.parents[column])
            weights = np.broadcast_to(self.tables[column][parents], (rows, self._size(column)))
            drawn[column] = (rng.random((rows, 1)) > weights.cumsum(axis=1)[:, :-1]).sum(axis=1)
        names = [str(name) for name in rng.permutation(self.network.columns)]
        codes = np.stack([drawn[name] for name in names])
        values = [list(range(self._size(name))) for name in names]
        return FrequencySet.from_codes(names, values, codes, np.ones(rows, dtype=np.int64))

    def _size(self, column: str) -> int:
        return int(self.tables[column].shape[-1])


def asia() -> Known:
    """Give the network of Lauritzen and Spiegelhalter (1988); the first value is "no"."""
    yes = {
        "asia": 0.01,
        "smoker": 0.5,
        "tuberculosis": [0.01, 0.05],
        "cancer": [0.01, 0.1],
        "bronchitis": [0.3, 0.6],
        "either": [[0.0, 1.0], [1.0, 1.0]],
        "xray": [0.05, 0.98],
        "dyspnoea": [[0.1, 0.7], [0.8, 0.9]],
    }
    edges = [
        ("asia", "tuberculosis"),
        ("smoker", "cancer"),
        ("smoker", "bronchitis"),
        ("tuberculosis", "either"),
        ("cancer", "either"),
        ("either", "xray"),
        ("bronchitis", "dyspnoea"),
        ("either", "dyspnoea"),
    ]
    shares = {name: np.asarray(share) for name, share in yes.items()}
    tables = {name: np.stack([1 - share, share], axis=-1) for name, share in shares.items()}
    return Known(Network.of(yes, edges), tables)


def alarm_sized(seed: int) -> Known:
    """Make a random network the size of Alarm: 37 columns of 2 to 4 values, 46 edges."""
    rng = np.random.default_rng(seed)
    names = [f"n{i:02d}" for i in range(37)]
    parents: dict[str, list[str]] = {name: [] for name in names}
    while sum(map(len, parents.values())) < 46:
        a, b = sorted(rng.choice(37, 2, replace=False).tolist())
        if b - a < 12 and len(parents[names[b]]) < 4 and names[a] not in parents[names[b]]:
            parents[names[b]].append(names[a])
    network = Network.of(names, [(p, child) for child in names for p in parents[child]])
    sizes = dict(zip(names, rng.integers(2, 5, 37).tolist(), strict=True))
    tables = {
        name: rng.dirichlet(
            np.full(sizes[name], 0.5), size=[sizes[p] for p in network.parents[name]] or None
        )
        for name in names
    }
    return Known(network, tables)


@dataclass(frozen=True)
class Found:
    """Shares of what was found that is true, and of what is true that was found."""

    precision: float
    recall: float

    @classmethod
    def of(cls, found: set[object], true: set[object]) -> "Found":
        both = len(found & true)
        return cls(both / len(found) if found else 1.0, both / len(true) if true else 1.0)

    @property
    def f1(self) -> float:
        """The harmonic mean of both."""
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total else 0.0


def skeleton(network: Network) -> set[object]:
    """Give the edges without their directions."""
    return {frozenset(edge) for edge in network.edges}


def colliders(network: Network) -> set[object]:
    """Give the places where two columns that have no edge point at a third."""
    joined = skeleton(network)
    return {
        (frozenset((a, b)), child)
        for child in network.columns
        for a, b in combinations(network.parents[child], 2)
        if frozenset((a, b)) not in joined
    }


def recovered(learner: Learner, known: Known, rows: int, seed: int) -> tuple[Found, Found]:
    """Learn from a sample; compare edges, and colliders."""
    counts = known.sample(rows, np.random.default_rng([seed, rows]))
    network = learner.learn(counts).network
    return (
        Found.of(skeleton(network), skeleton(known.network)),
        Found.of(colliders(network), colliders(known.network)),
    )


def average(
    learner: Learner, networks: list[Known], rows: int, *, repeats: int
) -> tuple[Found, Found]:
    """Average over networks and samples."""
    seeds = range(_FIRST_SEED, _FIRST_SEED + repeats)
    every = [recovered(learner, known, rows, seed) for known in networks for seed in seeds]
    edges, arrows = (
        Found(mean(f.precision for f in found), mean(f.recall for f in found))
        for found in zip(*every, strict=True)
    )
    return edges, arrows


def held_out(networks: int) -> list[Known]:
    """Make random networks on which nothing was chosen."""
    return [alarm_sized(seed) for seed in range(_FIRST_SEED, _FIRST_SEED + networks)]


def run(bench: Bench) -> Iterator[Figure]:
    sets = {"Asia": ([asia()], 20), "Alarm-sized": (held_out(6), 3)}
    for title, (networks, repeats) in sets.items():
        for rows in SAMPLES[:1] if bench.quick else SAMPLES:
            for name in LEARNER_NAMES:
                # The others take minutes for so many different rows.
                if name == "ic" or title == "Asia" or rows < SAMPLES[-1]:
                    found = average(LEARNERS[name].example(), networks, rows, repeats=repeats)
                    what = f"{title}, {rows} rows, {name}"
                    yield Figure(f"{what}: edges, precision and recall", _shown(found[0]))
                    yield Figure(f"{what}: colliders, precision and recall", _shown(found[1]))


def _shown(found: Found) -> str:
    return f"{found.precision:.3f} and {found.recall:.3f}"
