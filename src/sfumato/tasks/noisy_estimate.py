"""Estimates by noisy counts, with intervals that hold the noise.

Noise is as likely above 0 as below, so that sums of noisy counts are not bent; those of the tables
of whole people are, where few people are in a cell. What lies where is decided by what is asked and
by the domain alone, so that an interval holds as surely as it says.
"""

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import NamedTuple, Self

import numpy as np

from sfumato.counts import Column
from sfumato.dataclasses import dataclass
from sfumato.errors import InputError, require_number
from sfumato.releases.manifest import NOISY, SyntheticRecord
from sfumato.releases.opening import Published, PublishedGroups
from sfumato.synthesis.noise import noise_of_sum
from sfumato.text import text_of, text_or_none
from sfumato.typing import FloatArray, IntArray
from sfumato.usefulness import Estimate
from sfumato.usefulness.answers import LabelAnswer

CONFIDENCE = 0.95
_WIDEST = 1e9


class _List(NamedTuple):
    """Noisy counts of some columns: the label of each in each cell, and the count."""

    codes: Mapping[str, IntArray]
    counts: IntArray
    scale: float
    """The scale of the noise of each count."""


class _Sum(NamedTuple):
    """Noisy counts, added over the cells that certainly and possibly fit, and by their shares."""

    near: float
    certain: int
    possible: int
    cells: tuple[int, int]
    """How many counts were added for both."""

    scale: float


@dataclass(frozen=True, eq=False)
class NoisyLists:
    """The noisy counts of a release, and how wide their noise is."""

    drawn: SyntheticRecord
    lists: tuple[_List, ...]
    """That of the groups first: it has the fewest cells."""

    domain: Mapping[str, Column]
    rows: int

    @classmethod
    def of(cls, release: Published) -> Self | None:
        """Read the noisy counts of a release; None if it has none."""
        record = release.record
        # The counts themselves, whoever wrote them: what they are worth, verify says.
        if record is None or record.drawn is None or not isinstance(release, PublishedGroups):
            return None
        files = [file for file in record.files if file.table == NOISY]
        try:
            domain = {
                name: Column(name, (*each["values"], *([None] if each["missing"] else [])))
                for name, each in record.drawn.domain.items()
            }
            scales = {each.columns: each.scale for each in record.drawn.measurements}
            lists = []
            for file in sorted(files, key=lambda file: len(file.columns or ())):
                names = file.columns or ()
                counts = release.tables[file.name].count([*names, str(record.count)])
                codes = {
                    name: _codes(counts.column(name), domain[name])[counts.codes_of(name)]
                    for name in names
                }
                numbers = [int(text_of(each)) for each in counts.column(str(record.count)).values]
                whole = np.array(numbers, dtype=np.int64)[counts.codes_of(str(record.count))]
                require_number("scale", scales[names], above=0, at_most=_WIDEST)
                lists.append(_List(codes, whole * counts.rows, scales[names]))
        except (KeyError, TypeError, IndexError, ValueError, OverflowError):
            raise InputError(
                "noisy counts are not those of the domain that the manifest states. See what is "
                "wrong with them: sfumato verify."
            ) from None
        return cls(record.drawn, tuple(lists), domain, record.rows.published)

    def labels(self, name: str) -> Column:
        """Return all labels that a column can have."""
        return self.domain[name]

    def estimate(
        self,
        answers: Mapping[str, Sequence[LabelAnswer]],
        joined: float,
        asked: Mapping[str, str],
    ) -> Estimate:
        """Return how many rows have what is asked for, and within what bounds.

        What stands in one list of counts is added up there. Of columns in several, Fréchet's bounds
        hold between the sums, and all statements about noise hold together with 95 %.

        Args:
            answers: Per column, what each label of its domain says.
            joined: What the tables of whole people say, where columns are in several lists.
            asked: What is asked for, as it is written.
        """
        wanted = {*answers}
        whole = next((each for each in self.lists if wanted <= {*each.codes}), None)
        if whole is not None:
            found = _add(whole, answers)
            low, high = (self._far(found, at, 2) for at in (0, 1))
            return self._within(found.near, found.certain - low, found.possible + high, asked)
        known = {*self.lists[0].codes}
        parts = [each for each in self.lists[1:] if (wanted - known) & {*each.codes}]
        sums = [_add(each, {n: a for n, a in answers.items() if n in each.codes}) for each in parts]
        region = _add(self.lists[0], {n: a for n, a in answers.items() if n in known})
        events = 2 * len(parts) + 1
        least = sum(each.certain - self._far(each, 0, events) for each in sums)
        least -= (len(parts) - 1) * (region.certain + self._far(region, 0, events))
        most = min(each.possible + self._far(each, 1, events) for each in sums)
        return self._within(joined, least, most, asked)

    def _far(self, found: _Sum, at: int, events: int) -> int:
        """Return how far off a sum is, as surely as each of some statements has to hold."""
        share = 1 - 2 * (1 - CONFIDENCE) / events
        return noise_of_sum(found.scale, found.cells[at], share, pure=self.drawn.rho is None)

    def _within(self, near: float, least: int, most: int, asked: Mapping[str, str]) -> Estimate:
        low, high = max(0, least), max(0, most)
        number = min(max(near, float(low)), float(high))
        return Estimate(number, self.rows, low, high, asked, confidence=CONFIDENCE)


def _codes(column: Column, domain: Column) -> IntArray:
    """Return which label of the domain each value of a table is."""
    at = {text_or_none(value): code for code, value in enumerate(domain.values)}
    return np.array([at[text_or_none(value)] for value in column.values], dtype=np.int64)


def _add(counts: _List, answers: Mapping[str, Sequence[LabelAnswer]]) -> _Sum:
    """Add the counts of the cells that fit."""

    def over(kind: int) -> FloatArray:
        every = [
            np.array([answer[kind] for answer in each], dtype=np.float64)[counts.codes[name]]
            for name, each in answers.items()
        ]
        return reduce(np.multiply, every, np.ones(len(counts.counts)))

    shares, certain, possible = over(0), over(1) > 0, over(2) > 0
    return _Sum(
        float((shares * counts.counts).sum()),
        int(counts.counts[certain].sum()),
        int(counts.counts[possible].sum()),
        (int(certain.sum()), int(possible.sum())),
        counts.scale,
    )
