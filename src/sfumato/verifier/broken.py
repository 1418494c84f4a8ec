"""Verify a release in several tables: that they belong together, and what they keep.

The classes are formed anew: their sizes from the table of quasi-identifiers, their values
from the table of each sensitive column. Nothing is joined.
"""

from collections.abc import Mapping
from typing import NamedTuple

from sfumato.errors import InputError, some
from sfumato.text import text_of
from sfumato.verifier.counting import Counted, count
from sfumato.verifier.database import Relation
from sfumato.verifier.groups import Groups, Key
from sfumato.verifier.manifest import DataFile, Manifest
from sfumato.verifier.promises import Promises
from sfumato.verifier.reading import Source, readable
from sfumato.verifier.recompute import judge
from sfumato.verifier.verdict import Check, status

Values = dict[str, dict[object, int]]
"""Per label of a group, how many of its people have each value."""

_MOST_DIGITS = 15


def broken_shape(manifest: Manifest) -> Check:
    """Hold the parts of a manifest against each other."""
    detail = _misshapen(manifest)
    return Check("manifest", status(holds=not detail), detail=detail)


def _misshapen(manifest: Manifest) -> str:
    people = [file for file in manifest.files if file.table == "qi"]
    columns = [file.column for file in manifest.files if file.table == "sensitive"]
    unfit = [c.name for c in manifest.columns if c.role not in ("quasi-identifier", "sensitive")]
    names = [column.name for column in manifest.columns]
    rows = people[0].rows if people else 0
    faults = {
        f"it names {len(people)} tables of quasi-identifiers instead of one": len(people) != 1,
        "it does not name exactly one table for each sensitive column": (
            sorted(map(str, columns)) != sorted(manifest.named("sensitive"))
        ),
        f"columns that tie the tables together: {some(unfit)}": unfit,
        "the linking column or the counts have the name of another column": (
            manifest.group in names or manifest.count in (*names, manifest.group)
        ),
        f"it speaks of {manifest.published} rows and of {rows} in the file": (
            rows != manifest.published
        ),
        "starred rows cannot be in such a release": manifest.suppression != "remove",
    }
    return next((fault for fault, found in faults.items() if found), "")


def broken_checks(
    sources: Mapping[str, Source | Relation], manifest: Manifest, promises: Promises
) -> list[Check]:
    """Recompute what tables linked by group keep."""
    checks = [columns_check(sources, manifest)]
    if checks[-1].status != "holds":
        return checks
    tables = _Tables.read(sources, manifest)
    checks += [tables.rows_check(manifest), tables.groups_check(), tables.counts_check()]
    if any(check.status != "holds" for check in checks[-2:]):
        detail = "the tables do not belong together, so no class can be judged"
        return [*checks, Check("models", "unchecked", detail=detail)]
    return [*checks, *judge(tables.classes(manifest, promises), promises)]


def _columns_of(file: DataFile, manifest: Manifest) -> list[str]:
    if file.table == "qi":
        return [manifest.group, *manifest.named("quasi-identifier")]
    return [manifest.group, str(file.column), manifest.count]


def columns_check(sources: Mapping[str, Source | Relation], manifest: Manifest) -> Check:
    """Look whether every table has its columns, and no others."""
    details = []
    for file in manifest.files:
        promised, found = _columns_of(file, manifest), sources[file.name].names
        added = [name for name in found if name not in promised]
        lacking = [name for name in promised if name not in found]
        details += [f"not in the manifest: {some(added)} in {file.name}"] if added else []
        details += [f"not in {file.name}: {some(lacking)}"] if lacking else []
    return Check("columns", status(holds=not details), detail="; ".join(details))


class _People(NamedTuple):
    """The table of quasi-identifiers: who is in which group."""

    keys: dict[str, Key]
    sizes: dict[str, int]
    rows: int
    wrong: tuple[str, ...]


