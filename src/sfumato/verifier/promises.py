"""Promises as plain data, and the verdict on them: one check per promise."""

import json
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeGuard, TypeVar, cast

from sfumato.dataclasses import dataclass
from sfumato.errors import InputError, ParameterError, UnknownNameError, some
from sfumato.files.confinement import require_inside
from sfumato.registry import find_installed
from sfumato.showing.content import (
    Badge,
    Content,
    ContentTable,
    Heading,
    Listing,
    Part,
    Showable,
    Words,
)
from sfumato.text import is_missing, text_of
from sfumato.verifier.counting import Countable, known_formats

MISSING_RULES = ("own-value", "matches-any", "suppress")
SUPPRESSIONS = ("remove", "star")

_HUGE = 10**15
"""No count of people and no parameter of a model is larger; arithmetic stays harmless."""

_WHOLE = frozenset({"k", "p", "m"})
_RANGES: Mapping[str, tuple[int, int]] = {
    **dict.fromkeys(("k", "p", "l", "m"), (1, _HUGE)),
    **dict.fromkeys(("risk", "share", "t", "minimum", "maximum", "fraction", "confidence"), (0, 1)),
    **dict.fromkeys(("alpha", "beta", "delta", "c", "e"), (0, _HUGE)),
}
"""What a parameter can be, in whichever model: a promise of anything else promises nothing."""


