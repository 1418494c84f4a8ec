"""Verify a sliced release: that its slices belong together, and how diverse its buckets are.

In every bucket, the sub-tuples of the sensitive slice that are alike in what others may know are
a class, and each has to be diverse. What a person's buckets say together is an average of what
each of them says, and an average of diverse distributions is diverse in each of the forms that
can be promised. So it holds for everybody, in the data or not, whatever bucket they are in.
"""

from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import NamedTuple

from sfumato.errors import some
from sfumato.verifier.broken import label_of, number_of_people
from sfumato.verifier.counting import count
from sfumato.verifier.database import Relation
from sfumato.verifier.groups import Groups, Key
from sfumato.verifier.manifest import DataFile, Manifest
from sfumato.verifier.promises import Promises
from sfumato.verifier.reading import Source, readable
from sfumato.verifier.recompute import check_model
from sfumato.verifier.verdict import Check, status

_MODELS = ("probabilistic-l-diversity", "entropy-l-diversity", "recursive-cl-diversity")
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
    return [*checks, *_diversity(slices, manifest, promises)]


def _columns_check(sources: Mapping[str, Source | Relation], manifest: Manifest) -> Check:
    details = [
        f"{file.name} has the columns {some(sources[file.name].names)}"
        for file in manifest.files
        if sorted(sources[file.name].names) != sorted(_columns_of(file, manifest))
    ]
    return Check("columns", status(holds=not details), detail="; ".join(details))


def _columns_of(file: DataFile, manifest: Manifest) -> list[str]:
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
            counted = count(source, _columns_of(file, manifest))
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


def _diversity(slices: list[_Slice], manifest: Manifest, promises: Promises) -> list[Check]:
    """Recompute l-diversity; a release that does not promise it is not what its kind says."""
    [column] = manifest.named("sensitive")
    [held] = [each for each in slices if column in each.file.columns]
    classes = _classes(held, column, manifest.group)
    fit = [model for model in promises.models if model.get("model") in _MODELS]
    checks = [check_model(model, classes) for model in fit]
    checks += [
        Check(str(model.get("model")), "unchecked", detail="buckets are not people who look alike")
        for model in promises.models
        if model not in fit
    ]
    if not any(model.get("column") == column for model in fit):
        detail = (
            f"a release of kind {manifest.kind!r} promises one of {some(_MODELS)} "
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