class _Tables(NamedTuple):
    """All tables, counted, and what is wrong with them."""

    people: _People
    values: dict[str, Values]
    """Per sensitive column."""

    rows: dict[str, int]
    """Per file."""

    repeated: tuple[str, ...]

    @classmethod
    def read(cls, sources: Mapping[str, Source | Relation], manifest: Manifest) -> "_Tables":
        people = _People({}, {}, 0, ())
        values: dict[str, Values] = {}
        rows: dict[str, int] = {}
        repeated: list[str] = []
        for file in manifest.files:
            with readable(file.name):
                counted = count(sources[file.name], _columns_of(file, manifest))
            rows[file.name] = counted.rows
            if file.table == "qi":
                people = _people(counted)
            else:
                values[str(file.column)], twice = values_of(counted, file.name)
                repeated += twice
        return cls(people, values, rows, tuple(repeated))

    def rows_check(self, manifest: Manifest) -> Check:
        wrong = [f.name for f in manifest.files if self.rows[f.name] != f.rows]
        detail = f"not the number of rows the manifest says: {some(wrong)}" if wrong else ""
        good = status(holds=not wrong and self.people.rows == manifest.published)
        return Check("rows", good, manifest.published, self.people.rows, detail)

    def groups_check(self) -> Check:
        """Look whether all tables have the same groups, and each group is one class."""
        details = list(self.people.wrong)
        ids = self.people.keys.keys()
        for column, values in self.values.items():
            strange = [label for label in values if label not in ids]
            absent = [label for label in ids if label not in values]
            details += [f"groups that are only in {column!r}: {some(strange)}"] if strange else []
            details += [f"groups that are not in {column!r}: {some(absent)}"] if absent else []
        return Check("groups", status(holds=not details), detail="; ".join(details))

    def counts_check(self) -> Check:
        """Look whether the counts of every sensitive column add up to the sizes of the groups."""
        details = [f"values that stand there twice: {some(self.repeated)}"] * bool(self.repeated)
        for column, values in self.values.items():
            wrong = [
                f"{sum(counts.values())} of {self.people.sizes[label]}"
                for label, counts in values.items()
                if sum(counts.values()) != self.people.sizes.get(label, -1)
                and label in self.people.sizes
            ]
            if wrong:
                details.append(
                    f"{column!r} does not add up in {len(wrong)} groups, for example {wrong[0]}"
                )
        return Check("counts", status(holds=not details), detail="; ".join(details))

    def classes(self, manifest: Manifest, promises: Promises) -> Groups:
        """Form the classes; call it only when groups and counts are in order."""
        keys = self.people.keys
        return Groups.broken(
            {keys[label]: rows for label, rows in self.people.sizes.items()},
            {
                column: {keys[label]: counts for label, counts in values.items()}
                for column, values in self.values.items()
            },
            manifest.named("quasi-identifier"),
            any_=promises.missing == "matches-any",
            population=promises.population,
            hierarchies=promises.hierarchies,
        )


def _people(counted: Counted) -> _People:
    keys: dict[str, Key] = {}
    sizes: dict[str, int] = {}
    wrong: list[str] = []
    labels: dict[Key, str] = {}
    for (given, *cells), rows in counted.combinations.items():
        label, key = label_of(given), tuple(cells)
        if label in keys and keys[label] != key:
            wrong.append(f"group {label} has different quasi-identifiers")
        if labels.setdefault(key, label) != label:
            wrong.append(f"groups {labels[key]} and {label} have the same quasi-identifiers")
        keys.setdefault(label, key)
        sizes[label] = sizes.get(label, 0) + rows
    if len(wrong) > 1:
        wrong = [f"{wrong[0]}, and so on: {len(wrong)} times"]
    return _People(keys, sizes, counted.rows, tuple(wrong))


def values_of(counted: Counted, name: str) -> tuple[Values, list[str]]:
    """Count the values of each group, and name what stands there twice."""
    found: Values = {}
    twice: list[str] = []
    # The same labels and numbers come again and again; each is read once.
    groups: dict[object, dict[object, int]] = {}
    numbers: dict[object, int] = {}
    for (given, value, number), times in counted.combinations.items():
        counts = groups.get(given)
        if counts is None:
            counts = groups[given] = found.setdefault(label_of(given), {})
        people = numbers.get(number)
        if people is None:
            people = numbers[number] = number_of_people(number, name)
        if times > 1 or value in counts:
            twice.append(f"{value!r} in group {label_of(given)} of {name}")
        counts[value] = counts.get(value, 0) + people
    return found, twice


def label_of(given: object) -> str:
    """Give the label of a group as it is written; every row has one."""
    if given is None:
        raise InputError("a row has no group")
    return text_of(given)


def number_of_people(given: object, name: str) -> int:
    """Read a count: a whole number of people, at least one."""
    text = text_of(given) if given is not None else ""
    if not (text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS and int(text) > 0):
        raise InputError(f"{name} counts {text[:40]!r} people")
    return int(text)