@dataclass(frozen=True)
class Promises:
    """Roles of the columns, the models that should hold, and how the table was made.

    Example:
        >>> Promises(["age"], models=[{"model": "k-anonymity", "k": 5}]).missing
        'own-value'

    Args:
        quasi_identifiers: The columns that make up the classes.
        sensitive: The columns that no reader should learn about a person.
        models: One mapping per model: its name under `model`, its parameters by name, and
            under `measured` the figures its maker claims.
        missing: `own-value` (a missing cell equals other missing cells only),
            `matches-any` (it is compatible with every value, and a row is judged on the worst
            that its person may have) or `suppress` (no published row has one).
        published: How many rows should be in the table, suppressed ones not counted.
        suppressed: How many rows were suppressed.
        suppression: `remove` (suppressed rows are gone) or `star` (they stand there
            with `*` in every quasi-identifier and nothing in the other columns).
        hierarchies: For hierarchical distances, per column each raw text's labels
            from level 1 to the top.
        population: How many people of the population fall on each tuple of published
            labels (see `count_population`), for models that compare with one.
        at_top: Quasi-identifiers said to be generalised to the single top value.
        cuts: Per column whose cut is told, its labels from the top down, each with
            those below it; those with none below are the published ones.
        classes: What its maker says of the number of classes and their sizes.
        losses: What its maker says was lost.
        delimiter: What separates the cells of a CSV file; found out if not given.
        exact: Sensitive columns in which values that differ only in spelling are different.
        weights: Columns that hold one number for all rows of a class, each with the step that its
            numbers are multiples of; None if they are of none.
        means: Columns that hold the mean of a class, each with those of the ends it lies between.
        hidden: Per column that stands there as numbers, the columns of its ends or of its middle,
            and in how many rows all of them are said to be empty because the value is hidden.
        perturbed: Columns whose values were changed, each with what changed them: the kind and its
            settings, one after the other.
        sets: Columns of several items per row, each with what stands between two of them in a cell
            of text.
        counts_people: Whether models are about people, who may have several rows each.
        people: Then the people file, or a table of the same: who has which rows.
        people_hash: The hash of that file, if its release says it.
        synthetic: What is said of the mechanism that drew the rows, if one did.
    """

    quasi_identifiers: Sequence[str]
    sensitive: Sequence[str] = ()
    models: Sequence[Mapping[str, Any]] = ()
    missing: str = "own-value"
    published: int | None = None
    suppressed: int = 0
    suppression: str = "remove"
    hierarchies: Mapping[str, Mapping[str, Sequence[str]]] = field(default_factory=dict)
    population: Mapping[tuple[str | None, ...], int] | None = None
    at_top: Sequence[str] = ()
    cuts: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    classes: Mapping[str, Any] = field(default_factory=dict)
    losses: Mapping[str, Any] = field(default_factory=dict)
    delimiter: str | None = None
    exact: Sequence[str] = ()
    weights: Mapping[str, float | None] = field(default_factory=dict)
    means: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    hidden: Mapping[str, tuple[Sequence[str], int]] = field(default_factory=dict)
    perturbed: Mapping[str, Sequence[Mapping[str, Any]]] = field(default_factory=dict)
    sets: Mapping[str, str | None] = field(default_factory=dict)
    counts_people: bool = False
    people: object = None
    people_hash: str | None = None
    synthetic: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        for name in ("quasi_identifiers", "sensitive", "models", "at_top", "exact"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        _require_one_of("missing", self.missing, MISSING_RULES)
        _require_one_of("suppression", self.suppression, SUPPRESSIONS)


def _require_one_of(name: str, value: object, allowed: Sequence[str]) -> None:
    if value not in allowed:
        raise ParameterError(name, value, " or ".join(map(repr, allowed)))


class ClaimedPromise:
    """One model's promise, read with suspicion: it may come from a stranger's manifest.

    It remembers which parameters were looked at: one that was not has not been checked.

    >>> promise = ClaimedPromise({"model": "k-anonymity", "k": 5, "mood": "good"})
    >>> promise.number("k"), promise.unread()
    (5, ['mood'])
    >>> promise.number("l")
    Traceback (most recent call last):
    sfumato.errors.InputError: k-anonymity: the parameter 'l' is missing
    """

    def __init__(self, plain: Mapping[str, Any]) -> None:
        self.model: str = str(plain.get("model"))
        self.measured: Any = plain.get("measured")
        self.parameters: dict[str, Any] = {
            k: v for k, v in plain.items() if k not in ("model", "measured")
        }
        self._read: set[str] = set()

    def unread(self) -> list[str]:
        """List the parameters that were not looked at."""
        return [name for name in self.parameters if name not in self._read]

    def number(self, name: str) -> int | float:
        """Read a finite number, within what its name can mean: no class has -1 people."""
        value = self._get(name)
        if not is_number(value) or not abs(value) <= _HUGE:  # NaN is not either
            raise self._wrong(name, value, "a number")
        least, most = _RANGES.get(name, (-_HUGE, _HUGE))
        if not least <= value <= most:
            limits = f"from {least} to {most}" if most < _HUGE else f"of at least {least}"
            raise self._wrong(name, value, f"a number {limits}")
        if name in _WHOLE and value != int(value):
            raise self._wrong(name, value, "a whole number")
        return value

    def whole(self, name: str) -> int:
        """Read a whole number, of a parameter that other models have in between too."""
        value = self.number(name)
        if value != int(value):
            raise self._wrong(name, value, "a whole number")
        return int(value)

    def truth(self, name: str) -> bool:
        """Read true or false; false if it is not said."""
        value = self._get(name, default=False)
        if not isinstance(value, bool):
            raise self._wrong(name, value, "true or false")
        return value

    def text(self, name: str, *allowed: str, default: str | None = None) -> str:
        """Read a text, one of those allowed if any are named."""
        value = self._get(name, default)
        if not isinstance(value, str) or (allowed and value not in allowed):
            raise self._wrong(name, value, " or ".join(map(repr, allowed)) or "a text")
        return value

    def texts(self, name: str) -> list[str]:
        """Read a list of values, each as it is written."""
        return self._texts(name, self._get(name, ()))

    def lists_of_texts(self, name: str) -> list[list[str]]:
        """Read a list of lists of values, each as it is written."""
        value = self._get(name)
        if not isinstance(value, list | tuple):
            raise self._wrong(name, value, "a list of lists")
        return [self._texts(name, part) for part in value]

    def _texts(self, name: str, value: object) -> list[str]:
        if not isinstance(value, list | tuple):
            raise self._wrong(name, value, "a list")
        return [text_of(item) for item in value]

    def _get(self, name: str, default: object = None) -> object:
        self._read.add(name)
        value = self.parameters.get(name)
        if value is None:
            value = default
        if value is None:
            raise InputError(f"{self.model}: the parameter {name!r} is missing")
        return value

    def _wrong(self, name: str, value: object, expected: str) -> InputError:
        shown = repr(value)
        return InputError(
            f"{self.model} is damaged: {name} must be {expected}, "
            f"got {shown[:60]}{'…' * (len(shown) > 60)}"
        )


def is_number(value: object) -> TypeGuard[int | float]:
    """Return whether a value is a number, which a truth value is not.

    >>> [is_number(v) for v in (1, 0.5, True, "1", None)]
    [True, True, False, False, False]
    """
    return isinstance(value, int | float) and not isinstance(value, bool)


Status = Literal["holds", "broken", "unchecked", "not recounted", "not promised"]

OPEN = frozenset({"not recounted", "not promised"})
"""What is neither kept nor broken: people whom only the publisher can recount, and what a policy
asks and a release of a ledger does not say."""


def status(*, holds: bool) -> Status:
    """Return the status of a check that was made."""
    return "holds" if holds else "broken"


@dataclass(frozen=True)
class Check:
    """One promise, what was promised and what was found.

    `unchecked` is not a pass: nothing may be claimed that was not recomputed. Nor is `not
    recounted`: a promise about people, who can be counted with the people file only; nor `not
    promised`: what a policy asks, and a release of a ledger does not say.
    """

    name: str
    """What was checked: a model, or something like `rows` or `sha256`."""

    status: Status
    """`holds`, `broken`, `unchecked`, `not recounted` or `not promised`."""

    promised: object = None
    found: object = None
    """What the rows themselves say."""

    detail: str = ""
    """What is wrong, in words."""

    worst: Mapping[str, object] | None = None
    """The quasi-identifiers of the class that is worst off, when a model is broken."""

    @property
    def remark(self) -> str:
        """The detail in words, and the class that is worst off."""
        worst = "" if self.worst is None else f"worst: {in_words(self.worst)}"
        return "; ".join(filter(None, [self.detail, worst]))

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that JSON can hold."""
        plain = {
            "name": self.name,
            "status": self.status,
            "promised": _plain(self.promised),
            "found": _plain(self.found),
            "detail": self.detail,
        }
        return plain if self.worst is None else {**plain, "worst": _plain(self.worst)}


@dataclass(frozen=True)
class Verdict(Showable):
    """Every check of a release; it holds when each of them does.

    Example:
        >>> verdict = Verdict((Check("rows", "holds", 4, 4), Check("k-anonymity", "broken",
        ...     {"k": 3}, {"k": 2}, "1 class of 2 is too small", {"age": "2*"})))
        >>> verdict.holds
        False
        >>> print(verdict)
        Broken: 1 of 2 checks does not hold.
        check        result  promised  found
        rows         holds   4         4
        k-anonymity  broken  k=3       k=2
          k-anonymity: 1 class of 2 is too small; worst: age=2*
    """

    checks: tuple[Check, ...]
    """All checks, in the order they were made; `verdict[name]` gives one of them."""

    @property
    def holds(self) -> bool:
        """Whether every check was made and held."""
        return bool(self.checks) and all(check.status == "holds" for check in self.checks)

    def __getitem__(self, name: str) -> Check:
        """Find the first check of a name."""
        for check in self.checks:
            if check.name == name:
                return check
        raise UnknownNameError("check", name, [check.name for check in self.checks])

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that JSON can hold."""
        return {"holds": self.holds, "checks": [check.to_dict() for check in self.checks]}

    @property
    def headline(self) -> str:
        """Whether all checks hold, or how many do not."""
        failing = sum(check.status != "holds" for check in self.checks)
        n = len(self.checks)
        if self.holds:
            return f"Holds: all {n} checks."
        if {check.status for check in self.checks} == {"holds", "not recounted"}:
            needs = "needs" if failing == 1 else "need"
            return f"Not recounted: {failing} of {n} checks {needs} the people file."
        if {check.status for check in self.checks} <= {"holds", *OPEN}:
            return f"Open: {failing} of {n} checks are not promised, or not recounted."
        return f"Broken: {failing} of {n} checks {'does' if failing == 1 else 'do'} not hold."

    def content(self) -> Content:
        """Return one line per check, and what there is to remark on some."""
        rows = [
            [Words(check.name), Badge(check.status), *map(_words, (check.promised, check.found))]
            for check in self.checks
        ]
        remarks = [f"{check.name}: {check.remark}" for check in self.checks if check.remark]
        parts: list[Part] = []
        if rows:
            parts.append(ContentTable.of("", _HEADINGS, rows, most=None))
        if remarks:
            parts.append(Listing.of(remarks, most=len(remarks)))
        return Content(self.headline, tuple(parts), "holds" if self.holds else "broken")


_HEADINGS = (
    "check",
    Heading("result", "Unchecked is not a pass: nothing is claimed that was not seen."),
    Heading("promised", "What the manifest says."),
    Heading("found", "What the published rows themselves say."),
)


def _words(value: object) -> str:
    return "" if value is None else in_words(value)


def in_words(value: object) -> str:
    """Write what was promised or found for people, in one line that is not too long.

    >>> in_words({"column": "ill", "t": 0.25})
    'column=ill, t=0.25'
    """
    if isinstance(value, Mapping):
        return ", ".join(
            f"{key}={in_words(item)}" if item is not None else f"{key} missing"
            for key, item in value.items()
        )
    if isinstance(value, float | Fraction):
        return f"{float(value):.6g}"
    if isinstance(value, list | tuple):
        shown = ", ".join(map(in_words, value))
        return f"[{shown[:40]}…]" if len(shown) > 40 else f"[{shown}]"
    text = text_of(value)
    return f"{text[:12]}…" if len(text) > 60 else text


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, Fraction):
        return float(value)
    if isinstance(value, float) and math.isinf(value):
        # JSON has no infinity.
        return "inf" if value > 0 else "-inf"
    if value is None or isinstance(value, bool | int | float | str):
        return None if is_missing(value) else value
    return text_of(value)


