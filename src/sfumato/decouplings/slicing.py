"""Slicing: attributes in columns, rows in buckets, and each column by itself within a bucket."""

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, ClassVar, Literal, Self

import numpy as np

from sfumato.counts import FrequencySet, group, sums
from sfumato.dataclasses import dataclass
from sfumato.decouplings.anatomy import NOT_BY_LOT
from sfumato.decouplings.base import (
    DecoupledPart,
    Decoupling,
    GroupedTables,
    Parts,
    SensitiveTable,
    free_name,
    joint_name,
    random_labels,
    read_together,
)
from sfumato.decouplings.guide import write_companions
from sfumato.decouplings.slices import (
    AIMS,
    CHECKS,
    MEASURES,
    Columns,
    DiversityForm,
    Probabilistic,
    Size,
    SubTuples,
    correlated_columns,
    crowds,
    cut_into_buckets,
    form_of,
    require_diverse,
    ruled_out,
)
from sfumato.decouplings.slices.attributes import MOST
from sfumato.errors import ParameterError, require_int, require_number, some
from sfumato.tables.derived import Cells, DerivedColumn, DerivedTable
from sfumato.text import percent
from sfumato.typing import IntArray, Value

_GIVES_AWAY = (
    "values are published as they are: an adversary who finds a person's values in no bucket "
    "knows that the person is not in the data"
)

_SIZE = "bucket-size"
"""What is promised without a sensitive column."""

_OF_CLUSTERS = ("slices", "most", "overlap", "measure", "aim")
"""Settings that say how attributes are put together, which given columns leave no room for."""


