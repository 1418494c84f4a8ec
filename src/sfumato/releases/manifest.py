"""The manifest of a release: what was done, what is promised, what was measured."""

import json
import math
import os
import platform
import stat
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import MISSING, field, fields, is_dataclass, replace
from functools import cache, partial
from pathlib import Path
from types import UnionType
from typing import Any, NamedTuple, Self, TypeVar, get_args, get_origin, get_type_hints

import numpy as np

from sfumato._version import __version__
from sfumato.classes import SensitiveColumn
from sfumato.dataclasses import dataclass
from sfumato.errors import InputError, SfumatoError, some
from sfumato.hierarchy import Hierarchy, Ladder, Suppress
from sfumato.hierarchy.labels import respell
from sfumato.losses import AverageClassSize, Discernibility
from sfumato.losses.base import ClassLoss
from sfumato.models import MODELS, PrivacyModel
from sfumato.models.base import figures, promise_text
from sfumato.perturbations import PERTURBATIONS, Perturbation
from sfumato.policy import FULL_DOMAIN, REGIONAL, Missing, Policy, Spelling
from sfumato.policy.document import Fault
from sfumato.policy.parts import choose, member_settings
from sfumato.recode.deciding import Decision, ladder_of
from sfumato.recode.sets import RecodedSets
from sfumato.recoding import ColumnRecoding, FullDomainRecoding
from sfumato.schema import Role
from sfumato.tables import count_people, dates_of_people
from sfumato.text import STAR, fold_spelling, in_order, percent, text_of, visible_json
from sfumato.typing import IntArray, Value
from sfumato.verifier.promises import ClaimedManifest, read_manifest, stored_manifest
from sfumato.verifier.release import require_shape

MANIFEST = "manifest.json"
FORMAT = 1
T = TypeVar("T")
CLASS_MEAN = "class-mean"
"""How weights are published."""

PUBLISHED = (Role.QUASI_IDENTIFIER, Role.SENSITIVE, Role.SET, Role.PLAIN, Role.WEIGHT)


@dataclass(frozen=True)
class ColumnRecord:
    """A published column."""

    name: str
    role: str
    level: int | None = None
    """How far it was generalised, if it is as far in every row."""

    height: int | None = None
    """How many levels its hierarchy has."""

    levels: tuple[int, ...] | None = None
    """How many rows are at each level, if rows differ."""

    intervals: int | None = None
    """How many intervals its values became, if it has no levels."""

    because: str | None = None
    """Why it is published as it is, if it is plain and the policy says so."""

    published: str | None = None
    """`class-mean` if it is a weight: the same number for all rows of a class, their mean."""

    round: float | None = None
    """The step to which the mean of a weight is rounded; None if it is not."""

    perturb: float | None = None
    """The largest share by which noise changes the mean of a weight; None if it does not."""

    perturbed: tuple[Mapping[str, Any], ...] | None = None
    """What changed its values before all else, one after the other: the kind and its settings, as
    the policy states them. Nothing of it follows from the data."""

    known: bool | None = None
    """False if it is sensitive and its maker says that others do not know it of a person."""

    spelling: str | None = None
    """`exact` if its maker takes values that differ only in spelling for different ones."""

    generalised: bool | None = None
    """True in place of levels that only values which are not published would explain."""

    separator: str | None = None
    """What stands between the items of a cell, if it is a set and cells are text."""

    of: str | None = None
    """The column whose labels it has as numbers, if it is one of numbers."""

    part: str | None = None
    """`low`, `high` or `middle`: what its numbers say of those labels; `mean`: of their rows."""

    upper: str | None = None
    """`excluded` if ranges do not reach their upper ends."""

    ranges: Mapping[str, tuple[str, ...]] | None = None
    """The ends of what each number stands for, if its numbers are the middles of ranges."""

    hidden: int | None = None
    """How many rows have no numbers because their value is hidden, where rows with missing values
    are suppressed; on the first of the columns that stand in place of one."""

    order: tuple[str, ...] | None = None
    """Its published values in their order, if they are categories that have one."""

    members: Mapping[str, tuple[str, ...]] | None = None
    """The values that each published label stands for, if the policy publishes its hierarchy."""

    cut: Mapping[str, Any] | None = None
    """The labels of a cut through its hierarchy, each below those that it is a part of.

    The published labels are those with none below: the same value is the same label in all rows.
    It is left out where one level tells the same.
    """

    @property
    def perturbations(self) -> tuple[Perturbation, ...]:
        """The changes of its values, one after the other; an error if one is no perturbation."""
        try:
            return tuple(choose(PERTURBATIONS, "kind", dict(each)) for each in self.perturbed or ())
        except Fault as fault:
            raise InputError(f"column {self.name!r}: 'perturbed': {fault.text}") from None

    @property
    def cut_labels(self) -> list[str]:
        """The published labels, if its cut is told.

        >>> cut = {"*": {"1*": {"10": {}}, "2*": {}}}
        >>> ColumnRecord("zip", "quasi-identifier", cut=cut).cut_labels
        ['10', '2*']
        """
        found, waiting = [], [*(self.cut or {}).items()]
        while waiting:
            label, below = waiting.pop(0)
            if isinstance(below, Mapping) and below:
                waiting = [*below.items(), *waiting]
            else:
                found.append(label)
        return found

    @property
    def recoded(self) -> bool:
        """Whether its values may have become more general, whatever the method."""
        found = (self.level, self.levels, self.intervals, self.generalised)
        return any(each is not None for each in found)

    @property
    def level_text(self) -> str:
        """The extent of its generalisation, in all rows or in how many of them.

        >>> ColumnRecord("age", "quasi-identifier", level=1, height=4).level_text
        'level 1 of 4'
        >>> ColumnRecord("age", "quasi-identifier", height=2, levels=(62, 30, 8)).level_text
        'level 0 62 %, level 1 30 %, level 2 8 %'
        >>> ColumnRecord("age", "quasi-identifier", height=2, intervals=14).level_text
        '14 intervals'
        >>> ColumnRecord("zip", "quasi-identifier", level=2).level_text
        'level 2'
        >>> ColumnRecord("zip", "quasi-identifier", generalised=True).level_text
        'as its labels show'
        """
        if self.level is not None:
            return f"level {self.level}" + ("" if self.height is None else f" of {self.height}")
        if self.generalised:
            return "as its labels show"
        counts = self.levels or ()
        parts = [f"level {i} {percent(n / sum(counts))}" for i, n in enumerate(counts) if n]
        if self.intervals is not None:
            parts.append(f"{self.intervals} intervals")
        return ", ".join(parts) or "no rows"

    @property
    def extent(self) -> str:
        """The same for readers who know no levels: in how many rows it is hidden, and so on.

        >>> ColumnRecord("age", "quasi-identifier", height=2, levels=(62, 30, 8)).extent
        'as it was in 62 % of rows, generalised in 30 %, hidden in 8 %'
        >>> ColumnRecord("age", "quasi-identifier", level=4, height=4).extent
        'hidden in all rows'
        >>> ColumnRecord("age", "quasi-identifier", level=1, height=4).extent
        'generalised in all rows: level 1 of 4'
        >>> ColumnRecord("zip", "quasi-identifier", level=0).extent
        'as it was in all rows'
        """
        if self.level is not None:
            if self.level == 0:
                return "as it was in all rows"
            hidden = self.level == self.height
            return "hidden in all rows" if hidden else f"generalised in all rows: {self.level_text}"
        if not self.levels or not sum(self.levels) or len(self.levels) - 1 != self.height:
            return self.level_text
        first, *between, last = self.levels
        counts = {"as it was in": first, "generalised in": sum(between), "hidden in": last}
        told = [f"{word} {percent(n / sum(self.levels))}" for word, n in counts.items() if n]
        return ", ".join([f"{told[0]} of rows", *told[1:]])