# A suspicious reader of manifests: what a stranger wrote is claims, not facts.


MANIFEST = "manifest.json"
CODEBOOK = "codebook.csv"
DOCUMENTS = ("README.md", "schema.sql", CODEBOOK, "codebook.md")
"""Texts that may lie beside the data; the manifest has their hashes."""

COMPANIONS = (MANIFEST, "report.html", "evidence.json", *DOCUMENTS)
"""Files that may lie beside the data without being named among it."""

BREAK_MERGE = "break-merge"
"""The kind of a release in several tables: quasi-identifiers, and each sensitive column."""

ANATOMY = "anatomy"
"""The same with exact quasi-identifiers and one sensitive column, linked by bucket."""

BUCKETIZATION = "bucketization"
"""The same with buckets that keep any models that look at the sensitive column."""

HIDING = "association-hiding"
"""One table, in which sensitive values are general enough that no rule leads to one."""

SLICING = "slicing"
"""Slices: some columns each, counted in every bucket."""

STORED = "table"
"""The format of what is in no file but in a database."""

_FORMAT = 1
_MOST_BYTES = 64 * 2**20
_MOST_ROWS = 10**15

T = TypeVar("T")


@dataclass(frozen=True)
class DataFile:
    """A file of the release, or its table in a database."""

    name: str
    format: str
    delimiter: str | None
    rows: int
    sha256: str
    table: str | None = None
    """What the table is, if there are several: one of those of its kind."""

    column: str | None = None
    """The sensitive column it holds."""

    columns: tuple[str, ...] = ()
    """The columns it holds, if it is a slice, or if several sensitive ones stay together."""

    @property
    def secret(self) -> str:
        """The sensitive column it holds; several are one, by the names of all."""
        return str(self.column) if not self.columns else joint_name(self.columns)