@dataclass(frozen=True)
class Slicing(Decoupling):
    """Publish attributes in columns, and of each bucket of rows every column by itself.

    Attributes that are correlated share a column, so what they have to do with each other stays
    known; between columns it is known only as far as the buckets tell. Values stay exact, and
    it needs no anonymised table to start from.

    Promises: who knows the quasi-identifiers of a person, and even which bucket the person is in,
    finds no sensitive value with a probability above 1/l; or, in another form, finds the values as
    hard to guess as the model of that form says. Of several sensitive columns that holds of each,
    also for those who know a person's values of the others, so that m values together have a
    probability of at most 1/lᵐ. With none, buckets have at least l people, and nothing is promised
    but what `tools.membership` measures. Labels and orders are random.
    Assumes: that every way of joining the slices of a bucket is equally likely to the adversary.
    With check="worlds", that the adversary knows no more of a person than the quasi-identifiers and
    that the person is in the data: neither the bucket, nor who else is in it.
    Does not promise: to hide who is in the data (overlap betrays more of that: a release warns how
    much); anything against those who can rule values out (but see `RecursiveCLDiversity`), or who
    reckon with how buckets were cut. Those who learn from all buckets together which values go with
    which guess better: `attacks.DeFinetti` tries that.

    Reference: "Slicing: a new approach for privacy preserving data publishing", 2012,
    doi:10.1109/TKDE.2010.236

    Args:
        l: How diverse the sensitive values are. One over the largest probability any may have, a
            whole number of 2 or more; with form="entropy" any number above 1; with the forms of
            (p,α)-sensitivity the fewest different values or categories. Without a sensitive column
            the fewest people of a bucket.
        form: What l bounds: "probabilistic" the likeliest value, "entropy" the entropy, which is
            log(l) at least, "recursive" the likeliest value against the rare ones, "p-alpha" the
            different values of a bucket and "enhanced-p-alpha" their categories. They are those
            of `ProbabilisticLDiversity`, `EntropyLDiversity`, `RecursiveCLDiversity`,
            `PAlphaSensitiveKAnonymity` and `EnhancedPAlphaSensitiveKAnonymity`.
        c: With form="recursive", the likeliest value stays below c times all from the l-th
            likeliest on together.
        alpha: With the last two forms, the least that the values of a bucket weigh together.
        categories: With these forms, every value of the sensitive column in one of two or more
            lists, most secret first; a list may be a text with + between values.
        columns: The attributes of each column, as a list of names or as a text with + between
            them. A quasi-identifier may stand in several. None puts together what is correlated.
        slices: How many columns there are, from 2 to the number of attributes. None makes as many
            as `most` needs.
        most: The most attributes of a column; 3 if it is not said, and no limit with `slices`.
        overlap: Let attributes stand in further columns, so that pairs at least as strongly
            correlated as this (from 0 to 1) are published together.
        measure: How correlation is measured, from 0 to 1: "phi-square" (mean-square contingency),
            "cramers-v" (its root) or "mutual-information" (over the smaller entropy). Numbers of
            many values are put into bins.
        aim: What columns are chosen for: "correlations", or "membership", which puts only such
            attributes together of whose values nearly all combinations occur, so that fewer people
            who are not in the data can be told.
        cuts: How rows are cut into buckets: "strict" between two values, so that a person matches
            one bucket, or "relaxed" through the median, so that buckets overlap and a person may
            match several.
        check: What is asked of relaxed cuts: "buckets" that each bucket is diverse; "worlds" that
            all tables are which the slices can be joined to, taken together, so that buckets
            may be smaller; "paper" the same by the printed formula p(t,B) = f(t,B) / Σ f, which
            gives buckets of all sizes one weight and promises less.
        together: Columns that stay together, as lists of names or as texts with + between them:
            sensitive ones, or a plain one beside a sensitive one. They are published side by side,
            and their combination counts as one sensitive value.

    Example:
        >>> rows = [(age, zip, ill) for age in "ab" for zip in "xy" for ill in ("flu", "gout")]
        >>> counts = FrequencySet.from_rows(["age", "zip", "ill"], rows)
        >>> slicing = Slicing(l=2, columns=["age+zip", "ill"])
        >>> rng = np.random.default_rng()
        >>> parts = slicing.run(counts, ["age", "zip"], ["ill"], rng=rng)
        >>> [(part.name, part.columns, part.content.rows) for part in parts.tables]
        [('slice_1', ('age', 'zip'), 4), ('slice_2', ('ill',), 8)]
    """

    name: ClassVar[str] = "slicing"
    why_no_ledger: ClassVar[str | None] = (
        "a sensitive column stands in a slice with others, so who knows one of their values learns "
        "the others, and alpha would not bound that"
    )
    groups: ClassVar[tuple[str, str]] = ("bucket", "buckets")
    keeps_classes: ClassVar[bool] = False
    notes: ClassVar[tuple[str, ...]] = (_GIVES_AWAY,)
    needs_sensitive: ClassVar[bool] = False

    l: int | float
    form: Literal["probabilistic", "entropy", "recursive", "p-alpha", "enhanced-p-alpha"] = (
        "probabilistic"
    )
    c: float | None = None
    alpha: float | None = None
    categories: tuple[str | tuple[Value, ...], ...] | None = None
    columns: tuple[str | tuple[str, ...], ...] | None = None
    slices: int | None = None
    most: int | None = None
    overlap: float | None = None
    measure: Literal["phi-square", "cramers-v", "mutual-information"] = "phi-square"
    aim: Literal["correlations", "membership"] = "correlations"
    cuts: Literal["strict", "relaxed"] = "strict"
    check: Literal["buckets", "worlds", "paper"] = "buckets"
    together: tuple[str | tuple[str, ...], ...] = ()

    @classmethod
    def refuse_ledger(cls, tables: Sequence[Sequence[str]], sensitive: Sequence[str]) -> str | None:
        joined = any(len(columns) > 1 and {*columns} & {*sensitive} for columns in tables)
        return cls.why_no_ledger if joined else NOT_BY_LOT

    def __post_init__(self) -> None:
        object.__setattr__(self, "together", read_together(self.together))
        if isinstance(self.categories, Sequence) and not isinstance(self.categories, str):
            object.__setattr__(self, "categories", _read_values(self.categories))
        form = self.diversity
        for name, allowed in (
            ("measure", tuple(MEASURES)),
            ("aim", AIMS),
            ("cuts", ("strict", "relaxed")),
            ("check", tuple(CHECKS)),
        ):
            if getattr(self, name) not in allowed:
                expected = "one of " + ", ".join(map(repr, allowed))
                raise ParameterError(name, getattr(self, name), expected)
        if self.slices is not None:
            why = "with one column whole rows are published, and nothing is hidden"
            require_int("slices", self.slices, at_least=2, why=why)
        if self.columns is not None:
            # A frozen dataclass takes its fields in one form, however they were given.
            object.__setattr__(self, "columns", _read(self.columns))
        if self.most is not None:
            require_int("most", self.most, at_least=1)
        if self.overlap is not None:
            require_number("overlap", self.overlap, at_least=0, at_most=1)
        self._refuse_both()
        self._refuse_check(form)

    def _refuse_both(self) -> None:
        """Raise an error for two settings that decide the same."""
        given = {f.name for f in fields(self) if getattr(self, f.name) != f.default}
        both = [("columns", name) for name in _OF_CLUSTERS] + [("slices", "most")]
        for first, name in both:
            if {first, name} <= given:
                why = f"{first} are given. Leave out one of the two"
                raise ParameterError(name, getattr(self, name), "left out", why=why)
        if {"aim", "slices"} <= given:
            why = "with membership in mind, as many columns are made as it takes"
            raise ParameterError("slices", self.slices, "left out", why=why)

    def _refuse_check(self, form: DiversityForm) -> None:
        """Raise an error for a check that would have nothing to do, or could not be made."""
        if self.check == "buckets":
            return
        if self.cuts == "strict":
            why = "with strict cuts every person matches one bucket. Take cuts='relaxed'"
            raise ParameterError("check", self.check, "left out", why=why)
        if not form.of_shares:
            why = f"form={self.form!r} counts the values of a bucket, and no probabilities"
            raise ParameterError("check", self.check, "'buckets'", why=why)

    @property
    def diversity(self) -> DiversityForm:
        """The diversity that every bucket must have."""
        return form_of(self.form, self.l, c=self.c, alpha=self.alpha, categories=self.categories)

    def run(
        self,
        counts: FrequencySet,
        quasi_identifiers: Sequence[str],
        sensitive: Sequence[str],
        *,
        rng: np.random.Generator,
        plain: Sequence[str] = (),
    ) -> Parts:
        if self.together and self.columns is not None:
            laid_out = tuple(_join_names(names, self.together) for names in self.columns)
            slicing = replace(self, columns=laid_out, together=())
            return slicing.run(counts, quasi_identifiers, sensitive, rng=rng, plain=plain)
        form = self._form(counts, sensitive)
        # What is put beside a sensitive column may be known of a person, as anything beside it.
        given = {name for names in self.columns or () for name in names}
        placed = [name for name in plain if name in given]
        columns = self._columns(counts, (*quasi_identifiers, *placed), sensitive, form)
        laid = SubTuples.of(counts, columns)
        draw = None
        if self.cuts == "relaxed":
            # A cut may part people who look alike: every row is an item of its own.
            items, draw = np.repeat(np.arange(len(counts)), counts.rows), rng
            one = np.ones(len(items), dtype=np.int64)
            counts = FrequencySet(counts.columns, counts.codes[:, items], one)
            laid = [each.take(items) for each in laid]
        codes = [counts.codes_of(name) for name in quasi_identifiers]
        mixing = rng if self.aim == "membership" else None
        bucket = cut_into_buckets(laid, codes, form, check=self.check, rng=draw, mixing=mixing)
        models = self._models(columns, laid, bucket, form)
        notes = self._notes(counts, quasi_identifiers, columns, bucket, form, rng)
        slices = _place([name for name in plain if name not in placed], columns)
        return self._parts(counts, columns.sensitive, slices, bucket, models, notes, rng)

    def _form(self, counts: FrequencySet, sensitive: Sequence[str]) -> DiversityForm:
        """Return the form as it judges the values of the table."""
        form = self.diversity
        if not sensitive:
            if self.form != Probabilistic.name or self.check != "buckets":
                given = f"form={self.form!r} and check={self.check!r}"
                why = f"{given} are about sensitive values. Leave them out, or name a column"
                raise ParameterError("sensitive", [], "one column", why=why)
            return Size(int(self.l))
        if form.of_shares and (len(sensitive) == 1 or self.check == "buckets"):
            return form
        if len(sensitive) != 1:
            given = f"form={self.form!r}" if not form.of_shares else f"check={self.check!r}"
            why = f"{given} is about the values of one column"
            raise ParameterError("sensitive", list(sensitive), "one column", why=why)
        return form.bind(counts.column(sensitive[0]))

    def _columns(
        self,
        counts: FrequencySet,
        quasi_identifiers: Sequence[str],
        sensitive: Sequence[str],
        form: DiversityForm,
    ) -> Columns:
        for name in sensitive:
            require_diverse(counts, Columns(((name,),), (name,)), form)
        if self.columns is None:
            columns = self._choose(counts, quasi_identifiers, sensitive, form)
        else:
            columns = Columns.of(self.columns, quasi_identifiers, sensitive)
        require_diverse(counts, columns, form)
        return columns

    def _choose(
        self,
        counts: FrequencySet,
        quasi_identifiers: Sequence[str],
        sensitive: Sequence[str],
        form: DiversityForm,
        *,
        overlapping: bool = True,
    ) -> Columns:
        return correlated_columns(
            counts,
            quasi_identifiers,
            sensitive,
            form,
            most=self.most or MOST,
            slices=self.slices,
            overlap=self.overlap if overlapping else None,
            measure=self.measure,
            aim=self.aim,
        )

    def _models(
        self, columns: Columns, laid: Sequence[SubTuples], bucket: IntArray, form: DiversityForm
    ) -> tuple[Mapping[str, Any], ...]:
        """Write what is promised of each secret."""
        if not columns.sensitive:
            measured = form.measure(crowds(laid[0], bucket).tally)
            return ({"model": _SIZE, "people": form.l, "measured": measured},)
        promises = []
        for name, each in zip(columns.sensitive, laid, strict=True):
            model = form.model(name)
            promise: dict[str, Any] = {"model": model.name, **model.params()}
            if self.check == "buckets":
                promise["measured"] = form.measure(crowds(each, bucket).tally)
            else:
                promise["check"] = self.check
            promises.append(promise)
        return tuple(promises)

    def _notes(
        self,
        counts: FrequencySet,
        quasi_identifiers: Sequence[str],
        columns: Columns,
        bucket: IntArray,
        form: DiversityForm,
        rng: np.random.Generator,
    ) -> tuple[str, ...]:
        """Return how many made-up people can be ruled out, and what overlap adds to that."""
        [draw] = rng.spawn(1)
        seed = int(draw.integers(1 << 62))

        def share(parts: Sequence[Sequence[str]]) -> str:
            # The same made-up people for both.
            own = np.random.default_rng(seed)
            return percent(ruled_out(counts, quasi_identifiers, parts, bucket, own))

        note = (
            f"of made-up people who are not in the data {share(columns.columns)} fit no bucket, so "
            "that it shows"
        )
        apart = self._without_overlap(counts, quasi_identifiers, columns, form)
        if {*map(frozenset, apart)} != {*map(frozenset, columns.columns)}:
            note += f"; without overlap it would be {share(apart)}"
        return (note,)

    def _without_overlap(
        self,
        counts: FrequencySet,
        quasi_identifiers: Sequence[str],
        columns: Columns,
        form: DiversityForm,
    ) -> list[list[str]]:
        """Return the columns as they are before attributes are added, or each where it is first."""
        if self.columns is None and self.overlap is None:
            return [list(column) for column in columns.columns]
        if self.columns is None:
            found = self._choose(
                counts, quasi_identifiers, columns.sensitive, form, overlapping=False
            )
            return [list(column) for column in found.columns]
        apart: list[list[str]] = []
        for column in columns.columns:
            before = {name for each in apart for name in each}
            apart.append([name for name in column if name not in before])
        return [column for column in apart if column]

    def _parts(
        self,
        counts: FrequencySet,
        sensitive: Sequence[str],
        slices: Sequence[tuple[str, ...]],
        bucket: IntArray,
        models: tuple[Mapping[str, Any], ...],
        notes: tuple[str, ...],
        rng: np.random.Generator,
    ) -> Parts:
        grouped = _group_tables(counts, sensitive, bucket, rng)
        label = free_name("bucket", counts.names)
        count = free_name("count", [*counts.names, label])
        tables = tuple(
            DecoupledPart(
                f"slice_{number}",
                "slice",
                _slice(counts, names, bucket, grouped.labelled, (label, count), rng),
                columns=names,
            )
            for number, names in enumerate(slices, start=1)
        )
        return Parts(grouped, label, count, tables, models, notes=notes)

    def companions(self, parts: Parts, manifest: Mapping[str, Any]) -> dict[str, str]:
        held = [name for part in parts.tables for name in part.columns]
        home: dict[str, str] = {}
        for i, part in enumerate(parts.tables, start=1):
            home |= {name: f"s{i}" for name in part.columns if name not in home}
        twice = [name for name in home if held.count(name) > 1]
        return write_companions("slicing", parts, manifest, self.groups, home=home, twice=twice)

    @classmethod
    def example(cls) -> Self:
        return cls(l=3)


