"""Whether published values can be what chance made of some true ones, as someone claims."""

from typing import ClassVar

import numpy as np

from sfumato.counts import group
from sfumato.dataclasses import dataclass
from sfumato.perturbations import Perturbation, SeenColumn
from sfumato.typing import FloatArray, IntArray

UNLIKELY = 1e-6
"""A claim that makes what is published less likely than this is not believed."""

_MOST_CELLS = 4_000_000


@dataclass(frozen=True)
class ClaimFit:
    """How likely what is published is under a claim of chance.

    Of every class, and of all rows, it is asked how many are published with each value. Whatever
    the true values are, a row is published with one at most as often as the likeliest true value
    makes it, and at least as often as the least likely. So however many there are of each, the
    number is between two binomial ones, and by Chernoff's bound more or fewer than those are of at
    most a known probability. It is multiplied by how many numbers were looked at (Bonferroni). A
    true claim makes less than one in a million of tables that are not believed.

    Does not find: a claim of more chance than there was, where the published values vary enough to
    be of it. Only who has the true ones can.

    Example:
        >>> from sfumato.perturbations import Pram
        >>> seen = SeenColumn("ill", ("flu", "gout", "hiv"), np.array([150, 150, 200]))
        >>> classes, codes = np.array([0, 0, 1, 1, 2]), np.array([0, 1, 0, 1, 2])
        >>> rows = np.array([75, 75, 75, 75, 200])
        >>> ClaimFit.test(classes, codes, rows, seen, Pram(keep=0.4)).believable
        False
        >>> ClaimFit.test(classes, codes, rows, seen, Pram(keep=0.99)).believable
        True
    """

    NO_NUMBERS: ClassVar[str] = "it takes numbers, and the column has other values"

    probability: float
    """How likely anything as odd is under the claim, at most."""

    why: str = ""
    """What does not fit, in words."""

    @property
    def believable(self) -> bool:
        """Whether the claim is not refuted."""
        return self.probability >= UNLIKELY

    @classmethod
    def test(
        cls,
        class_id: IntArray,
        code: IntArray,
        rows: IntArray,
        seen: SeenColumn,
        member: Perturbation,
    ) -> "ClaimFit":
        """Compare published values against a claim.

        Args:
            class_id: The class of each entry.
            code: Its published value, as a place among those that are seen.
            rows: How many rows it has.
            seen: What readers see of the column.
            member: What chance did, as it is claimed.
        """
        if member.numeric and not member.rearranges and not np.isfinite(seen.numbers).all():
            return cls(0.0, cls.NO_NUMBERS)
        sets = member.limits(seen)
        if not sets or not len(code):
            return cls(1.0)
        _, line = np.unique(class_id, return_inverse=True)
        # All rows together are one more class.
        n = int(line.max()) + 2
        line, code = np.append(line, np.full(len(code), n - 1)), np.append(code, code)
        rows = np.append(rows, rows)
        least, tests, found = 0.0, 0, ""
        sizes = np.bincount(line, weights=rows, minlength=n).astype(float)
        for part, few, many in sets:
            width = len(few)
            tests += 2 * n * width
            if n * width <= _MOST_CELLS:
                key = line * width + part[code]
                counted = np.bincount(key, weights=rows, minlength=n * width).astype(float)
                at = np.repeat(np.arange(n), width), np.tile(np.arange(width), n)
            else:
                # Of what no row of a class has, nothing is asked.
                cells = group([line, part[code]], [n, width], n=len(line))
                counted = np.bincount(cells.of_item, weights=rows, minlength=cells.n).astype(float)
                at = line[cells.first], part[code][cells.first]
            total = sizes[at[0]]
            above = _log_tail(counted, total, many[at[1]])
            below = _log_tail(total - counted, total, 1 - few[at[1]])
            both = np.minimum(above, below)
            worst = int(both.argmin())
            if both[worst] < least:
                least = float(both[worst])
                values = np.flatnonzero(part == at[1][worst])
                odd = float(counted[worst]), float(total[worst])
                expected = (few if below[worst] < above[worst] else many)[at[1][worst]]
                found = _words(seen, values, odd, float(expected), few=below[worst] < above[worst])
        return cls(min(float(np.exp(least)) * tests, 1.0), found)


def _log_tail(found: FloatArray, total: FloatArray, chance: FloatArray) -> FloatArray:
    """Return the logarithm of how likely that many of all are at least, at most (Chernoff).

    >>> float(np.exp(_log_tail(np.array([3.0]), np.array([3.0]), np.array([0.5]))[0]).round(6))
    0.125
    """
    rare = np.clip(chance, 1e-12, 1.0)
    bound = np.zeros(len(found))
    # Most are what was to be expected.
    at = np.flatnonzero(found > rare * total)
    if len(at):
        share, rare = found[at] / total[at], rare[at]
        with np.errstate(divide="ignore", invalid="ignore"):
            other = np.where(share < 1, (1 - share) * np.log((1 - share) / (1 - rare)), 0.0)
        bound[at] = -total[at] * (share * np.log(share / rare) + other)
    return bound


def _words(
    seen: SeenColumn, values: IntArray, odd: tuple[float, float], expected: float, *, few: bool
) -> str:
    """Return what does not fit, in words."""
    shown = f"{seen.name} = {seen.values[int(values[0])]}"
    if len(values) > 1:
        shown = f"{shown} to {seen.values[int(values[-1])]}"
    bound = "at least" if few else "at most"
    return (
        f"{shown} is published for {odd[0]:.0f} of {odd[1]:.0f} people of a class, and the claim "
        f"makes that of {bound} {expected:.0%} of them"
    )