def joint_name(names: Sequence[str]) -> str:
    """Return what columns that stay together are called as one.

    >>> joint_name(["time", "death"])
    'time + death'
    """
    return " + ".join(names)


@dataclass(frozen=True)
class PromisedColumn:
    """A published column and what it is."""

    name: str
    role: str
    level: int | None
    height: int | None
    exact: bool = False
    """Whether its maker takes values that differ only in spelling for different ones."""

    cut: Mapping[str, Any] | None = None
    """Its labels from the top down, if its cut is told."""

    recoded: bool = False
    """Whether the manifest states how it was generalised."""

    step: float | None = None
    """What the numbers of a weight are said to be multiples of."""

    separator: str | None = None
    """What stands between the items of a cell, if it is a set of them and cells are text."""

    members: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """The values that labels are said to stand for."""

    ranges: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """The ends of the ranges that numbers are said to be the middles of."""

    of: str | None = None
    """The column whose labels it has as numbers."""

    part: str | None = None
    """What its numbers say of those labels."""

    hidden: int = 0
    """How many rows are said to have no numbers because the value is hidden."""

    perturbed: tuple[Mapping[str, Any], ...] = ()
    """What is said to have changed its values, one after the other."""


@dataclass(frozen=True)
class ClaimedManifest:
    """What a manifest claims, in shapes that can be relied on."""

    files: tuple[DataFile, ...]
    columns: tuple[PromisedColumn, ...]
    published: int
    suppressed: int
    suppression: str
    missing: str
    models: tuple[Mapping[str, Any], ...]
    hierarchies: Mapping[str, Mapping[str, list[str]]]
    kind: str | None = None
    """None if the release is one table, else one of `KINDS`."""

    together: tuple[tuple[str, ...], ...] = ()
    """The columns that stay together: each list counts as one."""

    group: str = ""
    """The column that links several tables."""

    count: str = ""
    """The column that says how many people of a group have a value."""

    classes: Mapping[str, Any] = field(default_factory=dict)
    losses: Mapping[str, Any] = field(default_factory=dict)
    """Figures about the classes, as they were claimed."""

    hiding: tuple[Mapping[str, Any], ...] = ()
    """What is promised of rules to sensitive values, per column."""

    regional: bool = False
    """Whether every column is said to be cut in one way for all rows."""

    increment: bool = False
    """Whether it is a release of a ledger: who joined a group in another one has a label apart."""

    left: tuple[tuple[tuple[str | None, ...], int], ...] = ()
    """Of some groups, how many of their people are said to have left; by the quasi-identifiers."""

    counts_people: bool = False
    """Whether promises are about people, who may have several rows."""

    people_hash: str | None = None
    """The hash of the people file, if it says it."""

    documents: Mapping[str, str] = field(default_factory=dict)
    """The hash of each text beside the data."""

    synthetic: Mapping[str, Any] | None = None
    """What is said of the mechanism that drew the rows, if one is said to have done so."""

    @property
    def linked_files(self) -> tuple[DataFile, ...]:
        """The files of people, and of values by group: all but noisy counts."""
        return tuple(file for file in self.files if file.table != NOISY)

    def range_of(self, column: str, number: str) -> tuple[str, ...]:
        """Return the ends of the range that a number is said to be the middle of."""
        found = next((each.ranges for each in self.columns if each.name == column), {})
        return tuple(found.get(number, ()))

    def members_of(self, column: str, label: str) -> Sequence[str]:
        """Return the values that a label is said to stand for."""
        found = next((each.members for each in self.columns if each.name == column), {})
        return found.get(label, ())

    def with_role(self, role: str) -> tuple[str, ...]:
        """List the columns of one role."""
        return tuple(column.name for column in self.columns if column.role == role)