def _join_names(
    names: str | Sequence[str], together: Sequence[str | Sequence[str]]
) -> tuple[str, ...]:
    """Return the names of a column, those that stay together as one."""
    found = list(names)
    for joined in together:
        held = [name for name in found if name in joined]
        if held and len(held) < len(joined):
            why = f"together says that {some(list(joined))} stay together"
            raise ParameterError("columns", list(names), "columns that part none of them", why=why)
        if held:
            found = [name for name in found if name not in joined] + [joint_name(list(joined))]
    return tuple(found)


def _place(plain: Sequence[str], columns: Columns) -> list[tuple[str, ...]]:
    """Return the slices, with what is published as it is beside most of the quasi-identifiers.

    Never beside a sensitive column: if there is no other slice, it gets one of its own.

    >>> _place(["pay"], Columns((("age",), ("sex", "zip"), ("ill",)), ("ill",)))
    [('age',), ('sex', 'zip', 'pay'), ('ill',)]
    >>> _place(["pay"], Columns((("age", "ill"), ("sex", "job")), ("ill", "job")))
    [('age', 'ill'), ('sex', 'job'), ('pay',)]
    """
    slices = list(columns.columns)
    if not plain:
        return slices
    open_to = [i for i, names in enumerate(slices) if not {*names} & {*columns.sensitive}]
    if not open_to:
        return [*slices, tuple(plain)]
    largest = max(open_to, key=lambda i: len(slices[i]))
    slices[largest] = (*slices[largest], *plain)
    return slices