@dataclass(frozen=True)
class RowRecord:
    """How many rows there are."""

    published: int
    suppressed: int
    suppression: str
    """`remove` or `star`: whether suppressed rows are left out or shown as stars."""


@dataclass(frozen=True)
class Promise:
    """A privacy model that holds: its settings, and the strictest ones that were measured.

    >>> promise = Promise("distinct-l-diversity", {"column": "ill", "l": 3}, {"l": 4})
    >>> print(promise, "and measured", promise.figures)
    distinct-l-diversity of ill with l=3 and measured l=4
    """

    model: str
    settings: Mapping[str, Any]
    measured: Mapping[str, Any] | None = None
    """None if nothing was measured."""

    @classmethod
    def of(cls, model: PrivacyModel) -> Self:
        """Write what a model promises, as manifests do.

        >>> from sfumato.models import KAnonymity
        >>> Promise.of(KAnonymity(5)).to_dict()
        {'model': 'k-anonymity', 'k': 5}
        """
        return cls(model.name, plain(model.params()))

    @property
    def column(self) -> str | None:
        """The sensitive column that it protects, if it is one."""
        return self.settings.get("column")

    @property
    def figures(self) -> str:
        """The measured figures in a few words."""
        return figures(self.measured or {})

    def read(self) -> PrivacyModel:
        """Build the model that is promised.

        >>> Promise("k-anonymity", {"k": 5}, {"k": 7}).read()
        KAnonymity(k=5)
        """
        try:
            return choose(MODELS, "model", {"model": self.model, **self.settings})
        except Fault as fault:
            raise InputError(f"the manifest promises what is not known here: {fault}") from None

    def readable(self) -> PrivacyModel | None:
        """Build the model that is promised; None if it is not known here."""
        try:
            return self.read()
        except InputError:
            return None

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values that JSON can hold."""
        measured = {} if self.measured is None else {"measured": dict(self.measured)}
        return {"model": self.model, **self.settings, **measured}

    def __str__(self) -> str:
        return promise_text({"model": self.model, **self.settings})


def promised_class_size(promises: Iterable[Promise]) -> int | None:
    """Return the largest class size that is promised; None if there is none.

    >>> promised_class_size([Promise("maximum-risk", {"risk": 0.2}), Promise("k-map", {"k": 9})])
    5
    """
    sizes = []
    for promise in promises:
        model = promise.readable()
        # A model that cannot be read may still be a k-anonymity: with k = 1, or of a plug-in.
        size = promise.settings.get("k") if model is None else model.smallest_class
        if isinstance(size, int):
            sizes.append(size)
    return max(sizes, default=None)


@dataclass(frozen=True)
class ClassSizes:
    """How many classes there are, and how large they are."""

    count: int
    smallest: int | None = None
    """Rows of the smallest class, whatever else is counted."""

    largest: int | None = None
    average: float | None = None
    fewest_people: int | None = None
    """People of the class that has fewest, if people are counted."""

    average_people: float | None = None

    @classmethod
    def of(cls, sizes: IntArray, people: IntArray | None = None) -> Self:
        """Measure classes by the rows of each.

        Args:
            sizes: The rows of each class.
            people: The people of each class, if they are counted.

        >>> ClassSizes.of(np.array([2, 4]))
        ClassSizes(count=2, smallest=2, largest=4, average=3.0, fewest_people=None,
        average_people=None)
        """
        if not len(sizes):
            return cls(0)
        found = cls(len(sizes), int(sizes.min()), int(sizes.max()), float(sizes.mean()))
        if people is None:
            return found
        return replace(found, fewest_people=int(people.min()), average_people=float(people.mean()))


@dataclass(frozen=True)
class SearchRecord:
    """How levels were found."""

    name: str
    checks: int | None = None
    """How many nodes were judged; known to the publisher."""

    nodes: int | None = None
    """How many nodes there are; known to the publisher."""

    optimal: bool = False
    """Whether it was proven that no other node loses less."""

    bound: float | None = None
    """A loss that no node which keeps the promises is below; known to the publisher."""

    valid: int | None = None
    """How many nodes keep the promises, if the search found all of them; known to the publisher."""

    minimal: tuple[Mapping[str, int], ...] | None = None
    """All minimal nodes, if the search found them: the level of each quasi-identifier; known to
    the publisher."""


@dataclass(frozen=True)
class PrivateFigures:
    """What only the publisher may know: it depends on values that are not published.

    It is never written. Two tables whose releases are equal have equal manifests, and other
    figures here: the age of a person who was suppressed shows in them.
    """

    columns: tuple[ColumnRecord, ...]
    """The levels of all columns, and the heights of their hierarchies."""

    losses: Mapping[str, float]
    """Every loss there is, the policy's own first."""

    search: SearchRecord | None = None
    sets: Mapping[str, float] = field(default_factory=dict)
    """Of the items of all sets: the `loss`, and the shares `kept` as they were and `left_out`."""


