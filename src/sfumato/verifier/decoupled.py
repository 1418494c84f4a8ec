"""Verify a release in several tables: that they belong together, and what they keep.

Groups and buckets are formed again from the published tables: their sizes from the table of
quasi-identifiers, their values from the table of each sensitive column or from the slices. Nothing
is joined. `KINDS`, at the end, says which functions verify which kind; a new kind is one entry.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import NamedTuple

from sfumato.errors import InputError, some
from sfumato.text import STAR, text_of
from sfumato.verifier.counting import Countable, Counts, count, readable, text_key
from sfumato.verifier.models import (
    Key,
    ModelGroups,
    check_figures,
    check_model,
    judge,
    recompute,
    split,
)
from sfumato.verifier.noisy import check_noisy
from sfumato.verifier.promises import (
    ANATOMY,
    BREAK_MERGE,
    BUCKETIZATION,
    HIDING,
    KINDS,
    NOISY,
    SLICING,
    Check,
    ClaimedManifest,
    DataFile,
    Promises,
    VerifiedKind,
    joint_name,
    kind_named,
    status,
)
from sfumato.verifier.spelling import folded_text
from sfumato.verifier.worlds import SlicedTables, as_whole_numbers

Values = dict[str, dict[object, int]]
"""Per label of a group or bucket, how many of its people have each value."""

_MOST_DIGITS = 15


# Checks that all kinds share.


def _shape_check(manifest: ClaimedManifest, faults: Mapping[str, object]) -> Check:
    """Check the parts of a manifest against each other: the first fault that is true counts."""
    names = [column.name for column in manifest.columns]
    roles = ("quasi-identifier", "sensitive", *_PLAIN)
    unfit = [c.name for c in manifest.columns if c.role not in roles]
    all_faults = {
        **faults,
        "it names no quasi-identifier": not manifest.with_role("quasi-identifier"),
        f"columns that tie the tables together: {some(unfit)}": unfit,
        "the linking column or the counts have the name of another column": (
            manifest.kind != HIDING
            and (manifest.group in names or manifest.count in (*names, manifest.group))
        ),
        "starred rows cannot be in such a release": manifest.suppression != "remove",
    }
    detail = next((fault for fault, found in all_faults.items() if found), "")
    return Check("manifest", status(holds=not detail), detail=detail)


_PLAIN = ("plain", "weight")
"""Roles of columns that are published as they are, beside the quasi-identifiers."""


def _columns_of(file: DataFile, manifest: ClaimedManifest) -> list[str]:
    apart = {name for names in manifest.together for name in names}
    plain = [c.name for c in manifest.columns if c.role in _PLAIN and c.name not in apart]
    if file.table == "rows":
        return [*manifest.with_role("quasi-identifier"), *plain, *manifest.with_role("sensitive")]
    if file.table == "qi":
        return [manifest.group, *manifest.with_role("quasi-identifier"), *plain]
    columns = file.columns or (str(file.column),)
    if file.table == NOISY:
        return [*columns, manifest.count]
    return [manifest.group, *columns, manifest.count]


def _columns_check(sources: Mapping[str, Countable], manifest: ClaimedManifest) -> Check:
    """Check that every table has its columns, and no others."""
    details = []
    for file in manifest.files:
        promised, found = _columns_of(file, manifest), sources[file.name].names
        added = [name for name in found if name not in promised]
        lacking = [name for name in promised if name not in found]
        details += [f"not in the manifest: {some(added)} in {file.name}"] if added else []
        details += [f"not in {file.name}: {some(lacking)}"] if lacking else []
    return Check("columns", status(holds=not details), detail="; ".join(details))


def _rows_check(manifest: ClaimedManifest, rows: Mapping[str, int], people: int) -> Check:
    """Check the rows of every file, and the people of the release."""
    wrong = [file.name for file in manifest.linked_files if rows[file.name] != file.rows]
    detail = f"not the number of rows the manifest says: {some(wrong)}" if wrong else ""
    good = status(holds=not wrong and people == manifest.published)
    return Check("rows", good, manifest.published, people, detail)


def _count_values(
    counts: Counts, name: str, width: int, word: str, *, several: bool
) -> tuple[Values, list[str]]:
    """Count the values of each group (tuples of values, if several), and list repeated ones."""
    found: Values = {}
    repeated: list[str] = []
    if not counts.combinations:
        return found, repeated
    # The same labels and numbers come again and again; each is read once.
    keys, key_of, others, rows = split(counts.combinations, 1, width - 1)
    labels = [_label_of(given) for (given,) in keys]
    of_key = [found.setdefault(label, {}) for label in labels]
    *cells, (numbers, number_of) = others
    columns = [[values[code] for code in codes] for values, codes in cells]
    told: Iterable[object] = zip(*columns, strict=True) if several else columns[0]
    people: dict[object, int] = {}
    for at, value, number, times in zip(key_of, told, number_of, rows, strict=True):
        given = numbers[number]
        if given not in people:
            people[given] = _number_of_people(given, name)
        values = of_key[at]
        if times > 1 or value in values:
            repeated.append(f"{value!r} in {word} {labels[at]} of {name}")
        values[value] = values.get(value, 0) + people[given]
    return found, repeated


def _join_values(values: Values, names: Sequence[str], exact: Sequence[str]) -> Values:
    """Return combinations as one value each; it is missing only if all of it is.

    Spellings are taken for one column by column, so nothing is left to fold.
    """
    found: Values = {}
    for label, counts in values.items():
        added = found.setdefault(label, {})
        for key, people in counts.items():
            cells = key if isinstance(key, tuple) else (key,)
            texts = tuple(
                None if cell is None else text_of(cell) if name in exact else _fold(cell)
                for name, cell in zip(names, cells, strict=True)
            )
            whole = None if all(text is None for text in texts) else repr(texts)
            added[whole] = added.get(whole, 0) + people
    return found


def _fold(cell: object) -> str | None:
    return folded_text(text_of(cell)) or None


def _over(values: Values, at: int) -> Values:
    """Return how many people have each value in one of several columns."""
    found: Values = {}
    for label, counts in values.items():
        added = found.setdefault(label, {})
        for key, people in counts.items():
            value = key[at] if isinstance(key, tuple) else key
            added[value] = added.get(value, 0) + people
    return found


def _with_joints(promises: Promises, manifest: ClaimedManifest) -> Promises:
    """Return promises by which combinations are different values as they are written."""
    joints = map(joint_name, manifest.together)
    return replace(promises, exact=(*promises.exact, *joints))


def _repeated_details(repeated: Iterable[str]) -> list[str]:
    found = list(repeated)
    return [f"values that stand there twice: {some(found)}"] if found else []


def _label_of(given: object) -> str:
    """Return the label of a group as it is written; every row has one."""
    if given is None:
        raise InputError("a row has no group")
    return text_of(given)


def _number_of_people(given: object, name: str) -> int:
    """Read a count: a whole number of people, at least one."""
    text = text_of(given) if given is not None else ""
    if not (text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS and int(text) > 0):
        raise InputError(f"{name} counts {text[:40]!r} people")
    return int(text)


# Break-Merge and anatomy: a table of quasi-identifiers, and one for each sensitive column.


class _LinkedTables(NamedTuple):
    """All tables, counted, and what is wrong with them."""

    word: str
    """What links them: a group or a bucket."""

    keys: dict[str, Key]
    """Per label, what its class is known by."""

    sizes: dict[str, int]
    """Per label, its people in the table of quasi-identifiers."""

    values: dict[str, Values]
    """Per sensitive column."""

    rows: dict[str, int]
    """Per file."""

    wrong: list[str]
    repeated: list[str]

    @classmethod
    def read(
        cls,
        sources: Mapping[str, Countable],
        manifest: ClaimedManifest,
        promises: Promises,
        word: str,
    ) -> "_LinkedTables":
        tables = cls(word, {}, {}, {}, {}, [], [])
        for file in manifest.linked_files:
            columns = _columns_of(file, manifest)
            if file.table == "qi":
                # Exact quasi-identifiers make no class, and plain columns never do.
                known = () if word == "bucket" else manifest.with_role("quasi-identifier")
                columns = [manifest.group, *known]
            with readable(file.name):
                counts = count(sources[file.name], columns)
            tables.rows[file.name] = counts.rows
            if file.table == "qi":
                tables._add_people(counts, in_cells=manifest.increment)
            else:
                several = bool(file.columns)
                values, repeated = _count_values(
                    counts, file.name, len(columns), word, several=several
                )
                tables.repeated.extend(repeated)
                tables.values[file.secret] = values
                if several:
                    tables.values[file.secret] = _join_values(values, file.columns, promises.exact)
                    secret = manifest.with_role("sensitive")
                    for at, name in enumerate(file.columns):
                        if name in secret:
                            tables.values[name] = _over(values, at)
        return tables

    def _add_people(self, counts: Counts, *, in_cells: bool) -> None:
        """Count the people of each label.

        Those who joined a group in another release of a ledger have a label of their own.
        """
        if self.word == "bucket" and not in_cells:
            # Its label is all that a bucket is known by.
            for (given,), rows in counts.combinations.items():
                label = _label_of(given)
                self.keys[label] = (label,)
                self.sizes[label] = self.sizes.get(label, 0) + rows
            return
        labels: dict[Key, str] = {}
        wrong = []
        for (given, *cells), rows in counts.combinations.items():
            label = _label_of(given)
            key = tuple(cells) if self.word == "group" else (label,)
            key = (*key, label) if in_cells else key
            if self.keys.setdefault(label, key) != key:
                wrong.append(f"group {label} has different quasi-identifiers")
            if labels.setdefault(key, label) != label:
                wrong.append(f"groups {labels[key]} and {label} have the same quasi-identifiers")
            self.sizes[label] = self.sizes.get(label, 0) + rows
        more = f", and so on: {len(wrong)} times" if len(wrong) > 1 else ""
        self.wrong.extend(first + more for first in wrong[:1])

    def checks(self, manifest: ClaimedManifest) -> list[Check]:
        """Check that rows, groups and counts fit together."""
        people = sum(self.sizes.values())
        return [
            _rows_check(manifest, self.rows, people),
            self._labels_check(),
            self._counts_check(),
            *([self._left_check(manifest)] if manifest.left else []),
        ]

    def _left_check(self, manifest: ClaimedManifest) -> Check:
        """Check that no more people of a group are said to have left than it has."""
        people: dict[tuple[str | None, ...], int] = {}
        for label, key in self.keys.items():
            labels = tuple(None if each is None else text_of(each) for each in key[:-1])
            people[labels] = people.get(labels, 0) + self.sizes[label]
        named = [labels for labels, _ in manifest.left]
        details = [
            f"{left} of {people.get(labels, 0)} people of {some(labels)} are said to have left"
            for labels, left in manifest.left
            if left > people.get(labels, 0) or named.count(labels) > 1
        ]
        return Check("left", status(holds=not details), detail="; ".join(details[:1]))

    def _labels_check(self) -> Check:
        """Check that all tables have the same groups, and that each is one class."""
        details = list(self.wrong)
        for column, values in self.values.items():
            strange = [label for label in values if label not in self.sizes]
            absent = [label for label in self.sizes if label not in values]
            for which, labels in (("only", strange), ("not", absent)):
                if labels:
                    details.append(f"{self.word}s that are {which} in {column!r}: {some(labels)}")
        return Check(f"{self.word}s", status(holds=not details), detail="; ".join(details))

    def _counts_check(self) -> Check:
        """Check that the counts of every sensitive column add up to the sizes of the groups."""
        details = _repeated_details(self.repeated)
        for column, values in self.values.items():
            wrong = [
                f"{people} of {self.sizes[label]}"
                for label, counts in values.items()
                if label in self.sizes and (people := sum(counts.values())) != self.sizes[label]
            ]
            if wrong:
                where = f"{len(wrong)} {self.word}s, for example {wrong[0]}"
                details.append(f"{column!r} does not add up in {where}")
        return Check("counts", status(holds=not details), detail="; ".join(details))

    def classes(
        self, names: list[str], promises: Promises | None = None, *, exact: Sequence[str] = ()
    ) -> ModelGroups:
        """Form the classes; call it only when groups and counts are in order."""
        sizes = {self.keys[label]: rows for label, rows in self.sizes.items()}
        values = {
            column: {self.keys[label]: counts for label, counts in of_label.items()}
            for column, of_label in self.values.items()
        }
        return ModelGroups.from_parts(sizes, values, names, promises, exact=exact)


def _together_faults(manifest: ClaimedManifest) -> dict[str, object]:
    """Return what is wrong with the columns that are said to stay together."""
    secret = manifest.with_role("sensitive")
    known = {*secret, *(c.name for c in manifest.columns if c.role in _PLAIN)}
    strange = [name for names in manifest.together for name in names if name not in known]
    harmless = [names for names in manifest.together if not {*names} & {*secret}]
    names = {column.name for column in manifest.columns}
    taken = [each for each in map(joint_name, manifest.together) if each in names]
    return {
        f"columns that cannot stay together: {some(strange)}": strange,
        "columns that stay together, and none of them is sensitive": harmless,
        f"columns that have the name of several together: {some(taken)}": taken,
    }


def _break_merge_shape(manifest: ClaimedManifest) -> Check:
    people = [file for file in manifest.files if file.table == "qi"]
    tables = [
        file.columns or (str(file.column),) for file in manifest.linked_files if file.table != "qi"
    ]
    known = manifest.with_role("quasi-identifier")
    noisy = sorted(file.columns for file in manifest.files if file.table == NOISY)
    counted = sorted([known, *((*known, *names) for names in tables)])
    joined = {name for names in manifest.together for name in names}
    wanted = [(name,) for name in manifest.with_role("sensitive") if name not in joined]
    rows = people[0].rows if people else 0
    faults = {
        f"it names {len(people)} tables of quasi-identifiers instead of one": len(people) != 1,
        "it does not name exactly one table for each sensitive column": (
            sorted(tables) != sorted([*wanted, *manifest.together])
        ),
        **_together_faults(manifest),
        f"it speaks of {manifest.published} rows and of {rows} in the file": (
            rows != manifest.published
        ),
        "its noisy counts are not those of groups, and of these by each sensitive column": (
            noisy != (counted if manifest.synthetic is not None else [])
        ),
    }
    return _shape_check(manifest, faults)


def _break_merge_checks(
    sources: Mapping[str, Countable], manifest: ClaimedManifest, promises: Promises
) -> list[Check]:
    tables = _LinkedTables.read(sources, manifest, promises, "group")
    checks = tables.checks(manifest)
    noisy = [] if manifest.synthetic is None else check_noisy(sources, manifest)
    if any(check.status != "holds" for check in checks[1:]):
        detail = "the tables do not belong together, so no class can be judged"
        return [*checks, *noisy, Check("models", "unchecked", detail=detail)]
    names = list(manifest.with_role("quasi-identifier"))
    promises = _with_joints(promises, manifest)
    return [*checks, *judge(tables.classes(names, promises), promises), *noisy]


_BUCKET_MODELS = ("distinct-l-diversity", "probabilistic-l-diversity")
"""What a bucket can keep, and an anatomised release has to promise."""


def _anatomy_shape(manifest: ClaimedManifest) -> Check:
    found = _break_merge_shape(manifest)
    if found.status == "holds" and len(manifest.files) != 2:
        detail = "buckets are diverse in one sensitive column, and it names another number of them"
        return Check("manifest", "broken", detail=detail)
    return found


def _check_buckets(
    sources: Mapping[str, Countable],
    manifest: ClaimedManifest,
    promises: Promises,
    models: Sequence[Mapping[str, object]],
    lacking: str,
) -> list[Check]:
    """Recompute what buckets keep.

    Args:
        sources: The tables.
        manifest: What it says of them.
        promises: What is promised.
        models: The models that speak of buckets; others speak of people who look alike.
        lacking: What such a release has to promise and does not; empty if it does.
    """
    tables = _LinkedTables.read(sources, manifest, promises, "bucket")
    checks = tables.checks(manifest)
    if any(check.status != "holds" for check in checks[1:]):
        detail = "the tables do not belong together, so no bucket can be judged"
        return [*checks, Check("models", "unchecked", detail=detail)]
    promises = _with_joints(promises, manifest)
    checks += check_figures(list(tables.sizes.values()), promises)
    buckets = tables.classes([manifest.group], promises)
    checks += [check_model(model, buckets) for model in models]
    checks += [
        Check(str(model.get("model")), "unchecked", detail="buckets are not people who look alike")
        for model in promises.models
        if model not in models
    ]
    if lacking:
        detail = f"a release of kind {manifest.kind!r} promises {lacking}, and this does not"
        checks.append(Check("models", "broken", detail=detail))
    return checks


def _anatomy_checks(
    sources: Mapping[str, Countable], manifest: ClaimedManifest, promises: Promises
) -> list[Check]:
    [column] = [file.secret for file in manifest.files if file.table == "sensitive"]
    fit = [model for model in promises.models if model.get("model") in _BUCKET_MODELS]
    promised = {model.get("model") for model in fit if model.get("column") == column}
    lacking = [name for name in _BUCKET_MODELS if name not in promised]
    told = some(lacking) if lacking else ""
    return _check_buckets(sources, manifest, promises, fit, told)


def _bucketized_checks(
    sources: Mapping[str, Countable], manifest: ClaimedManifest, promises: Promises
) -> list[Check]:
    [column] = [file.secret for file in manifest.files if file.table == "sensitive"]
    names = (column, *manifest.with_role("sensitive"))
    fit = [model for model in promises.models if model.get("column") in names]
    told = "" if fit else f"a model that looks at {column!r}"
    return _check_buckets(sources, manifest, promises, fit, told)


# Slicing. In every bucket, the sub-tuples of the sensitive slice that are alike in what others may
# know are a class, and each has to be diverse. What a person's buckets say together is an average
# of what each of them says, and an average of diverse distributions is diverse in each of the forms
# that can be promised. So it holds for every person, in the data or not, whatever their bucket.
#
# A release may promise less: that what a person's buckets say together is diverse. If every class
# is, that holds as well. If not, it depends on who the people are, which the slices do not tell.

_SLICE_MODELS = (
    "probabilistic-l-diversity",
    "entropy-l-diversity",
    "recursive-cl-diversity",
    "p-alpha-sensitive-k-anonymity",
    "enhanced-p-alpha-sensitive-k-anonymity",
)
"""What a sliced table can keep. Other models speak of people who look alike in everything."""

_SIZE = "bucket-size"
"""What it can keep without a sensitive column."""

_TOGETHER = ("worlds", "paper")
"""Checks of what several buckets say together."""


def _sliced_shape(manifest: ClaimedManifest) -> Check:
    sensitive = manifest.with_role("sensitive")
    contents = [name for file in manifest.files for name in file.columns]
    repeated = [f.name for f in manifest.files if len(set(f.columns)) < len(f.columns)]
    spread = [name for name in sensitive if contents.count(name) != 1]
    parted = [
        joint_name(names)
        for names in manifest.together
        if sum({*names} <= {*file.columns} for file in manifest.files) != 1
        or sum(bool({*names} & {*file.columns}) for file in manifest.files) != 1
    ]
    faults = {
        "some of its tables are no slices": any(f.table != "slice" for f in manifest.files),
        "one slice alone has whole rows": len(manifest.files) <= 1,
        f"a slice names a column twice: {some(repeated)}": repeated,
        "its slices hold other columns than it names": (
            set(contents) != {column.name for column in manifest.columns}
        ),
        f"sensitive columns are not in exactly one slice: {some(spread)}": spread,
        **_together_faults(manifest),
        f"columns do not stay together: {some(parted)}": parted,
    }
    return _shape_check(manifest, faults)


def _sliced_checks(
    sources: Mapping[str, Countable], manifest: ClaimedManifest, promises: Promises
) -> list[Check]:
    exact = promises.exact
    slices = [_Slice.read(file, sources[file.name], manifest, exact) for file in manifest.files]
    promises = _with_joints(promises, manifest)
    rows = {each.file.name: each.rows for each in slices}
    checks = [
        _rows_check(manifest, rows, sum(slices[0].sizes().values())),
        _buckets_check(slices),
        _overlap_check(slices),
    ]
    if any(check.status != "holds" for check in checks[1:]):
        detail = "the slices do not belong together, so no bucket can be judged"
        return [*checks, Check("models", "unchecked", detail=detail)]
    checks += check_figures(list(slices[0].sizes().values()), promises)
    whole = {name: joint_name(names) for names in manifest.together for name in names}
    secret = (whole.get(name, name) for name in manifest.with_role("sensitive"))
    sensitive = tuple(dict.fromkeys(secret))
    for model in promises.models:
        name, column = str(model.get("model")), str(model.get("column"))
        if name in _SLICE_MODELS and column in sensitive:
            checks.append(_sliced_model(model, slices, manifest, promises))
        elif name == _SIZE and not sensitive:
            checks.append(_size_check(model, slices))
        else:
            detail = "buckets are not people who look alike"
            checks.append(Check(name, "unchecked", detail=detail))
    promised = {m.get("column") for m in promises.models if m.get("model") in _SLICE_MODELS}
    lacking = [column for column in sensitive if column not in promised]
    if lacking:
        detail = (
            f"a release of kind {manifest.kind!r} promises one of {some(_SLICE_MODELS)} "
            f"for {some(lacking)}, and this does not"
        )
        checks.append(Check("models", "broken", detail=detail))
    return checks


def _size_check(model: Mapping[str, object], slices: "list[_Slice]") -> Check:
    """Check that every bucket has as many people as are promised, where nothing is sensitive."""
    promised, least = model.get("people"), min(slices[0].sizes().values())
    extra = [key for key in model if key not in ("model", "people", "measured")]
    if not isinstance(promised, int) or isinstance(promised, bool) or extra:
        return Check(_SIZE, "unchecked", detail="what is promised of buckets cannot be read")
    wrong = model.get("measured", {"people": least}) != {"people": least}
    detail = f"the smallest bucket has {least} people" if wrong else ""
    good = status(holds=least >= promised and not wrong)
    return Check(_SIZE, good, {"people": promised}, {"people": least}, detail)


def _sliced_model(
    model: Mapping[str, object],
    slices: "list[_Slice]",
    manifest: ClaimedManifest,
    promises: Promises,
) -> Check:
    """Recompute one promise: of every bucket by itself, or of a person's buckets together."""
    column = str(model["column"])
    [held] = [each for each in slices if column in each.file.columns]
    classes = held.classes(column, manifest.group, promises.exact)
    check, name = model.get("check"), str(model.get("model"))
    if check is None:
        return check_model(model, classes)
    plain = {key: value for key, value in model.items() if key != "check"}
    found = check_model(plain, classes)
    if check not in _TOGETHER or name not in _SLICE_MODELS[:3]:
        detail = f"this verifier does not know the check {str(check)[:40]!r}"
        return replace(found, status="unchecked", detail=detail)
    if found.status != "broken":
        return found
    if promises.population is None:
        detail = (
            "not every bucket keeps it by itself, and whether a person's buckets keep it together "
            "depends on who the people are: give the original table"
        )
        return replace(found, status="unchecked", detail=detail)
    return _check_together(plain, str(check), slices, promises) or found


