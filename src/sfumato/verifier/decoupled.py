"""Verify a release in several tables: that they belong together, and what they keep.

The classes are formed anew: their sizes from the table of quasi-identifiers, their values
from the table of each sensitive column. Nothing is joined.
"""

from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import NamedTuple

from sfumato.errors import InputError, some
from sfumato.text import text_of
from sfumato.verifier.counting import Counted, Relation, count
from sfumato.verifier.groups import Groups, Key
from sfumato.verifier.manifest import DataFile, Manifest
from sfumato.verifier.models import check_model, judge
from sfumato.verifier.promises import Check, Promises, status
from sfumato.verifier.reading import Source, readable

Values = dict[str, dict[object, int]]
"""Per label of a group, how many of its people have each value."""

_MOST_DIGITS = 15


def decoupled_shape(manifest: Manifest) -> Check:
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


def decoupled_checks(
    sources: Mapping[str, Source | Relation], manifest: Manifest, promises: Promises
) -> list[Check]:
    """Recompute what tables linked by group keep."""
    checks = [columns_check(sources, manifest)]
    if checks[-1].status != "holds":
        return checks
    tables = _GroupedTables.read(sources, manifest)
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


class _GroupedTables(NamedTuple):
    """All tables, counted, and what is wrong with them."""

    people: _People
    values: dict[str, Values]
    """Per sensitive column."""

    rows: dict[str, int]
    """Per file."""

    repeated: tuple[str, ...]

    @classmethod
    def read(cls, sources: Mapping[str, Source | Relation], manifest: Manifest) -> "_GroupedTables":
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


# Verify an anatomised release: that its two tables belong together, and how diverse buckets are.
#
# Buckets are formed anew: their sizes from the table of quasi-identifiers, their values from the
# sensitive table. Nothing is joined, and quasi-identifiers are not looked at: they are exact.


_MODELS = ("distinct-l-diversity", "probabilistic-l-diversity")
"""What a bucket can keep. Others speak of people who look alike, and those are not a bucket."""


def anatomy_shape(manifest: Manifest) -> Check:
    """Hold the parts of a manifest against each other."""
    found = decoupled_shape(manifest)
    several = len(manifest.named("sensitive")) != 1
    if found.status == "holds" and several:
        detail = "buckets are diverse in one sensitive column, and it names another number of them"
        return Check("manifest", "broken", detail=detail)
    return found


def anatomy_checks(
    sources: Mapping[str, Source | Relation], manifest: Manifest, promises: Promises
) -> list[Check]:
    """Recompute what both tables keep."""
    checks = [columns_check(sources, manifest)]
    if checks[-1].status != "holds":
        return checks
    tables = _AnatomyTables.read(sources, manifest)
    checks += [tables.rows_check(manifest), tables.buckets_check(), tables.counts_check()]
    if any(check.status != "holds" for check in checks[-2:]):
        detail = "the tables do not belong together, so no bucket can be judged"
        return [*checks, Check("models", "unchecked", detail=detail)]
    return [*checks, *_diversity(tables.groups(manifest), manifest, promises)]


class _AnatomyTables(NamedTuple):
    """Both tables, counted."""

    sizes: dict[str, int]
    """How many people each bucket has in the table of quasi-identifiers."""

    values: Values
    rows: dict[str, int]
    """Per file."""

    repeated: tuple[str, ...]

    @classmethod
    def read(cls, sources: Mapping[str, Source | Relation], manifest: Manifest) -> "_AnatomyTables":
        [people] = [file for file in manifest.files if file.table == "qi"]
        [sensitive] = [file for file in manifest.files if file.table == "sensitive"]
        with readable(people.name):
            who = count(sources[people.name], [manifest.group])
        with readable(sensitive.name):
            names = [manifest.group, str(sensitive.column), manifest.count]
            what = count(sources[sensitive.name], names)
        sizes: dict[str, int] = {}
        for (given,), rows in who.combinations.items():
            label = label_of(given)
            sizes[label] = sizes.get(label, 0) + rows
        values, repeated = values_of(what, sensitive.name)
        rows_of = {people.name: who.rows, sensitive.name: what.rows}
        return cls(sizes, values, rows_of, tuple(repeated))

    def rows_check(self, manifest: Manifest) -> Check:
        wrong = [file.name for file in manifest.files if self.rows[file.name] != file.rows]
        detail = f"not the number of rows the manifest says: {some(wrong)}" if wrong else ""
        people = sum(self.sizes.values())
        good = status(holds=not wrong and people == manifest.published)
        return Check("rows", good, manifest.published, people, detail)

    def buckets_check(self) -> Check:
        """Look whether both tables have the same buckets."""
        strange = [label for label in self.values if label not in self.sizes]
        absent = [label for label in self.sizes if label not in self.values]
        details = [f"buckets in which nobody is: {some(strange)}"] if strange else []
        details += [f"buckets without a sensitive value: {some(absent)}"] if absent else []
        return Check("buckets", status(holds=not details), detail="; ".join(details))

    def counts_check(self) -> Check:
        """Look whether the counts of every bucket add up to the people in it."""
        details = [f"values that stand there twice: {some(self.repeated)}"] * bool(self.repeated)
        wrong = [
            f"{sum(counts.values())} of {self.sizes[label]}"
            for label, counts in self.values.items()
            if label in self.sizes and sum(counts.values()) != self.sizes[label]
        ]
        if wrong:
            details.append(f"{len(wrong)} buckets do not add up, for example {wrong[0]}")
        return Check("counts", status(holds=not details), detail="; ".join(details))

    def groups(self, manifest: Manifest) -> Groups:
        """Take buckets for classes; call it only when they agree and add up."""
        [column] = manifest.named("sensitive")
        return Groups.broken(
            {(label,): rows for label, rows in self.sizes.items()},
            {column: {(label,): counts for label, counts in self.values.items()}},
            [manifest.group],
        )