class VerifiedKind(NamedTuple):
    """What verifies one kind of release in several tables."""

    tables: tuple[str, ...]
    """What a table of such a release can be."""

    shape: Callable[[ClaimedManifest], Check]
    """Checks the parts of the manifest against each other."""

    checks: Callable[[Mapping[str, Countable], ClaimedManifest, Promises], list[Check]]
    """Recomputes from the opened tables, by the names of the manifest, what they keep."""


NOISY = "noisy"
"""What a table is that holds noisy counts of cells."""

KINDS: dict[str, VerifiedKind] = {}
"""The kinds of release in several tables, by name; `decoupled` fills it."""


def kind_named(name: str) -> VerifiedKind:
    """Return what verifies a kind of release in several tables."""
    return KINDS[name] if name in KINDS else _plugins()[name]


@cache
def _plugins() -> dict[str, VerifiedKind]:
    """Return the kinds of plug-ins: objects, as entry points of `sfumato.verifier.kinds`."""
    return {point.name: point.load() for point in find_installed("sfumato.verifier.kinds")}


def _kind_in(plain: Mapping[str, Any]) -> str | None:
    """Return the kind that a manifest names; None if the release is one table."""
    if plain.get("kind") is None:
        return None
    known = KINDS if str(plain["kind"]) in KINDS else {**KINDS, **_plugins()}
    return _one_of(plain, "kind", tuple(known))