@dataclass(frozen=True)
class LeftOut:
    """What a decoupled release does not have of the release it was made of."""

    columns: tuple[str, ...] = ()
    models: tuple[str, ...] = ()


@dataclass(frozen=True)
class HidingRecord:
    """What is promised of the rules that lead to the values of a column, or away from them."""

    column: str
    confidence: float
    """How surely no quasi-identifier reveals that a person has a value."""

    support: int
    """How many people must be behind a rule."""

    size: int
    """How many quasi-identifiers a rule starts from at most."""

    generalised: bool
    """Whether any value was generalised."""

    labels: Mapping[str, int]
    """How many raw values each label stands for."""

    absence: float | None = None
    """How surely none tells that a person does not have a value; None if that is not promised."""

    def __str__(self) -> str:
        from sfumato.decouplings.association_hiding import hiding_text

        return hiding_text({**vars(self)})


@dataclass(frozen=True)
class LeftRecord:
    """How many people of a group are counted although they left."""

    group: tuple[str | None, ...]
    """Its quasi-identifiers, in the order of the columns."""

    people: int


@dataclass(frozen=True)
class IncrementRecord:
    """The place of a release in its ledger."""

    sequence: int
    tables: str
    """`newcomers` or `all`: whom the tables hold."""

    ledger: str | None = None
    """A mark of the ledger: its releases have the same. It does not tell the ledger's secret."""

    first: str | None = None
    """A mark of the groups of the release that the ledger was started with."""

    left: tuple[LeftRecord, ...] | None = None
    """Groups in which people are counted who left; None if it is not said."""

    withdrawn: tuple[int, ...] | None = None
    """The buckets of earlier releases that are published no more, by their labels."""


@dataclass(frozen=True)
class MeasurementRecord:
    """Noisy counts of some columns; of synthetic rows, the counts are not there."""

    columns: tuple[str, ...]
    scale: float
    """The scale of the noise of each count."""

    spent: float
    """What it spent: ρ if the noise is Gaussian, ε if it is Laplace's."""


@dataclass(frozen=True)
class SyntheticRecord:
    """What is promised of rows or counts that a mechanism drew: differential privacy."""

    mechanism: str
    noise: str
    """`gaussian` or `laplace`."""

    unit: str
    """Whom the promise is about: `row`, `person` or `household`."""

    contributions: int
    """The most rows of a unit that were counted."""

    epsilon: float
    delta: float
    measurements: tuple[MeasurementRecord, ...]
    selection: float
    """What was spent on choosing which columns to count together."""

    domain: Mapping[str, Mapping[str, Any]]
    """Per column, the cells that were counted: stated by the policy, not read off the data."""

    rho: float | None = None
    """What was divided among measurements, if the noise is Gaussian."""

    derived: tuple[str, ...] | None = None
    """The columns that are computed from others."""

    library: str | None = None
    """What made noise and kept accounts, with its version."""

    def __str__(self) -> str:
        delta = f" and delta {self.delta:.3g}" if self.delta else ""
        rows = "1 row" if self.contributions == 1 else f"{self.contributions} rows"
        unit = "" if self.unit == "row" else f" of at most {rows}"
        return f"differential privacy for each {self.unit}{unit}: epsilon {self.epsilon:.4g}{delta}"


NOISY = "noisy"
"""What a table is that holds noisy counts of cells."""


@dataclass(frozen=True)
class FileRecord:
    """A file, or a table in memory or in a database."""

    name: str
    format: str | None = None
    rows: int | None = None
    sha256: str | None = None
    table: str | None = None
    """What the table is, if there are several: `qi`, `sensitive`, `slice` or `noisy`; or `rows`."""

    column: str | None = None
    """The sensitive column that it holds, if it is one."""

    columns: tuple[str, ...] | None = None
    """The columns that it holds, if it is a slice, or if several sensitive ones stay together."""

    delimiter: str | None = None

    @property
    def holds(self) -> str:
        """Its columns, where its name does not say them."""
        return ", ".join(self.columns or ())

    def __str__(self) -> str:
        return f"{self.name} ({self.holds})" if self.holds else self.name


@dataclass(frozen=True)
class DocumentRecord:
    """A text that lies beside the tables: a codebook, a README, a schema."""

    name: str
    sha256: str


def _versions() -> dict[str, str]:
    """Return the versions of what a release was made with."""
    import pyarrow as pa

    return {
        "python": platform.python_version(),
        "numpy": np.__version__,
        "pyarrow": pa.__version__,
    }


