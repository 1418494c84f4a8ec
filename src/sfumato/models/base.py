"""The contract of privacy models, and what is written of promises in manifests."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

import numpy as np

from sfumato.classes import EquivalenceClasses
from sfumato.models.rounding import at_most
from sfumato.registry import Member
from sfumato.typing import BoolArray, FloatArray, IntArray


class Merging(NamedTuple):
    """What a model's verdicts say about classes that are merged. Searches rely on it.

    Attributes:
        closed: If all parts pass, the merged class passes.
        absorbing: A passing class merged with *any* class still passes. Then a row in a
            failing class is in a failing class under every finer grouping too.
    """

    closed: bool
    absorbing: bool


ABSORBING = Merging(closed=True, absorbing=True)
CLOSED = Merging(closed=True, absorbing=False)
NEITHER = Merging(closed=False, absorbing=False)


class PrivacyModel(Member, ABC):
    """A promise about equivalence classes.

    A member of the family is a frozen dataclass: its fields are the parameters of the
    literature, checked when it is made, and its docstring says what it promises and
    what it does not. It sees counts only.
    """

    merging: ClassVar[Merging]
    compares_with_table: ClassVar[bool] = False
    """Whether classes are compared with the distribution of the whole table."""

    needs_population: ClassVar[bool] = False
    """Whether a population table must be given."""

    needs_numbers: ClassVar[bool] = False
    """Whether the sensitive column must hold numbers, or days."""

    of_weights: ClassVar[bool] = False
    """Whether its column is a weight, which says how many people of a population a row is."""

    counts_presence: ClassVar[bool] = False
    """Whether it says how likely a person of the population is in the table."""

    of_population: ClassVar[bool] = False
    """Whether it is promised to people of whom no adversary knows that they are in the table."""

    sliders: ClassVar[Mapping[str, tuple[float, float, float]]] = {}
    """Where sliders of its parameters begin and end, and their steps, if not where others do."""

    protects_sets: ClassVar[bool] = False
    """Whether it is about columns with the role set. Its classes alone say only a part of it."""

    stricter: ClassVar[Mapping[str, int]] = {}
    """The direction in which each number promises more: 1 if a larger one does, -1 if a smaller."""

    merging_of_people: ClassVar[Merging] = NEITHER
    """The same where people are counted, who may be in both of the classes that merge.

    Two classes of two people each may be the same two: what holds in both need not hold in one
    class in which each of them has two values. Only what more people never break is declared.
    """

    counts_people: ClassVar[bool] = True
    """Whether it is defined where a person may have several values in a class."""

    exceeds: ClassVar[tuple[str, ...]] = ()
    """Parameters for which `measure` gives a bound that must be exceeded, not reached.

    The inequality of their definition is strict, so there is no strictest value, only a
    limit: "c > 8" is the truth, "c = 8" is not.
    """

    @classmethod
    def promise_in_words(cls, values: Mapping[str, object]) -> str:  # noqa: ARG003 - others do
        """Return what it promises with these parameters; `{k}` stands for the number itself."""
        return cls.describe_kind()

    @classmethod
    def limiting_share(cls, column: str, share: float) -> "PrivacyModel | None":  # noqa: ARG003
        """Return the model that lets no value of a column have a larger share of a class.

        None of a kind that promises something else.
        """
        return None

    @property
    def largest_share(self) -> float | None:
        """The largest share that any value may have of the known ones; None if it sets no limit."""
        return None

    @abstractmethod
    def passes(self, classes: EquivalenceClasses) -> BoolArray:
        """Return one verdict per class."""

    @abstractmethod
    def measure(self, classes: EquivalenceClasses) -> dict[str, float]:
        """Return the strictest parameters that all these classes keep together.

        For an empty table the parameters themselves: no person is there to be exposed.
        Infinity means that no value would do. A value the model itself would refuse
        (k = 1, say) means that nothing can be promised.
        """

    def judge(self, classes: EquivalenceClasses) -> BoolArray:
        """Return one verdict per class; where classes overlap, on its worst completion.

        More rows never break an absorbing model, so the completion with the fewest decides. A
        mean over the table takes each row at its worst, which is that one too.
        """
        overlap = classes.overlap
        if overlap is None or self.merging.absorbing or isinstance(self, TableModel):
            return self.passes(classes)
        completions = overlap.completions
        if completions.classes is overlap.apart and not self.merging.closed:
            # Too many to go through, and classes apart say nothing of them together.
            return np.zeros(len(classes), dtype=bool)
        return completions.spread(self.passes(completions.classes), len(classes))

    def measure_worst(self, classes: EquivalenceClasses) -> dict[str, float]:
        """Measure all classes; where classes overlap, all their completions."""
        overlap = classes.overlap
        if overlap is None or self.merging.absorbing or isinstance(self, TableModel):
            return self.measure(classes)
        return self.measure(overlap.completions.classes)

    def count_lost(self, classes: EquivalenceClasses, gone: int) -> IntArray:
        """Return how many rows of each class are lost at least, however it is split.

        Parts that pass make a class that passes, if merging is closed: so what is left of a class
        that fails, in parts or whole, is not all of it.

        Args:
            classes: The classes, which do not overlap.
            gone: The most rows that may leave the table; what classes are compared with moves
                with them.
        """
        if not self.merging.closed or (self.compares_with_table and gone):
            return np.zeros(len(classes), dtype=np.int64)
        lost: IntArray = (~self.passes(classes)).astype(np.int64)
        return lost

    @property
    def absorbing_part(self) -> "PrivacyModel | None":
        """A condition every passing class meets and no merging undoes, or None.

        A search may discard with it what it could not discard with the model itself:
        a row in a class that fails this part fails the model in every finer grouping.
        """
        return self if self.merging.absorbing else None

    def merges(self, *, people: bool) -> Merging:
        """Return what merging does: `merging`, or `merging_of_people` where those are counted."""
        return self.merging_of_people if people else self.merging

    def part_that_absorbs(self, *, people: bool) -> "PrivacyModel | None":
        """Return `absorbing_part`; where people are counted, only if it absorbs there too."""
        part = self.absorbing_part
        return part if part is None or part.merges(people=people).absorbing else None

    def implies(self, other: "PrivacyModel") -> bool:
        """Return whether all classes that keep this promise keep the other one too.

        Only promises of the same kind are compared, parameter by parameter.
        """
        if type(self) is not type(other):
            return False
        theirs = other.params()
        return all(
            (mine - theirs[name]) * self.stricter[name] >= 0
            if name in self.stricter
            else mine == theirs[name]
            for name, mine in self.params().items()
        )

    @property
    def smallest_class(self) -> int | None:
        """The class size that is promised; None if only values or the population are."""
        return None

    @property
    def fewest_values(self) -> int:
        """The different known sensitive values that every passing class shows."""
        return 0

    @property
    def needs_hierarchy(self) -> bool:
        """Whether it goes by the hierarchy of the sensitive column: its distances or its labels."""
        return False

    @property
    def draws(self) -> bool:
        """Whether chance decides which classes stay, by the secret order that they have."""
        return False

    @property
    def needs_every_class(self) -> bool:
        """Whether every class of the population must be in the table.

        Suppressing rows cannot bring an absent class back, only generalising can.
        """
        return False

    def passes_unseen(self, classes: EquivalenceClasses) -> bool:
        """Return whether it holds of those people of a population whom no class shows."""
        return True

    @property
    def columns(self) -> tuple[str, ...]:
        """The sensitive columns it looks at."""
        column = getattr(self, "column", None)
        return (column,) if column is not None else ()

    def __str__(self) -> str:
        shown = ", ".join(
            str(value) if key == "column" else f"{key}={value}"
            for key, value in self.params().items()
            if not isinstance(value, tuple)
        )
        return f"{self.name}({shown})"


class TableModel(PrivacyModel):
    """A promise about the mean risk of all rows, kept by leaving out the smallest classes first.

    `passes` says which classes may stay: all if the promise holds, else the most classes
    for which it does, the smallest left out one after the other (those of equal size in
    their order, or in the secret order of the classes if the model draws).
    """

    merging: ClassVar[Merging] = NEITHER

    @property
    def sizes_together(self) -> bool:
        """Whether classes of equal size go or stay together."""
        return False

    @property
    @abstractmethod
    def limit(self) -> float:
        """The largest mean risk that is allowed."""

    @abstractmethod
    def risks(self, sizes: IntArray) -> FloatArray:
        """Return the risk of a row in a class of each size. It never rises with the size."""

    def passes(self, classes: EquivalenceClasses) -> BoolArray:
        order = np.argsort(classes.sizes, kind="stable")
        if self.draws and classes.drawn is not None:
            order = np.lexsort((classes.drawn, classes.sizes))
        good = np.flatnonzero(at_most(self._means(classes, order), self.limit))
        if self.sizes_together and len(good):
            sizes = classes.sizes[order]
            good = good[np.searchsorted(sizes, sizes[good]) == good]
        keep = np.zeros(len(classes), dtype=bool)
        if len(good):
            keep[order[good[0] :]] = True
        return keep

    def worst(self, classes: EquivalenceClasses) -> float:
        """Measure the whole table; the limit itself if it is empty."""
        if not len(classes):
            return self.limit
        return float(self._means(classes, np.argsort(classes.sizes, kind="stable"))[0])

    def _means(self, classes: EquivalenceClasses, order: IntArray) -> FloatArray:
        """Return at position i the mean risk when the first i classes of the order are left out."""
        # Where people are counted each has a risk, in every class that they are in.
        rows = (classes.sizes if classes.by_person else classes.rows)[order]
        risk = rows * self.risks(classes.sizes[order])
        means: FloatArray = np.cumsum(risk[::-1])[::-1] / np.cumsum(rows[::-1])[::-1]
        return means


def promise_text(model: Mapping[str, Any]) -> str:
    """Write a model of a manifest in a few words.

    >>> promise_text({"model": "distinct-l-diversity", "column": "ill", "l": 3, "measured": {}})
    'distinct-l-diversity of ill with l=3'
    """
    parts = [
        f"{key}={value}"
        for key, value in model.items()
        if key not in ("model", "column", "measured") and not isinstance(value, list | tuple)
    ]
    column = f" of {model['column']}" if "column" in model else ""
    return f"{model.get('model')}{column}" + (f" with {', '.join(parts)}" if parts else "")


def figures(measured: Mapping[str, float]) -> str:
    """Write measured figures in a few words.

    >>> figures({"k": 5, "t": 1 / 3})
    'k=5, t=0.333333'
    """
    return ", ".join(
        f"{key}={value:.6g}" if isinstance(value, float) else f"{key}={value}"
        for key, value in measured.items()
    )