def _diversity(buckets: Groups, manifest: Manifest, promises: Promises) -> list[Check]:
    """Recompute l-diversity; a release that promises none of it is not what its kind says."""
    unfit = [str(model.get("model")) for model in promises.models if not _fits(model)]
    checks = [check_model(model, buckets) for model in promises.models if _fits(model)]
    checks += [
        Check(name, "unchecked", detail="buckets are not people who look alike") for name in unfit
    ]
    promised = {str(model.get("model")) for model in promises.models}
    lacking = [name for name in _MODELS if name not in promised]
    if lacking:
        detail = f"a release of kind {manifest.kind!r} promises {some(lacking)}, and this does not"
        checks.append(Check("models", "broken", detail=detail))
    return checks


def _fits(model: Mapping[str, object]) -> bool:
    return model.get("model") in _MODELS


# Verify a sliced release: that its slices belong together, and how diverse its buckets are.
#
# In every bucket, the sub-tuples of the sensitive slice that are alike in what others may know
# are a class, and each has to be diverse. What a person's buckets say together is an average of
# what each of them says, and an average of diverse distributions is diverse in each of the forms
# that can be promised. So it holds for everybody, in the data or not, whatever bucket they are
# in.


_SLICED_MODELS = ("probabilistic-l-diversity", "entropy-l-diversity", "recursive-cl-diversity")
"""What a sliced table can keep. Other models speak of people who look alike in everything."""

Cells = dict[str, dict[Key, int]]
"""Per bucket, how many people have each sub-tuple."""


def sliced_shape(manifest: Manifest) -> Check:
    """Hold the parts of a manifest against each other."""
    names = [column.name for column in manifest.columns]
    sensitive = manifest.named("sensitive")
    held = [name for file in manifest.files for name in file.columns]
    unfit = [c.name for c in manifest.columns if c.role not in ("quasi-identifier", "sensitive")]
    repeated = [f.name for f in manifest.files if len(set(f.columns)) < len(f.columns)]
    faults = {
        "some of its tables are no slices": any(f.table != "slice" for f in manifest.files),
        "one slice alone has whole rows": len(manifest.files) <= 1,
        "it does not name one sensitive column": len(sensitive) != 1,
        f"columns that have no role in slices: {some(unfit)}": unfit,
        f"a slice names a column twice: {some(repeated)}": repeated,
        "its slices hold other columns than it names": set(held) != set(names),
        "the sensitive column is not in exactly one slice": any(
            held.count(s) != 1 for s in sensitive
        ),
        "the linking column or the counts have the name of another column": (
            manifest.group in names or manifest.count in (*names, manifest.group)
        ),
        "starred rows cannot be in such a release": manifest.suppression != "remove",
    }
    detail = next((fault for fault, found in faults.items() if found), "")
    return Check("manifest", status(holds=not detail), detail=detail)


def sliced_checks(
    sources: Mapping[str, Source | Relation], manifest: Manifest, promises: Promises
) -> list[Check]:
    """Recompute what slices keep."""
    checks = [_columns_check(sources, manifest)]
    if checks[-1].status != "holds":
        return checks
    slices = [_Slice.read(file, sources[file.name], manifest) for file in manifest.files]
    checks += [_rows_check(slices, manifest), _buckets_check(slices), _overlap_check(slices)]
    if any(check.status != "holds" for check in checks[-2:]):
        detail = "the slices do not belong together, so no bucket can be judged"
        return [*checks, Check("models", "unchecked", detail=detail)]
    return [*checks, *_sliced_diversity(slices, manifest, promises)]


def _columns_check(sources: Mapping[str, Source | Relation], manifest: Manifest) -> Check:
    details = [
        f"{file.name} has the columns {some(sources[file.name].names)}"
        for file in manifest.files
        if sorted(sources[file.name].names) != sorted(_sliced_columns_of(file, manifest))
    ]
    return Check("columns", status(holds=not details), detail="; ".join(details))