@dataclass(frozen=True)
class Manifest:
    """What a release says of itself; `to_dict` and `to_json` are what stands in `manifest.json`."""

    columns: tuple[ColumnRecord, ...]
    rows: RowRecord
    missing: str
    """What a missing quasi-identifier is: `own-value`, `matches-any` or `suppress`."""

    models: tuple[Promise, ...]
    classes: ClassSizes
    hierarchies: Mapping[str, Mapping[str, Sequence[str]]] = field(default_factory=dict)
    """Per sensitive column, the labels of each value, where a model measures distances."""

    reproducible: bool = False
    """Whether what is random comes from a seed."""

    kind: str | None = None
    """How the table was decoupled; None if it is in one piece."""

    increment: IncrementRecord | None = None
    group: str | None = None
    """The column that links the tables of a decoupled release."""

    count: str | None = None
    """The column that says how many people of a group have a value."""

    together: tuple[tuple[str, ...], ...] | None = None
    """The columns that stay together in a decoupled release: each list counts as one."""

    loss: str | None = None
    """The loss that was kept small."""

    losses: Mapping[str, float | None] | None = None
    """The losses that follow from the published classes; None for those that do not."""

    method: Mapping[str, Any] | None = None
    search: SearchRecord | None = None
    risk_levels: Mapping[str, float] | None = None
    accepted: tuple[Mapping[str, Any], ...] | None = None
    """The findings that the publisher knows of and accepts, each with a reason and a name."""

    owner: str | None = None
    """Who answers for the release, as the policy says."""

    purpose: str | None = None
    """What the release is for, as the policy says."""

    person: Mapping[str, str] | None = None
    """What is counted where that is not the same: `{"rows": why}`, or `{"counted": "people"}`,
    with the hash of the people file under `sha256` if one was kept."""

    hiding: tuple[HidingRecord, ...] | None = None
    """What no rule tells, where sensitive values were generalised."""

    left_out: LeftOut | None = None
    synthetic: SyntheticRecord | None = None
    """What is promised of its rows if a mechanism drew them; None if they are people's."""

    notes: tuple[str, ...] | None = None
    files: tuple[FileRecord, ...] = ()
    """Empty for a single table that is in memory or in a database."""

    documents: tuple[DocumentRecord, ...] | None = None
    """The texts that lie beside the files; None in memory and in databases."""

    table: FileRecord | None = None
    """The single table of a release in a database."""

    private: PrivateFigures | None = field(default=None, compare=False, repr=False)
    """What is known of a release that was just made, and stands in no file."""

    versions: Mapping[str, str] = field(default_factory=_versions)
    sfumato: str | None = __version__
    format: int = FORMAT

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Self:
        """Read a manifest of any origin; what has another type than it should is damage.

        Keys that are not known here are left out: they say nothing that is relied on.
        """
        found: Self = read_as(cls, {"classes": {"count": 0}, "versions": {}, **given})
        # What it does not say of its maker is not known, and not what is installed here.
        return found if given.get("sfumato") is not None else replace(found, sfumato=None)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read what `to_json` wrote; for a text of unknown origin see `read_folder`."""
        return cls.from_dict(json.loads(text))

    @classmethod
    def read_folder(cls, folder: Path) -> Self:
        """Read the manifest of a folder, however strange.

        Only plain files are read: links lead to what was never published, and pipes nowhere.
        """
        path = folder / MANIFEST
        _require_plain_files(folder, [MANIFEST])
        with _naming(path):
            claims = read_manifest(path)
        _require_plain_files(folder, [file.name for file in claims.files])
        with _naming(path):
            require_shape(claims)
            return cls.from_json(path.read_text(encoding="utf-8"))

    @classmethod
    def read_stored(cls, text: str) -> Self:
        """Read the manifest of a release in a database, however strange."""
        with _naming("the manifest of the table"):
            require_shape(stored_manifest(text))
            return cls.from_json(text)

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values that JSON can hold."""
        found = {name: _plain(getattr(self, name)) for name in self._keys()}
        left_out = () if self.kind is not None else ("files",)
        return {
            name: value
            for name, value in found.items()
            if value is not None and not (name in left_out and not value)
        }

    def __getitem__(self, key: str) -> Any:  # noqa: ANN401 - whatever JSON has there
        """Return one part of `to_dict`, as it is published."""
        return self.to_dict()[key]

    def _keys(self) -> tuple[str, ...]:
        """Return the keys in the order in which releases of each kind have always had them."""
        if self.kind is None:
            return _TABLE_KEYS
        return _DECOUPLED_KEYS if self.increment is None else _INCREMENT_KEYS

    def to_json(self) -> str:
        """Write it as JSON for people."""
        # A manifest of any origin may hold 1e999: it is read as infinite, and must not be written.
        text = json.dumps(plain(self.to_dict()), indent=2, ensure_ascii=False, allow_nan=False)
        return visible_json(text) + "\n"

    def claims(self) -> ClaimedManifest:
        """Return the claims that the verifier reads in it, wherever the tables are."""
        return stored_manifest(self._as_stored().to_json())

    def _as_stored(self) -> "Manifest":
        if self.kind is not None or self.table is not None:
            return self
        starred = self.rows.suppressed if self.rows.suppression == "star" else 0
        return replace(self, table=FileRecord("", rows=self.rows.published + starred))

    def with_role(self, role: str) -> tuple[str, ...]:
        """Return the columns of a role."""
        return tuple(column.name for column in self.columns if column.role == role)

    def says_no_more(self, model: PrivacyModel) -> bool:
        """Return whether it may keep a model and not say so: a release of a ledger has no more."""
        return self.increment is not None and bool(model.columns)

    @property
    def levels(self) -> dict[str, int]:
        """The level of each column that has one for all rows, as far as it is known."""
        return {c.name: c.level for c in self.known_columns if c.level is not None}

    @property
    def known_columns(self) -> tuple[ColumnRecord, ...]:
        """The columns with all that is known of them here."""
        return self.columns if self.private is None else self.private.columns

    @property
    def known_losses(self) -> dict[str, float]:
        """The losses whose figures are known here."""
        known = (self.losses or {}) if self.private is None else self.private.losses
        return {name: loss for name, loss in known.items() if loss is not None}

    @property
    def known_search(self) -> "SearchRecord | None":
        """The search with all that is known of it here, if there was one."""
        return self.search if self.private is None else self.private.search

    @property
    def drawn(self) -> SyntheticRecord | None:
        """What drew its rows; None if they are people's, or promise what classes of people do."""
        if self.synthetic is None or self.models or self.increment is not None:
            return None
        from sfumato.decouplings import kind_of

        return self.synthetic if kind_of(self.kind).can_be_drawn else None

    @property
    def linked_files(self) -> tuple[FileRecord, ...]:
        """The files of people, and of values by group: all but noisy counts."""
        return tuple(file for file in self.files if file.table != NOISY)

    @property
    def k(self) -> int | None:
        """The largest class size that is promised."""
        return promised_class_size(self.models)

    @property
    def method_name(self) -> str:
        """The name of the method; manifests from before there was a choice have none."""
        return str((self.method or {}).get("name", FULL_DOMAIN))