def _check_together(
    model: Mapping[str, object], check: str, slices: "list[_Slice]", promises: Promises
) -> Check | None:
    """Recompute a promise for each person; None if slices overlap in a circle.

    Only people who match a bucket that breaks it are looked at: an average of diverse distributions
    is diverse.
    """
    column, exact = str(model["column"]), promises.exact
    cells = [each.texts() for each in slices]
    names = [each.file.columns for each in slices]
    tables = SlicedTables(names, cells, promises.quasi_identifiers, column)
    if tables.order is None:
        return None

    def keeps(values: dict[Key, dict[object, int]], labels: list[str]) -> Check:
        sizes = {key: sum(counts.values()) for key, counts in values.items()}
        return check_model(
            model, ModelGroups.from_parts(sizes, {column: values}, labels, exact=exact)
        )

    kept: dict[frozenset[tuple[object, int]], bool] = {}

    def is_doubtful(counts: Mapping[object, int]) -> bool:
        key = frozenset(counts.items())
        if key not in kept:
            kept[key] = keeps({("",): dict(counts)}, [""]).status == "holds"
        return not kept[key]

    doubtful = [
        person
        for person in promises.population or ()
        if any(is_doubtful(tables.values[crowd]) for crowd in tables.crowds(person))
    ]
    l = model.get("l")
    if check == "worlds" and model["model"] == _SLICE_MODELS[0] and isinstance(l, int | float):
        doubtful = [person for person in doubtful if not tables.is_surely_below(person, l)]
    ways = [tables.by_expectation, tables.by_certainty]
    if check == "paper":
        ways = [tables.by_paper]
    found = [
        keeps(
            {person: as_whole_numbers(way(person)) for person in doubtful},
            list(promises.quasi_identifiers),
        )
        for way in ways
        if doubtful
    ]
    wrong = [each for each in found if each.status != "holds"]
    if wrong or found:
        return (wrong or found)[0]
    return Check(str(model["model"]), "holds", detail="")


