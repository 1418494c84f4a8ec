"""Verify an anatomised release: that its two tables belong together, and how diverse buckets are.

Buckets are formed anew: their sizes from the table of quasi-identifiers, their values from the
sensitive table. Nothing is joined, and quasi-identifiers are not looked at: they are exact.
"""

from collections.abc import Mapping
from typing import NamedTuple

from sfumato.errors import some
from sfumato.verifier.broken import (
    Values,
    broken_shape,
    columns_check,
    label_of,
    values_of,
)
from sfumato.verifier.counting import count
from sfumato.verifier.database import Relation
from sfumato.verifier.groups import Groups
from sfumato.verifier.manifest import Manifest
from sfumato.verifier.promises import Promises
from sfumato.verifier.reading import Source, readable
from sfumato.verifier.recompute import check_model
from sfumato.verifier.verdict import Check, status

_MODELS = ("distinct-l-diversity", "probabilistic-l-diversity")
"""What a bucket can keep. Others speak of people who look alike, and those are not a bucket."""


def anatomy_shape(manifest: Manifest) -> Check:
    """Hold the parts of a manifest against each other."""
    found = broken_shape(manifest)
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
    tables = _Tables.read(sources, manifest)
    checks += [tables.rows_check(manifest), tables.buckets_check(), tables.counts_check()]
    if any(check.status != "holds" for check in checks[-2:]):
        detail = "the tables do not belong together, so no bucket can be judged"
        return [*checks, Check("models", "unchecked", detail=detail)]
    return [*checks, *_diversity(tables.groups(manifest), manifest, promises)]


class _Tables(NamedTuple):
    """Both tables, counted."""

    sizes: dict[str, int]
    """How many people each bucket has in the table of quasi-identifiers."""

    values: Values
    rows: dict[str, int]
    """Per file."""

    repeated: tuple[str, ...]

    @classmethod
    def read(cls, sources: Mapping[str, Source | Relation], manifest: Manifest) -> "_Tables":
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