_TABLE_KEYS = (
    *("format", "sfumato", "owner", "purpose", "columns", "rows", "missing", "models", "loss"),
    *("losses", "classes"),
    "synthetic",
    *("method", "search", "hierarchies", "risk_levels", "accepted", "person", "reproducible"),
    *("versions", "notes", "files", "documents", "table"),
)
_DECOUPLED_KEYS = (
    *("format", "sfumato", "kind", "owner", "purpose", "columns", "together", "group", "count"),
    *("rows", "missing"),
    *(
        "models",
        "hiding",
        "classes",
        "synthetic",
        "hierarchies",
        "risk_levels",
        "accepted",
        "person",
    ),
    *("left_out", "notes", "reproducible", "versions", "files", "documents"),
)
_INCREMENT_KEYS = (
    *("format", "sfumato", "kind", "increment", "columns", "rows", "missing", "models", "classes"),
    *("hierarchies", "person", "left_out", "notes", "reproducible", "versions", "group", "count"),
    "files",
    "documents",
)


def _plain(value: Any) -> Any:  # noqa: ANN401 - any field of a manifest
    """Return a field as JSON holds it: records without what is not set."""
    if isinstance(value, Promise):
        return value.to_dict()
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if hasattr(value, "__dataclass_fields__"):
        found = {each.name: _plain(getattr(value, each.name)) for each in fields(value)}
        return {name: item for name, item in found.items() if item is not None}
    return value


# Read whatever stands in a manifest as the type that it must have: one schema, which is the records
# above. What has another type is damage, named by its place, and never a surprise later.

_MOST = 10**15
"""No number of rows, classes or levels is larger."""

_WORDS = {
    str: "a text",
    bool: "true or false",
    int: "a whole number from 0 to 10^15",
    float: "a number",
}


def read_as(kind: Any, value: object, where: str = "") -> Any:  # noqa: ANN401 - of any type
    """Return a value of JSON as a type of this module; raise if it is of another.

    Args:
        kind: A record, a text, a number, or several of them as a tuple or mapping.
        value: What stands there.
        where: The place, as messages name it.

    Example:
        >>> read_as(RowRecord, {"published": 8, "suppressed": 1, "suppression": "star"})
        RowRecord(published=8, suppressed=1, suppression='star')
        >>> read_as(RowRecord, {"published": -1, "suppressed": 1, "suppression": "star"}, "rows")
        Traceback (most recent call last):
        sfumato.errors.InputError: 'rows.published' must be a whole number from 0 to 10^15, got -1
    """
    origin, inner = get_origin(kind), get_args(kind)
    if origin is UnionType:
        return None if value is None else read_as(inner[0], value, where)
    if origin is not None:
        return _read_several(origin, inner[-1 if origin is Mapping else 0], value, where)
    if is_dataclass(kind):
        read = _read_promise if kind is Promise else partial(_read_record, kind)
        return read(_require(dict, value, where, "an object"), where)
    return _read_single(kind, value, where)


def _read_several(origin: Any, kind: Any, value: object, where: str) -> Any:  # noqa: ANN401
    """Return a tuple, list or mapping of values of a type."""
    if origin is Mapping:
        found = _require(dict, value, where, "an object")
        return {key: read_as(kind, each, f"{where}.{key}") for key, each in found.items()}
    several = _require(list, value, where, "a list")
    items = [read_as(kind, each, f"{where}[{i}]") for i, each in enumerate(several)]
    return tuple(items) if origin is tuple else items


def _read_single(kind: Any, value: object, where: str) -> Any:  # noqa: ANN401
    """Return a text, a truth value or a number in the limits that there are."""
    if kind is Any:
        return value
    good = isinstance(value, int | float if kind is float else kind)
    good &= kind is bool or not isinstance(value, bool)
    if isinstance(value, int | float) and kind is not bool:
        good &= 0 <= value <= _MOST if kind is int else abs(value) <= sys.float_info.max
    if not good:
        raise _damage(where, value, _WORDS[kind])
    return value


def _read_record(kind: Any, given: Mapping[str, Any], where: str) -> Any:  # noqa: ANN401
    """Return a record; what it does not know is left out, and what it lacks has its default."""
    found = {}
    for name, type_ in _types_of(kind).items():
        place = f"{where}.{name}" if where else name
        if given.get(name) is not None:
            found[name] = read_as(type_, given[name], place)
    lacking = [
        each.name
        for each in fields(kind)
        if each.name not in found and each.default is MISSING and each.default_factory is MISSING
    ]
    if lacking:
        place = f"{where}.{lacking[0]}" if where else lacking[0]
        raise _damage(place, given.get(lacking[0]), "given")
    return kind(**found)


@cache
def _types_of(kind: Any) -> dict[str, Any]:  # noqa: ANN401 - any record
    """Return the type of each field that stands in files."""
    hints = get_type_hints(kind)
    return {each.name: hints[each.name] for each in fields(kind) if each.name != "private"}


def _read_promise(given: Mapping[str, Any], where: str) -> Promise:
    return Promise(
        read_as(str, given.get("model"), f"{where}.model"),
        {
            key: read_as(str | None, value, f"{where}.{key}") if key == "column" else value
            for key, value in given.items()
            if key not in ("model", "measured")
        },
        read_as(Mapping[str, Any] | None, given.get("measured"), f"{where}.measured"),
    )


def _require(kind: type[T], value: object, where: str, expected: str) -> T:
    if isinstance(value, kind):
        return value
    raise _damage(where, value, expected)