class _Slice(NamedTuple):
    """One table, counted."""

    file: DataFile
    cells: dict[str, dict[Key, int]]
    """Per bucket, how many people have each sub-tuple."""

    rows: int
    repeated: list[str]

    @classmethod
    def read(
        cls, file: DataFile, source: Countable, manifest: ClaimedManifest, exact: Sequence[str]
    ) -> "_Slice":
        with readable(file.name):
            columns = _columns_of(file, manifest)
            counts = count(source, columns)
        cells, repeated = _count_values(counts, file.name, len(columns), "bucket", several=True)
        found = cls(file, cells, counts.rows, repeated)  # type: ignore[arg-type]
        for names in manifest.together:
            if {*names} <= {*file.columns}:
                found = found._join(names, exact)
        return found

    def _join(self, names: Sequence[str], exact: Sequence[str]) -> "_Slice":
        """Return it with columns that stay together as one, the last."""
        at = [self.file.columns.index(name) for name in names]
        rest = [i for i in range(len(self.file.columns)) if i not in at]
        cells: dict[str, dict[Key, int]] = {}
        for label, bucket in self.cells.items():
            joined = cells.setdefault(label, {})
            parts = {tuple(key[i] for i in at): 0 for key in bucket}
            whole = {part: _join_values({"": {part: 1}}, names, exact)[""] for part in parts}
            for key, people in bucket.items():
                [value] = whole[tuple(key[i] for i in at)]
                short = (*(key[i] for i in rest), value)
                joined[short] = joined.get(short, 0) + people
        columns = (*(self.file.columns[i] for i in rest), joint_name(names))
        return self._replace(file=replace(self.file, columns=columns), cells=cells)

    def sizes(self) -> dict[str, int]:
        return {label: sum(bucket.values()) for label, bucket in self.cells.items()}

    def over(self, names: list[str]) -> dict[str, dict[Key, int]]:
        """Count over fewer columns."""
        at = [self.file.columns.index(name) for name in names]
        found: dict[str, dict[Key, int]] = {}
        for label, bucket in self.cells.items():
            fewer = found.setdefault(label, {})
            for key, people in bucket.items():
                short = tuple(key[i] for i in at)
                fewer[short] = fewer.get(short, 0) + people
        return found

    def texts(self) -> dict[str, dict[Key, int]]:
        """Return the cells with values as texts, by which people are compared with them."""
        found: dict[str, dict[Key, int]] = {}
        for label, bucket in self.cells.items():
            for key, people in bucket.items():
                cells, texts = found.setdefault(label, {}), text_key(key)
                cells[texts] = cells.get(texts, 0) + people
        return found

    def classes(self, column: str, group: str, exact: Sequence[str]) -> ModelGroups:
        """Form the classes of every bucket: sub-tuples alike but for the sensitive value."""
        at = self.file.columns.index(column)
        values: dict[Key, dict[object, int]] = {}
        for label, bucket in self.cells.items():
            for key, people in bucket.items():
                counts = values.setdefault((label, *key[:at], *key[at + 1 :]), {})
                counts[key[at]] = counts.get(key[at], 0) + people
        sizes = {key: sum(counts.values()) for key, counts in values.items()}
        others = [name for name in self.file.columns if name != column]
        return ModelGroups.from_parts(sizes, {column: values}, [group, *others], exact=exact)