def _sliced_columns_of(file: DataFile, manifest: Manifest) -> list[str]:
    return [manifest.group, *file.columns, manifest.count]


class _Slice(NamedTuple):
    """One table, counted."""

    file: DataFile
    cells: Cells
    rows: int
    repeated: tuple[str, ...]

    @classmethod
    def read(cls, file: DataFile, source: Source | Relation, manifest: Manifest) -> "_Slice":
        with readable(file.name):
            counted = count(source, _sliced_columns_of(file, manifest))
        cells: Cells = {}
        repeated = []
        for (label, *values, number), times in counted.combinations.items():
            bucket = cells.setdefault(label_of(label), {})
            key = tuple(values)
            if times > 1 or key in bucket:
                repeated.append(f"{values!r} in bucket {label_of(label)} of {file.name}")
            bucket[key] = bucket.get(key, 0) + number_of_people(number, file.name)
        return cls(file, cells, counted.rows, tuple(repeated))

    def sizes(self) -> dict[str, int]:
        return {label: sum(bucket.values()) for label, bucket in self.cells.items()}

    def over(self, names: list[str]) -> Cells:
        """Count over fewer columns."""
        at = [self.file.columns.index(name) for name in names]
        found: Cells = {}
        for label, bucket in self.cells.items():
            fewer = found.setdefault(label, {})
            for key, people in bucket.items():
                short = tuple(key[i] for i in at)
                fewer[short] = fewer.get(short, 0) + people
        return found


def _rows_check(slices: list[_Slice], manifest: Manifest) -> Check:
    wrong = [each.file.name for each in slices if each.rows != each.file.rows]
    people = sum(slices[0].sizes().values())
    detail = f"not the number of rows the manifest says: {some(wrong)}" if wrong else ""
    good = status(holds=not wrong and people == manifest.published)
    return Check("rows", good, manifest.published, people, detail)


def _buckets_check(slices: list[_Slice]) -> Check:
    """Look whether all slices have the same buckets, and equally many people in each."""
    twice = [text for each in slices for text in each.repeated]
    details = [f"values that stand there twice: {some(twice)}"] if twice else []
    first = slices[0]
    for other in slices[1:]:
        one, two = first.sizes(), other.sizes()
        wrong = [label for label in {**one, **two} if one.get(label) != two.get(label)]
        if wrong:
            names = f"{first.file.name} and {other.file.name}"
            details.append(f"{names} do not have the same people in {some(wrong)}")
    return Check("buckets", status(holds=not details), detail="; ".join(details))


def _overlap_check(slices: list[_Slice]) -> Check:
    """Look whether columns that stand in two slices say the same in both."""
    details = []
    for one, other in combinations(slices, 2):
        shared = [name for name in one.file.columns if name in other.file.columns]
        if shared and one.over(shared) != other.over(shared):
            names = f"{one.file.name} and {other.file.name}"
            details.append(f"{names} do not agree on {some(shared)}")
    return Check("overlap", status(holds=not details), detail="; ".join(details))


def _sliced_diversity(slices: list[_Slice], manifest: Manifest, promises: Promises) -> list[Check]:
    """Recompute l-diversity; a release that does not promise it is not what its kind says."""
    [column] = manifest.named("sensitive")
    [held] = [each for each in slices if column in each.file.columns]
    classes = _classes(held, column, manifest.group)
    fit = [model for model in promises.models if model.get("model") in _SLICED_MODELS]
    checks = [check_model(model, classes) for model in fit]
    checks += [
        Check(str(model.get("model")), "unchecked", detail="buckets are not people who look alike")
        for model in promises.models
        if model not in fit
    ]
    if not any(model.get("column") == column for model in fit):
        detail = (
            f"a release of kind {manifest.kind!r} promises one of {some(_SLICED_MODELS)} "
            f"for {column!r}, and this does not"
        )
        checks.append(Check("models", "broken", detail=detail))
    return checks


def _classes(held: _Slice, column: str, group: str) -> Groups:
    """Form the classes of every bucket: sub-tuples that are alike but for the sensitive value."""
    values: dict[Key, dict[object, int]] = {}
    for key, value, people in _cells(held, column):
        counts = values.setdefault(key, {})
        counts[value] = counts.get(value, 0) + people
    sizes = {key: sum(counts.values()) for key, counts in values.items()}
    known = [name for name in held.file.columns if name != column]
    return Groups.broken(sizes, {column: values}, [group, *known])


def _cells(held: _Slice, column: str) -> Iterator[tuple[Key, object, int]]:
    at = held.file.columns.index(column)
    for label, bucket in held.cells.items():
        for key, people in bucket.items():
            yield (label, *key[:at], *key[at + 1 :]), key[at], people