def _damage(where: str, value: object, expected: str) -> InputError:
    shown = "nothing" if value is None else repr(value)
    more = "…" * (len(shown) > 60)
    return InputError(f"{where!r} must be {expected}, got {shown[:60]}{more}")


def _require_plain_files(folder: Path, names: Sequence[str]) -> None:
    """Raise if something in a folder is a link, a pipe or a folder; what is missing may be."""
    strange = [
        name
        for name in names
        if os.path.lexists(folder / name) and not stat.S_ISREG((folder / name).lstat().st_mode)
    ]
    if strange:
        raise InputError(
            f"in {str(folder)!r} there are links, pipes or folders in place of files: "
            f"{some(strange)}. A release holds its own files; copy them into it."
        )


@contextmanager
def _naming(what: object) -> Iterator[None]:
    """Raise an error in a manifest as damage, with where it is."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{what} is damaged: {error}") from None


class PublishedSets(NamedTuple):
    """The sets of a release, and how they are written."""

    recoded: RecodedSets
    separators: Mapping[str, str]
    """What stands between the items of each column whose cells are text."""

    def measure(self, model: PrivacyModel, measured: dict[str, float]) -> dict[str, float]:
        """Return what a model measures of classes, or of the items in them if that is less."""
        if not model.protects_sets:
            return measured
        found = self.recoded.support(int(model.params()["m"]))
        return measured if found is None else {"k": min(found, int(measured["k"]))}


def build_manifest(
    policy: Policy,
    roles: Mapping[str, Role],
    decision: Decision,
    *,
    reproducible: bool,
    notes: Sequence[str] = (),
    sets: PublishedSets | None = None,
    people_hash: str | None = None,
) -> Manifest:
    """Describe a release, apart from its files.

    Everything that is written follows from the published rows, the number of those that are
    not, and the policy; what does not is under `private`.
    """
    columns = {
        name: read_as(
            ColumnRecord,
            {
                "name": name,
                "role": role.value,
                **decision.columns.get(name, {}),
                "because": policy.columns[name].because if name in policy.columns else None,
                **_weight_record(policy, name),
                "perturbed": perturbed_record(policy, name),
                "known": False if name in policy.unknown else None,
                "spelling": Spelling.EXACT.value if name in policy.exact else None,
                "separator": None if sets is None else sets.separators.get(name),
            },
        )
        for name, role in roles.items()
        if role in PUBLISHED
    }
    search = None if decision.search is None else SearchRecord(**decision.search)
    figures_of_sets = {} if sets is None else sets.recoded.figures()

    def measure(model: PrivacyModel) -> dict[str, float]:
        measured = model.measure_worst(decision.left)
        return measured if sets is None else sets.measure(model, measured)

    return Manifest(
        columns=tuple(_public_column(policy, each) for each in columns.values()),
        rows=RowRecord(int(decision.sizes.sum()), decision.suppressed, policy.suppression.rows),
        missing=policy.missing.value,
        models=tuple(
            replace(Promise.of(model), measured=plain(measure(model))) for model in policy.models
        ),
        loss=policy.loss.name,
        losses=public_losses(decision.losses, decision.sizes, decision.suppressed),
        classes=ClassSizes.of(
            decision.sizes, decision.left.sizes if decision.left.by_person else None
        ),
        method=dict(decision.method),
        search=None if search is None else _public_search(search, decision),
        private=PrivateFigures(
            tuple(columns.values()), dict(decision.losses), search, figures_of_sets
        ),
        hierarchies=_distances(policy, decision),
        risk_levels=policy.risk_levels.to_plain(),
        accepted=accepted_in(policy),
        owner=policy.owner,
        purpose=policy.purpose,
        person=rows_of_people(policy, people_hash),
        reproducible=reproducible,
        notes=tuple(notes) or None,
    )


def perturbed_record(policy: Policy, name: str) -> list[dict[str, object]] | None:
    """Return what a manifest says of what changed a column; None if nothing did."""
    chain = policy.perturbations.get(name, ())
    return [member_settings(each, "kind") for each in chain] or None


def _weight_record(policy: Policy, name: str) -> dict[str, Any]:
    """Return what a manifest says of a weight; nothing of other columns."""
    averaging = policy.averagings.get(name)
    if averaging is None:
        return {}
    return {"published": CLASS_MEAN, "round": averaging.step, "perturb": averaging.noise}


def _public_search(search: SearchRecord, decision: Decision) -> SearchRecord:
    """Return a search without what values that are not published may have decided.

    Whether a cut could be proven depends on how many there are, and that on all values.
    """
    proven = search.optimal and decision.method["name"] != REGIONAL
    return SearchRecord(search.name, optimal=proven)


def accepted_in(policy: Policy) -> tuple[Mapping[str, Any], ...] | None:
    """Return the findings that a policy accepts, as manifests state them."""
    return tuple(each.to_plain() for each in policy.accept) or None


def rows_of_people(policy: Policy, people_hash: str | None = None) -> dict[str, str] | None:
    """Return what is counted, as manifests say it: people, or rows and why; None if rows are both.

    The column that tells people apart is not published, and not named.

    Args:
        policy: What was asked for.
        people_hash: The hash of the people file, if one is kept. It gives nothing away: the
            numbers that stand for people in it are drawn, and too large to be tried out.
    """
    if policy.counted_person is not None:
        return {"counted": "people", **({} if people_hash is None else {"sha256": people_hash})}
    reason = None if policy.person is None else policy.person.rows
    return None if reason is None else {"rows": reason}


def _public_column(policy: Policy, column: ColumnRecord) -> ColumnRecord:
    """Return a column without what values that are not published may have decided."""
    if column.level is None and column.levels is None:
        return column
    if policy.population is not None:
        # Hierarchies were built for all people there are, who are known anyway.
        return column
    builder = policy.columns[column.name].hierarchy or Suppress()
    height, top = builder.fixed_height, column.height
    if height is not None:
        # Where no value is known, there is one level above them; it is the top of any hierarchy.
        if column.level is not None:
            return replace(
                column, level=height if column.level == top else column.level, height=height
            )
        levels = column.levels or ()
        filled = (*levels[:-1], *[0] * (height + 1 - len(levels)), *levels[-1:])
        return replace(column, levels=filled, height=height)
    shown = builder.labels_show_level and column.level != top
    if column.level == 0 or (column.level is not None and shown):
        return replace(column, height=None)
    return replace(column, level=None, height=None, levels=None, generalised=True)


def public_losses(
    measured: Iterable[str], sizes: IntArray, suppressed: int
) -> dict[str, float | None]:
    """Return the losses that any reader can compute, from class sizes and suppressed rows.

    Others depend on values as they were, also those of people who were suppressed: they are
    named, and have no figure.
    """
    left_out = [suppressed] if suppressed else []
    everything = np.append(sizes, np.array(left_out, dtype=np.int64))
    losses: tuple[ClassLoss, ...] = (AverageClassSize(), Discernibility())
    found = {loss.name: loss.of_sizes(sizes, suppressed, everything) for loss in losses}
    return {name: found.get(name) for name in measured}


def _distances(policy: Policy, decision: Decision) -> dict[str, dict[str, list[str]]]:
    """Return the hierarchies of sensitive columns, for published values.

    Models measure distances in them, and readers learn by them what values have in common.
    """
    found = {}
    for name in policy.sensitive:
        if policy.columns[name].hierarchy is None or name not in decision.sensitive:
            continue
        ladder = decision.sensitive[name].ladder
        if ladder is not None:
            values = decision.left.sensitive[name].value
            paths = paths_of(ladder)
            shown = {text_of(ladder.values[code]) for code in np.unique(values[values >= 0])}
            # Folded: the spelling that stands for others here may be that of a suppressed row.
            key = decision.sensitive[name].key
            paths = {key(value): path for value, path in paths.items() if value in shown}
            builder = policy.columns[name].hierarchy
            fixed = builder is not None and builder.fixed_height is not None
            found[name] = paths if fixed else _rename_groups(paths)
    return found


def _rename_groups(paths: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """Return a hierarchy whose groups are called by their published values alone.

    Where values decide the hierarchy, its labels and bounds may be values that only suppressed
    people have. Distances depend on which values are together, and not on what that is called.

    >>> low, high = ["under 95", "*"], ["95 or more", "*"]
    >>> _rename_groups({"10": low, "20": low, "99": high})
    {'10': ['10 to 20', '*'], '20': ['10 to 20', '*'], '99': ['99', '*']}
    """
    values = [text_of(value) for value in in_order(paths)]
    renamed: dict[str, list[str]] = {value: [] for value in paths}
    height = max(map(len, paths.values()), default=0)
    for level in range(height):
        # A group is known by its whole way to the top: names may come again elsewhere.
        groups: dict[tuple[str, ...], list[str]] = {}
        for value in values:
            groups.setdefault(tuple(paths[value][level:]), []).append(value)
        for members in groups.values():
            first, last = members[0], members[-1]
            path = paths[first]
            name = first if len(members) == 1 else f"{first} to {last}"
            for value in members:
                renamed[value].append(STAR if path[level] == path[-1] else name)
    return renamed


def paths_of(ladder: Ladder | Hierarchy) -> dict[str, list[str]]:
    """Write a ladder or a hierarchy as the labels of each value, level 1 to the top."""
    return {
        text_of(value): [
            str(ladder.labels[level][ladder.codes[level][i]])
            for level in range(1, ladder.height + 1)
        ]
        for i, value in enumerate(ladder.values)
    }


def bind_paths(paths: Mapping[str, Sequence[str]], column: SensitiveColumn) -> Ladder:
    """Fit a published hierarchy to the values of a column, whatever their spelling.

    >>> ladder = bind_paths({"hiv": ["*"]}, SensitiveColumn("ill", ("HIV",), folded=True))
    >>> ladder.labels
    (('hiv',), ('*',))
    """
    hierarchy = Hierarchy.from_paths(list(paths), list(paths.values()))
    entries = {column.key(text): text for text in paths}
    texts = map(text_of, column.values)
    ladder = hierarchy.bind(column.name, [entries.get(column.key(text), text) for text in texts])
    return replace(ladder, values=column.values)


def plain(value: Any) -> Any:  # noqa: ANN401 - any parameter of any model
    """Return parameters and figures as values that JSON can hold."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    # A day or a moment that a model names, as it is written in the release.
    return value if value is None or isinstance(value, str | int | float) else text_of(value)