def _buckets_check(slices: list[_Slice]) -> Check:
    """Check that all slices have the same buckets, and equally many people in each."""
    details = _repeated_details(text for each in slices for text in each.repeated)
    first = slices[0]
    for other in slices[1:]:
        one, two = first.sizes(), other.sizes()
        wrong = [label for label in {**one, **two} if one.get(label) != two.get(label)]
        if wrong:
            names = f"{first.file.name} and {other.file.name}"
            details.append(f"{names} do not have the same people in {some(wrong)}")
    return Check("buckets", status(holds=not details), detail="; ".join(details))


def _overlap_check(slices: list[_Slice]) -> Check:
    """Check that columns that are in two slices say the same in both."""
    details = []
    for one, other in combinations(slices, 2):
        shared = [name for name in one.file.columns if name in other.file.columns]
        if shared and one.over(shared) != other.over(shared):
            names = f"{one.file.name} and {other.file.name}"
            details.append(f"{names} do not agree on {some(shared)}")
    return Check("overlap", status(holds=not details), detail="; ".join(details))


# Association hiding: one table. Every share of a label among the people with a value of a
# quasi-identifier is counted again. How many raw values a label stands for is its maker's word: the
# table cannot show it.

_MOST_SIZE = 6
"""No promise speaks of more quasi-identifiers together."""


