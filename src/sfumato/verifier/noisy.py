"""Checks of tables with noisy counts: that they follow from the counts, and the budget adds up.

Files show the domain, that each of its cells has a count whether or not anyone is in it, what noise
of the stated scale spends, and that the tables of people are computed of noisy counts and nothing
else. That the noise was drawn, no file shows: it is believed, and the answer says so.
"""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

from sfumato.errors import InputError, some
from sfumato.text import text_of
from sfumato.verifier.counting import Countable, count, readable
from sfumato.verifier.promises import NOISY, Check, ClaimedManifest, DataFile, status
from sfumato.verifier.synthetic import check_budget, find_damage

_MOST_CELLS = 2_000_000
"""No list of noisy counts is longer."""

_MOST_DIGITS = 15

Cell = tuple[str | None, ...]
"""The labels of a cell; None is the missing value."""


def check_noisy(sources: Mapping[str, Countable], manifest: ClaimedManifest) -> list[Check]:
    """Check what is said of the noise in the counts of a release."""
    claimed = manifest.synthetic or {}
    wrong = find_damage(claimed)
    if wrong:
        return [Check("synthetic", "broken", detail=wrong)]
    noisy = [file for file in manifest.files if file.table == NOISY]
    measured = sorted(tuple(each["columns"]) for each in claimed["measurements"])
    same = measured == sorted(file.columns for file in noisy) and not claimed["selection"]
    budget = check_budget(claimed, chosen=False)
    if not same:
        detail = "its measurements are not those of its tables of noisy counts"
        budget = Check("privacy budget", "broken", detail=detail)
    try:
        domain = {name: _labels(name, plain) for name, plain in claimed["domain"].items()}
        names = sorted(column.name for column in manifest.columns)
        if sorted(domain) != names:
            raise InputError(f"it is said of {some(sorted(domain))}, not of {some(names)}")
        lists = {
            file.columns: _Noisy.read(sources[file.name], file, manifest, domain) for file in noisy
        }
    except InputError as error:
        return [budget, Check("domain", "broken", detail=str(error))]
    held = Check("domain", "holds", sorted(domain))
    return [budget, held, _check_people(sources, manifest, lists)]


def _labels(name: str, plain: Mapping[str, Any]) -> list[str | None]:
    """Return the cells of a column, the missing value last."""
    given = plain.get("values")
    values = given if isinstance(given, list) else []
    good = values and all(isinstance(each, str) for each in values)
    if not good or len(set(values)) < len(values):
        raise InputError(f"the domain of {name!r} is no list of different labels")
    return [*values, *([None] if plain.get("missing") is not False else [])]


class _Noisy(NamedTuple):
    """A list of noisy counts: each cell of the domain, in order, with its count."""

    counts: dict[Cell, int]

    @classmethod
    def read(
        cls,
        source: Countable,
        file: DataFile,
        manifest: ClaimedManifest,
        domain: Mapping[str, Sequence[str | None]],
    ) -> "_Noisy":
        """Read a table; raise if it has not each cell of the domain once."""
        size = 1
        for name in file.columns:
            size *= len(domain[name])
        if size > _MOST_CELLS or file.rows != size:
            raise InputError(f"{file.name} has {file.rows} rows, and the domain {size} cells")
        with readable(file.name):
            found = count(source, [*file.columns, manifest.count])
        given = {_texts(labels): _whole(n, file.name) for *labels, n in found.combinations}
        # In the order of the domain: who is there must not show in what is left out.
        counts = {cell: given.get(cell) for cell in product(*(domain[n] for n in file.columns))}
        absent = [cell for cell, number in counts.items() if number is None]
        if absent or found.rows != size or len(given) != size:
            raise InputError(
                f"{file.name} has not one count for each cell of the domain: {some(absent)}"
            )
        return cls({cell: number for cell, number in counts.items() if number is not None})


def _texts(labels: Sequence[object]) -> Cell:
    return tuple(None if label is None else text_of(label) for label in labels)


def _whole(given: object, name: str) -> int:
    text = "" if given is None else text_of(given)
    digits = text.removeprefix("-")
    if not (digits.isascii() and digits.isdigit() and len(digits) <= _MOST_DIGITS):
        raise InputError(f"{name} has the noisy count {text[:40]!r}, which is no whole number")
    return int(text)


def _check_people(
    sources: Mapping[str, Countable],
    manifest: ClaimedManifest,
    lists: Mapping[tuple[str, ...], _Noisy],
) -> Check:
    """Check that the tables of people are the nearest that there are to noisy counts."""
    known = manifest.with_role("quasi-identifier")
    every = lists[known].counts
    total = max(0, sum(every.values()))
    sizes = dict(zip(every, nearest_whole([*every.values()], total, 0), strict=True))
    labels: dict[str, Cell] = {}
    wrong = []
    for file in manifest.linked_files:
        names = known if file.table == "qi" else (file.columns or (str(file.column),))
        ends = [] if file.table == "qi" else [manifest.count]
        with readable(file.name):
            counts = count(sources[file.name], [manifest.group, *names, *ends]).combinations
        found: dict[Cell, int] = {}
        if file.table == "qi":
            expected = sizes
            for (label, *cells), rows in counts.items():
                labels[text_of(label)] = _texts(cells)
                found[_texts(cells)] = found.get(_texts(cells), 0) + rows
        else:
            expected = _by_value(lists[*known, *names].counts, sizes, len(known))
            for label, *cells, number in counts:
                cell = (*labels.get(text_of(label), ()), *_texts(cells))
                found[cell] = found.get(cell, 0) + _whole(number, file.name)
        different = [
            cell for cell in {**expected, **found} if expected.get(cell, 0) != found.get(cell, 0)
        ]
        if different:
            wrong.append(f"{file.name} does not follow from noisy counts in {some(different[:3])}")
    return Check("noisy counts", status(holds=not wrong), detail="; ".join(wrong))


def _by_value(noisy: Mapping[Cell, int], sizes: Mapping[Cell, int], known: int) -> dict[Cell, int]:
    """Return how many people of each group have each value."""
    of_group: dict[Cell, dict[Cell, int]] = {}
    for cell, number in noisy.items():
        of_group.setdefault(cell[:known], {})[cell] = number
    found: dict[Cell, int] = {}
    for place, (group, counts) in enumerate(of_group.items()):
        whole = nearest_whole([*counts.values()], sizes[group], place)
        found.update(zip(counts, whole, strict=True))
    return found


def nearest_whole(noisy: Sequence[int], total: int, first: int) -> list[int]:
    """Return whole numbers of at least 0 that add up to a total and are nearest to some numbers.

    Each is what it was less one level for all, or 0; the level is the least at which they do not
    add up to more. What is left over goes to those that are at the level or above it, one each, in
    a circle that begins at the place `first`.

    >>> nearest_whole([7, 3, -2], 6, 0), nearest_whole([1, 1, 1], 4, 1)
    ([5, 1, 0], [1, 2, 1])
    """
    lowest = min(noisy) - total - 1
    levels = range(lowest, max(noisy) + 1)

    def fits(level: int) -> int:
        return int(sum(max(0, each - level) for each in noisy) <= total)

    level = levels[bisect_left(levels, 1, key=fits)]
    found = [max(0, each - level) for each in noisy]
    left = total - sum(found)
    for step in range(len(noisy)):
        at = (first + step) % len(noisy)
        if left and noisy[at] >= level:
            found[at] += 1
            left -= 1
    return found
