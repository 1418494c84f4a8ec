"""Structure learners of pyAgrum, on the same weighted counts as ours: a second opinion.

pyAgrum reads tables from files. It is given one of our own: codes instead of values and
numbers instead of names, only the distinct combinations, in a folder no one else may
read, which is removed whatever happens.
"""

import tempfile
import warnings
from abc import abstractmethod
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from sfumato.counts import FrequencySet
from sfumato.dataclasses import dataclass
from sfumato.errors import MissingExtraError, require_number
from sfumato.networks.ic import compelled_arrows
from sfumato.networks.network import (
    UNCONSTRAINED,
    Constraints,
    Edge,
    LearnedNetwork,
    Learner,
    Network,
    Progress,
)

if TYPE_CHECKING:
    from pyagrum import BNLearner


class AgrumLearner(Learner):
    """A learner that asks pyAgrum."""

    extra: ClassVar[str | None] = "bayes"

    @abstractmethod
    def _prepare(self, learner: "BNLearner") -> None:
        """Choose the method and its settings."""

    def learn(
        self,
        counts: FrequencySet,
        constraints: Constraints = UNCONSTRAINED,
        progress: Progress | None = None,
    ) -> LearnedNetwork:
        constraints.check(counts.names)
        gum = load_pyagrum()
        names = counts.names
        if len(names) < 2 or not len(counts):
            return LearnedNetwork(Network.of(names, constraints.required))
        with tempfile.TemporaryDirectory(prefix="sfumato-") as folder:
            learner = _given_counts(gum, counts, Path(folder) / "combinations.csv")
            self._prepare(learner)
            _constrain(learner, names, constraints)
            arrows = set(learner.learnDAG().arcs())
        arrows -= _between_constants(counts, arrows, constraints)
        told = {(names[a], names[b]) for a, b in compelled_arrows(len(names), arrows)}
        edges = {(names[a], names[b]) for a, b in arrows}
        free = {(a, b) for a, b in edges - told if _reversible((a, b), constraints)}
        return LearnedNetwork(Network.of(names, edges, free))


@dataclass(frozen=True)
class AgrumGreedy(AgrumLearner):
    """Hill climbing over networks: add, remove or turn the edge that betters the score most.

    Needs the optional part `bayes`.
    """

    name: ClassVar[str] = "pyagrum-greedy"

    def _prepare(self, learner: "BNLearner") -> None:
        learner.useGreedyHillClimbing()


@dataclass(frozen=True)
class AgrumMiic(AgrumLearner):
    """MIIC: independence by mutual information corrected for the number of parameters.

    Needs the optional part `bayes`.
    """

    name: ClassVar[str] = "pyagrum-miic"

    def _prepare(self, learner: "BNLearner") -> None:
        learner.useMIIC()


@dataclass(frozen=True)
class AgrumPc(AgrumLearner):
    """The PC algorithm with a χ² test.

    Needs the optional part `bayes`.

    Args:
        significance: The share of independent pairs that may be taken for dependent ones.
    """

    name: ClassVar[str] = "pyagrum-pc"

    significance: float = 0.05

    def __post_init__(self) -> None:
        require_number("significance", self.significance, above=0, below=1)

    def _prepare(self, learner: "BNLearner") -> None:
        learner.usePC()
        learner.setPCAlpha(self.significance)


def load_pyagrum() -> ModuleType:
    """Import pyAgrum, or say how to install it."""
    try:
        with warnings.catch_warnings():
            # Its extension module warns while it loads; where warnings are errors, it crashes.
            warnings.simplefilter("ignore")
            return import_module("pyagrum")
    except ImportError:
        raise MissingExtraError("pyAgrum", "bayes") from None


def _given_counts(gum: ModuleType, counts: FrequencySet, path: Path) -> "BNLearner":
    """Write the combinations as codes; have them read with their numbers of rows as weights."""
    with path.open("w", encoding="ascii") as file:
        file.write(",".join(f"c{i}" for i in range(len(counts.columns))) + "\n")
        np.savetxt(file, counts.codes.T, fmt="v%d", delimiter=",")
    learner: BNLearner = gum.BNLearner(str(path), ["?"], False)  # noqa: FBT003
    for record, rows in enumerate(counts.rows.tolist()):
        learner.setRecordWeight(record, float(rows))
    return learner


def _constrain(learner: "BNLearner", names: tuple[str, ...], constraints: Constraints) -> None:
    for a, parent in enumerate(names):
        for b, child in enumerate(names):
            if a != b and not constraints.allows(parent, child):
                learner.addForbiddenArc(f"c{a}", f"c{b}")
            if (parent, child) in constraints.required:
                learner.addMandatoryArc(f"c{a}", f"c{b}")


def _between_constants(
    counts: FrequencySet, arrows: set[tuple[int, int]], constraints: Constraints
) -> set[tuple[int, int]]:
    """Return arrows to or from a column that is the same in every row, unless required.

    Such a column tells nothing; some versions of MIIC join it all the same.
    """
    constant = (counts.codes == counts.codes[:, :1]).all(axis=1)
    return {
        (a, b)
        for a, b in arrows
        if (constant[a] or constant[b])
        and (counts.names[a], counts.names[b]) not in constraints.required
    }


def _reversible(edge: Edge, constraints: Constraints) -> bool:
    return edge not in constraints.required and constraints.allows(edge[1], edge[0])