def _hidden_shape(manifest: ClaimedManifest) -> Check:
    sensitive = list(manifest.with_role("sensitive"))
    rows = [file.rows for file in manifest.files if file.table == "rows"]
    named = [record.get("column") for record in manifest.hiding]
    faults = {
        "it names another number of tables than one": len(manifest.files) != 1 or len(rows) != 1,
        f"it speaks of {manifest.published} rows and of {rows[0] if rows else 0} in the file": (
            rows != [manifest.published]
        ),
        "it does not say of each sensitive column once what is hidden": (
            sorted(map(str, named)) != sorted(sensitive)
        ),
    }
    return _shape_check(manifest, faults)


def _hidden_checks(
    sources: Mapping[str, Countable], manifest: ClaimedManifest, promises: Promises
) -> list[Check]:
    [file] = manifest.files
    known = list(manifest.with_role("quasi-identifier"))
    checks = recompute(sources[file.name], promises)
    for record in manifest.hiding:
        column = str(record.get("column"))
        with readable(file.name):
            counts = count(sources[file.name], [*known, column])
        checks.append(_rules_check(record, counts, len(known), exact=column in promises.exact))
    return checks


def _rules_check(record: Mapping[str, object], counts: Counts, known: int, *, exact: bool) -> Check:
    """Count every rule to the labels of a column, and away from them."""
    promised = {key: record[key] for key in ("column", "confidence", "absence") if key in record}
    try:
        limits = _Limits.read(record)
    except InputError as error:
        return Check("associations", "broken", promised, detail=str(error))
    spell = text_of if exact else (lambda value: folded_text(text_of(value)) or "")
    leaves: dict[str, int] = {}
    for text, number in limits.labels.items():
        leaves[spell(text)] = min(number, leaves.get(spell(text), number))
    rows: dict[tuple[Key, str | None], int] = {}
    for combination, people in counts.combinations.items():
        *group, value = combination
        label = None if value is None else spell(value) or None
        key = (tuple(group), label)
        rows[key] = rows.get(key, 0) + people
    strange = {label for _, label in rows if label not in (None, STAR) and label not in leaves}
    if strange:
        detail = f"nothing says how many values these labels stand for: {some(sorted(strange))}"
        return Check("associations", "broken", promised, detail=detail)
    found, detail = limits.judge(rows, leaves, known)
    return Check("associations", status(holds=not detail), promised, found, detail)