def generalization_of(recoding: FullDomainRecoding) -> dict[str, dict[str | None, object]]:
    """Return per column the label each raw text became."""
    return {
        column.column: {
            None if value is None else text_of(value): column.labels[code]
            for value, code in zip(column.values, column.codes.tolist(), strict=True)
            if code >= 0
        }
        for column in recoding.columns
    }


# The labels of people who are not in a release, for models that compare with them.

PopulationLabels = dict[str, dict[str | None, object]]
"""Per column, the label each raw text became."""


def labels_of_population(
    manifest: Manifest, policy: Policy, population: object
) -> PopulationLabels:
    """Return the label each raw text of the population has at the levels of a release."""
    counts = count_people(population, policy.quasi_identifiers, preparation=policy.preparation)
    columns = {column.name: column for column in manifest.columns}
    ladders = [ladder_of(policy, counts, name) for name in policy.quasi_identifiers]
    for ladder in ladders:
        height = columns[ladder.column].height
        if height is not None and ladder.height != height:
            raise InputError(
                f"the hierarchy of {ladder.column!r} has {ladder.height} levels for the values "
                f"of this population, and {height} in the release. Give the population (and the "
                "policy) that the release was made with."
            )
    recoding = FullDomainRecoding(
        tuple(_recoding_of(columns[ladder.column], ladder) for ladder in ladders),
        np.empty((0, len(ladders)), dtype=np.int64),
    )
    if policy.missing is Missing.SUPPRESS:
        recoding = recoding.dropping_missing()
    return labels_as_written(generalization_of(recoding), policy, population)