def read_manifest(path: Path) -> ClaimedManifest:
    """Read a manifest; whatever has not the right shape is an error."""
    require_inside(path)
    if path.stat().st_size > _MOST_BYTES:
        raise _too_large()
    return _manifest(_load(path.read_bytes()))


def stored_manifest(text: str) -> ClaimedManifest:
    """Read the manifest of a table in a database: it names that table, and no files.

    >>> stored_manifest("[]")
    Traceback (most recent call last):
    sfumato.errors.InputError: it is not a JSON object
    """
    if len(text) > _MOST_BYTES:
        raise _too_large()
    plain = _load(text.encode("utf-8", errors="surrogatepass"))
    kind = _kind_in(plain)
    tables = [_get(plain, "table", dict)] if kind is None else _objects(plain, "files")
    stored = tuple(_stored_table(table, kind) for table in tables)
    _refuse_repeats("files", [table.name for table in stored])
    return _manifest(plain, stored)


def _stored_table(plain: Mapping[str, Any], kind: str | None) -> DataFile:
    name, rows = _get(plain, "name", str), _whole(plain, "rows")
    return DataFile(name, STORED, None, rows, "", *_part(plain, kind))


def _manifest(plain: dict[str, Any], stored: tuple[DataFile, ...] | None = None) -> ClaimedManifest:
    if _get(plain, "format", int) != _FORMAT:
        raise InputError(f"format {plain['format']} is not known here, only format {_FORMAT}")
    rows = _get(plain, "rows", dict)
    columns = tuple(map(_column, _objects(plain, "columns")))
    _refuse_repeats("columns", [column.name for column in columns])
    kind = _kind_in(plain)
    linked = kind not in (None, HIDING)
    files = stored or tuple(_file(file, kind) for file in _objects(plain, "files"))
    _refuse_repeats("files", [file.name for file in files])
    return ClaimedManifest(
        files=files,
        columns=columns,
        published=_whole(rows, "published"),
        suppressed=_whole(rows, "suppressed"),
        suppression=_one_of(rows, "suppression", SUPPRESSIONS),
        missing=_one_of(plain, "missing", MISSING_RULES),
        models=() if _is_synthetic(plain) else tuple(_objects(plain, "models")),
        synthetic=_get(plain, "synthetic", dict) if _is_synthetic(plain) else None,
        hierarchies=_hierarchies(plain.get("hierarchies") or {}),
        kind=kind,
        together=_together(plain.get("together")) if linked else (),
        group=_get(plain, "group", str) if linked else "",
        count=_get(plain, "count", str) if linked else "",
        hiding=tuple(_objects(plain, "hiding")) if kind == HIDING else (),
        increment=isinstance(plain.get("increment"), Mapping),
        left=tuple(_left(plain.get("increment"))),
        regional=_is_regional(plain.get("method")),
        classes=_claims(plain, "classes"),
        losses=_claims(plain, "losses"),
        documents=_documents(plain),
        **_people(plain.get("person")),
    )


def _left(increment: object) -> Iterator[tuple[tuple[str | None, ...], int]]:
    """Yield of which groups it is said how many of their people have left."""
    if not isinstance(increment, Mapping) or increment.get("left") in (None, []):
        return
    for each in _objects(increment, "left"):
        labels = _get(each, "group", list)
        if not all(label is None or isinstance(label, str) for label in labels):
            raise InputError(f"'left' must name groups by texts, got {str(labels)[:60]!r}")
        yield tuple(labels), _whole(each, "people")


def _is_synthetic(plain: Mapping[str, Any]) -> bool:
    """Return whether rows are said to be drawn by a mechanism, without models of classes."""
    drawn = plain.get("kind") in (None, BREAK_MERGE) and plain.get("increment") is None
    return drawn and plain.get("synthetic") is not None and plain.get("models") == []


