"""What is claimed of slicing, cell by cell: where it holds, where it is a draw, where not."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from docs.papers.results import Record
from docs.papers.slicing.demands import Demand
from docs.papers.slicing.releases import BUCKETS, LAX, OVERLAPPED, SLICED, STRICT

OVERLAPPING = OVERLAPPED[min(OVERLAPPED)]
"""The one with the most overlap, which is meant where only one is."""


class Duel(NamedTuple):
    """One method against the best of others, in one cell."""

    cell: str
    ours: float
    theirs: float
    good: bool
    """Whether ours is better, and not just as good."""

    @property
    def draw(self) -> bool:
        """Whether both are the same."""
        return self.ours == self.theirs


class Claim(NamedTuple):
    """A method is better than others by some measure."""

    method: str
    others: Sequence[str]
    measure: str

    @property
    def more(self) -> bool:
        """Whether a larger number is better."""
        return self.measure in ("pairs", "strength")

    @property
    def words(self) -> str:
        """Say what is claimed.

        >>> Claim("slicing", ["anatomy"], "off").words
        'slicing has correlations less off than anatomy'
        """
        return f"{self.method} has {_BETTER[self.measure]} than {' or '.join(self.others)}"

    def duels(self, cells: list[Record]) -> Iterator[Duel]:
        """Compare wherever both are possible.

        Example:
            >>> asked = {"rows": 9, "sensitive": "ill", "form": "entropy", "l": 2, "c": None}
            >>> said = {"slicing": 0.1, "anatomy": 0.3}
            >>> cells = [{**asked, "method": m, "refused": None, "off": x} for m, x in said.items()]
            >>> list(Claim("slicing", ["anatomy"], "off").duels(cells))
            [Duel(cell='ill, 9 rows, entropy, l = 2', ours=0.1, theirs=0.3, good=True)]
        """
        for name, found in _by_cell(cells).items():
            theirs = [found[m][self.measure] for m in self.others if m in found]
            if self.method in found and theirs:
                ours = found[self.method][self.measure]
                best = max(theirs) if self.more else min(theirs)
                yield Duel(name, ours, best, ours > best if self.more else ours < best)


_BETTER = {
    "median": "a smaller median error",
    "off": "correlations less off",
    "off_with_sensitive": "correlations with the sensitive column less off",
    "pairs": "more pairs in one column",
    "strength": "more correlation in one column",
}
_GENERALISED, _ANATOMISED = (STRICT, LAX), (BUCKETS,)

CLAIMS = {
    "slicing_queries": Claim(SLICED, _GENERALISED, "median"),
    "slicing_off": Claim(SLICED, _GENERALISED, "off"),
    "overlap_queries": Claim(OVERLAPPING, _GENERALISED, "median"),
    "overlap_off": Claim(OVERLAPPING, _GENERALISED, "off"),
    "more_pairs": Claim(OVERLAPPING, (SLICED,), "pairs"),
    "more_strength": Claim(OVERLAPPING, (SLICED,), "strength"),
    "less_off": Claim(OVERLAPPING, (SLICED,), "off"),
    **{
        f"{what}_from_{overlap:g}": Claim(name, (SLICED,), what)
        for overlap, name in OVERLAPPED.items()
        for what in ("pairs", "off")
        if name != OVERLAPPING
    },
    "queries_anatomy": Claim(SLICED, _ANATOMISED, "median"),
    "overlap_queries_anatomy": Claim(OVERLAPPING, _ANATOMISED, "median"),
    "sensitive_anatomy": Claim(SLICED, _ANATOMISED, "off_with_sensitive"),
    "off_anatomy": Claim(SLICED, _ANATOMISED, "off"),
    "overlap_off_anatomy": Claim(OVERLAPPING, _ANATOMISED, "off"),
    "queries_slicing": Claim(OVERLAPPING, (SLICED,), "median"),
}


def said(duels: Sequence[Duel]) -> str:
    """Say how often a claim holds.

    Example:
        >>> said([Duel("a", 1, 2, True), Duel("b", 2, 2, False), Duel("c", 3, 2, False)])
        '1 of 3, and the same in 1'
    """
    draws = sum(each.draw for each in duels)
    text = f"{sum(each.good for each in duels)} of {len(duels)}"
    return f"{text}, and the same in {draws}" if draws else text


def _by_cell(cells: list[Record]) -> dict[str, dict[str, Record]]:
    """Put what was possible under the name of its cell, by method."""
    found: dict[str, dict[str, Record]] = {}
    for one in cells:
        if one["refused"] is None:
            demand = Demand(one["sensitive"], one["form"], one["l"], one["c"])
            rows = f"{one['rows']:,} rows".replace(",", " ")
            name = f"{one['sensitive']}, {rows}, {demand.words}"
            found.setdefault(name, {})[one["method"]] = one
    return found