class _Limits(NamedTuple):
    """What is promised of the rules to one column."""

    confidence: float
    absence: float | None
    support: int
    size: int
    labels: dict[str, int]

    @classmethod
    def read(cls, record: Mapping[str, object]) -> "_Limits":
        """Read what a manifest says; raise if it is no promise."""
        confidence, absence = record.get("confidence"), record.get("absence")
        if not _is_share(confidence) or not (absence is None or _is_share(absence)):
            raise InputError("a confidence is a number from 0 to below 1")
        support, size, labels = (record.get(key) for key in ("support", "size", "labels"))
        if not _is_count(support) or not _is_count(size) or size > _MOST_SIZE:  # type: ignore[operator]
            raise InputError(f"support and size are whole numbers from 1, size to {_MOST_SIZE}")
        if not isinstance(labels, dict) or not all(map(_is_count, labels.values())):
            raise InputError("labels say how many values each stands for, a whole number from 1")
        return cls(confidence, absence, support, size, labels)  # type: ignore[arg-type]

    def judge(
        self, rows: Mapping[tuple[Key, str | None], int], leaves: Mapping[str, int], known: int
    ) -> tuple[dict[str, float], str]:
        """Return the surest rule of each sort, and what is wrong with them."""
        common = self._common(rows, leaves)
        found = {"confidence": 0.0, **({} if self.absence is None else {"absence": 0.0})}
        for size in range(1, self.size + 1):
            for at in combinations(range(known), size):
                for values in self._labels_by(rows, at):
                    behind = sum(values.values())
                    for label, people in values.items():
                        if label is not None and label in leaves:
                            sure = people / (behind * leaves[label])
                            found["confidence"] = max(found["confidence"], sure)
                    for label in common:
                        gone = (behind - values.get(label, 0)) / behind
                        found["absence"] = max(found["absence"], gone)
        wrong = []
        if found["confidence"] > self.confidence:
            wrong.append("a quasi-identifier reveals a value more surely than that")
        if self.absence is not None and found["absence"] > self.absence:
            wrong.append("a quasi-identifier rules a value out more surely than that")
        return found, "; ".join(wrong)

    def _common(
        self, rows: Mapping[tuple[Key, str | None], int], leaves: Mapping[str, int]
    ) -> list[str]:
        """Return the labels that are not as rare in the whole table as a rule would say."""
        if self.absence is None:
            return []
        [everywhere] = self._labels_by(rows, ()) or [{}]
        total = sum(everywhere.values())
        return [
            label
            for label in leaves
            if label in everywhere and (total - everywhere[label]) / total <= self.absence
        ]

    def _labels_by(
        self, rows: Mapping[tuple[Key, str | None], int], at: Sequence[int]
    ) -> list[dict[str | None, int]]:
        """Return the labels of the people with each value of some columns, if they are enough."""
        found: dict[Key, dict[str | None, int]] = {}
        for (group, label), people in rows.items():
            values = found.setdefault(tuple(group[i] for i in at), {})
            values[label] = values.get(label, 0) + people
        least = self.support if at else 1
        return [values for values in found.values() if sum(values.values()) >= least]


def _is_share(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= 10**15


def check_kind(
    sources: Mapping[str, Countable], manifest: ClaimedManifest, promises: Promises
) -> list[Check]:
    """Recompute what the tables keep, unless they have other columns than they should."""
    columns = _columns_check(sources, manifest)
    if columns.status != "holds":
        return [columns]
    return [columns, *kind_named(str(manifest.kind)).checks(sources, manifest, promises)]


KINDS.update(
    {
        BREAK_MERGE: VerifiedKind(
            ("qi", "sensitive", NOISY), _break_merge_shape, _break_merge_checks
        ),
        ANATOMY: VerifiedKind(("qi", "sensitive"), _anatomy_shape, _anatomy_checks),
        BUCKETIZATION: VerifiedKind(("qi", "sensitive"), _anatomy_shape, _bucketized_checks),
        HIDING: VerifiedKind(("rows",), _hidden_shape, _hidden_checks),
        SLICING: VerifiedKind(("slice",), _sliced_shape, _sliced_checks),
    }
)