def _read(given: object) -> tuple[tuple[str, ...], ...]:
    """Read columns, each a list of names or a text with + between them."""
    expected = "a list of columns, each a list of names or a text such as 'age+zip'"
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise ParameterError("columns", given, expected)
    found = []
    for column in given:
        names = column.split("+") if isinstance(column, str) else column
        if not isinstance(names, Sequence) or not all(isinstance(name, str) for name in names):
            raise ParameterError("columns", given, expected)
        found.append(tuple(name.strip() if isinstance(column, str) else name for name in names))
    return tuple(found)


def _read_values(given: Sequence[object]) -> tuple[object, ...]:
    """Read categories: texts with + between values are lists of them."""
    return tuple(
        tuple(part.strip() for part in each.split("+"))
        if isinstance(each, str)
        else tuple(each)
        if isinstance(each, Sequence)
        else each
        for each in given
    )


def _group_tables(
    counts: FrequencySet, sensitive: Sequence[str], bucket: IntArray, rng: np.random.Generator
) -> GroupedTables:
    """Count the sensitive values of each bucket. Buckets have no quasi-identifiers in common."""
    n = int(bucket.max()) + 1
    tables = []
    for name in sensitive:
        column, value = counts.column(name), counts.codes_of(name)
        cells = group([bucket, value], [n, len(column.values)])
        rows = sums(cells.of_item, counts.rows, cells.n)
        tables.append(SensitiveTable(column, bucket[cells.first], value[cells.first], rows))
    sizes, nothing = sums(bucket, counts.rows, n), np.empty((0, n), dtype=np.int32)
    return GroupedTables((), nothing, sizes, tuple(tables), random_labels(n, rng))


def _slice(
    counts: FrequencySet,
    names: Sequence[str],
    bucket: IntArray,
    labels: IntArray,
    added: tuple[str, str],
    rng: np.random.Generator,
) -> DerivedTable:
    """Count the sub-tuples of one column in each bucket, in random order."""
    held = [counts.column(name) for name in names]
    codes = [counts.codes_of(name) for name in names]
    cells = group([bucket, *codes], [len(labels), *(len(column.values) for column in held)])
    first, rows = cells.first, sums(cells.of_item, counts.rows, cells.n)
    columns = (
        DerivedColumn(added[0]),
        *(DerivedColumn(column.name, column.values) for column in held),
        DerivedColumn(added[1]),
    )
    kinds: Cells = (labels[bucket[first]], *(code[first] for code in codes), rows)
    return DerivedTable.repeat(columns, kinds, np.ones(cells.n, dtype=np.int64), rng)