def _documents(plain: Mapping[str, Any]) -> dict[str, str]:
    """Read which texts lie beside the data; earlier releases do not say it."""
    if plain.get("documents") is None:
        return {}
    items = _objects(plain, "documents")
    names = [_one_of(item, "name", DOCUMENTS) for item in items]
    _refuse_repeats("documents", names)
    return {name: _get(item, "sha256", str) for name, item in zip(names, items, strict=True)}


def _people(plain: object) -> dict[str, Any]:
    """Read whether people were counted, and the hash of the file that tells them apart."""
    if plain is None:
        return {}
    if not isinstance(plain, dict) or not all(isinstance(each, str) for each in plain.values()):
        raise InputError("'person' must be an object with texts")
    if "counted" not in plain:
        return {}
    _one_of(plain, "counted", ("people",))
    return {"counts_people": True, "people_hash": plain.get("sha256")}


def _is_regional(method: object) -> bool:
    """Return whether a method is one cut per column; what was refined afterwards is not."""
    return (
        isinstance(method, Mapping)
        and method.get("name") == "regional"
        and not method.get("refined")
    )


def _claims(plain: Mapping[str, Any], key: str) -> dict[str, Any]:
    """Read figures, which may be left out."""
    return {} if plain.get(key) is None else _get(plain, key, dict)


def _too_large() -> InputError:
    return InputError(f"it is larger than {_MOST_BYTES // 2**20} MB")