def labels_as_written(
    labels: PopulationLabels, policy: Policy, population: object
) -> PopulationLabels:
    """Return the same labels by what a population itself has where dates are in another form."""
    dates = dates_of_people(population, policy.quasi_identifiers, policy.preparation)
    return {
        name: {
            **given,
            **{
                text: given[one_form]
                for text, one_form in dates.get(name, {}).items()
                if one_form in given
            },
        }
        for name, given in labels.items()
    }


def _recoding_of(column: ColumnRecord, ladder: Ladder) -> ColumnRecoding:
    """Return what the values of a column became: labels of one level, or of a cut."""
    if column.cut is None:
        return ColumnRecoding.at(ladder, column.level or 0)
    # As they are published, also if that was before labels were written as they are now.
    shown = {each: label for label in column.cut_labels for each in (respell(label), label)}
    labels: dict[Value, int] = {}
    codes = []
    for value in range(len(ladder.values)):
        way = [ladder.labels[level][codes_[value]] for level, codes_ in enumerate(ladder.codes)]
        # Of values without a published label it is enough that they have none.
        label = next(
            (
                None if each is None else shown[text_of(each)]
                for each in way
                if each is None or text_of(each) in shown
            ),
            _NOT_PUBLISHED,
        )
        codes.append(labels.setdefault(label, len(labels)))
    return ColumnRecoding(
        ladder.column,
        ladder.height,
        ladder.height,
        ladder.values,
        np.array(codes, dtype=np.int32),
        tuple(labels),
    )


_NOT_PUBLISHED = "\x00not published"
"""What people of a population have whose label no row of the release has."""


# Compare what a release promises with what a policy asks.


def differences(manifest: Manifest, policy: Policy) -> list[str]:
    """Describe where a manifest promises less than the policy asks, or something else.

    A verifier that believes nothing a manifest says still takes from it what to check;
    who holds the policy can check that too.
    """
    lacking_models = [
        str(Promise.of(model))
        for model in models_not_promised(manifest, policy)
        if not manifest.says_no_more(model)
    ]
    roles = {column.of or column.name: column.role for column in manifest.columns}
    other = [
        name
        for name, role in roles.items()
        if role != (policy.columns[name].role if name in policy.columns else policy.other)
    ]
    # A decoupled release leaves plain columns out, for they would tie its tables together.
    roles_there = PUBLISHED if manifest.kind is None else PUBLISHED[:2]
    to_publish = [name for role in roles_there for name in policy.with_role(role)]
    lacking = [name for name in to_publish if name not in roles]
    measured = _measured_otherwise(manifest, policy)
    drawn = drawn_as_asked(manifest, policy)
    other_missing = manifest.missing != policy.missing.value and not drawn
    suppressed = manifest.rows.suppressed
    total = manifest.rows.published + suppressed
    allowed = policy.suppression.most_rows(total)
    found = {
        "a mechanism is said to have drawn the rows, and the policy states no domain for that": (
            manifest.drawn is not None and not drawn
        ),
        f"the release does not promise {', '.join(lacking_models)}": lacking_models,
        f"the policy gives {some(other)} another role": other,
        f"the policy publishes {some(lacking)}, the release does not": lacking,
        f"the hierarchy of {some(measured)} is not that of the policy": measured,
        f"missing is {manifest.missing} in the release and {policy.missing.value} in the policy": (
            other_missing
        ),
        f"{suppressed} of {total} rows were suppressed, the policy allows {allowed}": (
            suppressed > allowed
        ),
    }
    return [text for text, differs in found.items() if differs]


NO_PROMISE_OF_LEDGERS = (
    "the ledger holds the people who join together to its policy, by itself or beside the first "
    "release, and this release does not say so"
)


def drawn_as_asked(manifest: Manifest, policy: Policy) -> bool:
    """Return whether a mechanism is said to have drawn the rows, and the policy asks for that.

    A policy that states no domains asks for rows of people, whatever a manifest says of them. A
    hierarchy may state the domain of a column, but it does so for rows of people, too.
    """
    if manifest.drawn is None:
        return False
    names = [each.name for each in manifest.columns if not _is_derived(manifest, each)]
    rules = [policy.columns[name] for name in names if name in policy.columns]
    domains = [each.domain is not None for each in rules]
    stated = [
        domain or (each.hierarchy is not None and each.hierarchy.states_domain)
        for each, domain in zip(rules, domains, strict=True)
    ]
    return len(rules) == len(names) and any(domains) and all(stated)


def _is_derived(manifest: Manifest, column: ColumnRecord) -> bool:
    return manifest.synthetic is not None and column.name in (manifest.synthetic.derived or ())


def models_not_promised(manifest: Manifest, policy: Policy) -> list[PrivacyModel]:
    """Return the models of a policy that no promise of a manifest implies."""
    promised = [model for promise in manifest.models if (model := promise.readable())]
    return [
        model
        # Synthetic rows are no people's: models of classes say nothing of them.
        for model in (() if drawn_as_asked(manifest, policy) else policy.models)
        if not any(given.implies(model) for given in promised)
        # A decoupled release leaves sets out, and there is nothing to promise of them.
        and not (model.protects_sets and manifest.kind is not None)
    ]


def _measured_otherwise(manifest: Manifest, policy: Policy) -> list[str]:
    """Return the columns in whose hierarchy models measure, and which has another in the policy.

    A hierarchy that values decide cannot be built again, for not all of them are published.
    """
    found = []
    for name, paths in manifest.hierarchies.items():
        builder = policy.columns[name].hierarchy if name in policy.columns else None
        if builder is None or builder.fixed_height is None:
            continue
        try:
            own = paths_of(builder.build(name, list(paths)))
        except SfumatoError:
            found.append(name)
            continue
        # A manifest has values without their spelling, unless that matters.
        key = str if name in policy.exact else fold_spelling
        known = {tuple(map(key, (value, *path))) for value, path in own.items()}
        if any(tuple(map(key, (value, *path))) not in known for value, path in paths.items()):
            found.append(name)
    return found