def _load(content: bytes) -> dict[str, Any]:
    try:
        plain = json.loads(content.decode("utf-8"), object_pairs_hook=_unambiguous)
    except RecursionError:
        raise InputError("it is nested too deeply") from None
    except InputError:
        raise
    except ValueError as error:
        raise InputError(f"it is not JSON: {str(error)[:200]}") from None
    if not isinstance(plain, dict):
        raise InputError("it is not a JSON object")
    try:
        json.dumps(plain, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        # JSON can escape half a character, which no file or terminal can hold.
        raise InputError("it holds a text that is not Unicode") from None
    return plain


def _unambiguous(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    _refuse_repeats("keys", [key for key, _ in pairs])
    return dict(pairs)


def _refuse_repeats(what: str, names: list[str]) -> None:
    twice = [name for name, n in Counter(names).items() if n > 1]
    if twice:
        raise InputError(f"{what} stand there more than once: {some(twice)}")


def _get(plain: Mapping[str, Any], key: str, kind: type[T]) -> T:
    value = plain.get(key)
    if not isinstance(value, kind) or isinstance(value, bool):
        shown = "nothing" if key not in plain else repr(value)[:60]
        names = {str: "a text", int: "a whole number", dict: "an object", list: "a list"}
        raise InputError(f"{key!r} must be {names[kind]}, got {shown}")
    return value


def _whole(plain: Mapping[str, Any], key: str) -> int:
    value = _get(plain, key, int)
    if not 0 <= value <= _MOST_ROWS:
        raise InputError(f"{key!r} must be a number of rows, got {str(value)[:40]}")
    return value


def _one_of(plain: Mapping[str, Any], key: str, allowed: tuple[str, ...]) -> str:
    value = _get(plain, key, str)
    if value not in allowed:
        raise InputError(f"{key!r} must be {' or '.join(map(repr, allowed))}, got {value[:60]!r}")
    return value


def _objects(plain: Mapping[str, Any], key: str) -> list[dict[str, Any]]:
    items = _get(plain, key, list)
    if not items or not all(isinstance(item, dict) for item in items):
        raise InputError(f"{key!r} must be a list of at least one object")
    return items


def _file(plain: Mapping[str, Any], kind: str | None) -> DataFile:
    name = _get(plain, "name", str)
    # A file of the release lies in its folder; any other name is an attempt to read elsewhere.
    if not name or name in (".", "..") or set(name) & set("/\\:\0") or name in COMPANIONS:
        raise InputError(f"{name[:60]!r} is not a name for a data file in this folder")
    delimiter = plain.get("delimiter")
    if delimiter is not None and (
        not isinstance(delimiter, str)
        or len(delimiter) != 1
        or not delimiter.isascii()
        or delimiter in '"\r\n\0'
    ):
        raise InputError(f"'delimiter' must be one character, got {repr(delimiter)[:60]}")
    return DataFile(
        name,
        _one_of(plain, "format", known_formats()),
        delimiter,
        _whole(plain, "rows"),
        _get(plain, "sha256", str),
        *_part(plain, kind),
    )


def _part(
    plain: Mapping[str, Any], kind: str | None
) -> tuple[str | None, str | None, tuple[str, ...]]:
    """Read what a table of several is, and which columns it holds."""
    if kind is None:
        return None, None, ()
    table = _one_of(plain, "table", kind_named(kind).tables)
    # Sensitive columns that stay together have a table for all of them.
    several = table in ("slice", NOISY) or (
        table == "sensitive" and plain.get("columns") is not None
    )
    return (
        table,
        _get(plain, "column", str) if table == "sensitive" and not several else None,
        _texts(plain, "columns") if several else (),
    )


def _together(given: object) -> tuple[tuple[str, ...], ...]:
    """Read the columns that stay together: lists of two or more names."""
    if given is None:
        return ()
    if not isinstance(given, list):
        raise InputError("'together' must be a list of lists of columns")
    found = tuple(_texts({"together": each}, "together") for each in given)
    names = [name for each in found for name in each]
    if any(len(each) < 2 for each in found) or len(set(names)) < len(names):
        raise InputError("'together' must hold lists of two or more columns, each column once")
    return found


def _texts(plain: Mapping[str, Any], key: str) -> tuple[str, ...]:
    items = _get(plain, key, list)
    if not items or not all(isinstance(item, str) for item in items):
        raise InputError(f"{key!r} must be a list of at least one text")
    return tuple(items)


def _column(plain: Mapping[str, Any]) -> PromisedColumn:
    name, role = _get(plain, "name", str), _get(plain, "role", str)
    level, height = (
        None if plain.get(key) is None else _whole(plain, key) for key in ("level", "height")
    )
    if level is not None and height is not None and level > height:
        raise InputError(f"column {name!r}: level {level} is above its height {height}")
    spelling = plain.get("spelling")
    if spelling not in (None, "folded", "exact"):
        raise InputError(f"column {name!r}: 'spelling' must be 'folded' or 'exact'")
    cut = None if plain.get("cut") is None else _get(plain, "cut", dict)
    said = any(plain.get(key) is not None for key in ("level", "cut", "generalised"))
    if plain.get("published") not in (None, "class-mean"):
        raise InputError(f"column {name!r}: 'published' must be 'class-mean'")
    step = plain.get("round")
    if step is not None and not (is_number(step) and 0 < step <= _HUGE):
        raise InputError(f"column {name!r}: 'round' must be a number above 0")
    separator = None if plain.get("separator") is None else _get(plain, "separator", str)
    if separator == "":
        raise InputError(f"column {name!r}: 'separator' is empty")
    return PromisedColumn(
        name,
        role,
        level,
        height,
        exact=spelling == "exact",
        cut=cut,
        recoded=said,
        step=step,
        separator=separator,
        members=_lists(name, "members", plain.get("members")),
        ranges=_lists(name, "ranges", plain.get("ranges")),
        of=None if plain.get("of") is None else _get(plain, "of", str),
        part=None if plain.get("part") is None else _get(plain, "part", str),
        hidden=0 if plain.get("hidden") is None else _whole(plain, "hidden"),
        perturbed=() if plain.get("perturbed") is None else tuple(_objects(plain, "perturbed")),
    )


def _lists(name: str, key: str, plain: object) -> dict[str, list[str]]:
    """Read the statements about each label or number of a column: lists of texts."""
    if plain is None:
        return {}
    good = isinstance(plain, dict) and all(
        isinstance(each, list) and all(isinstance(value, str) for value in each)
        for each in plain.values()
    )
    if not good:
        raise InputError(f"column {name!r}: {key!r} must give a list of texts for each value")
    return cast("dict[str, list[str]]", plain)


def _hierarchies(plain: object) -> dict[str, dict[str, list[str]]]:
    good = isinstance(plain, dict) and all(
        isinstance(paths, dict)
        and all(
            isinstance(path, list) and all(isinstance(label, str) for label in path)
            for path in paths.values()
        )
        for paths in plain.values()
    )
    if not good:
        raise InputError("'hierarchies' must give, per column, each value's list of labels")
    return cast("dict[str, dict[str, list[str]]]", plain)
