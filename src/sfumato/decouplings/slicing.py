"""Slicing: attributes in columns, rows in buckets, and each column by itself within a bucket."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Literal, Self

import numpy as np

from sfumato.counts import FrequencySet, group, sums
from sfumato.decouplings.base import (
    Decoupling,
    GroupedTables,
    Part,
    Parts,
    SensitiveTable,
    free_name,
    only_sensitive,
    random_labels,
)
from sfumato.decouplings.texts import code, quote, write_readme, write_schema
from sfumato.errors import ParameterError, require_int, require_number
from sfumato.slicing import (
    MEASURES,
    Columns,
    Form,
    SubTuples,
    correlated_columns,
    crowds,
    cut_into_buckets,
    form_of,
    require_diverse,
)
from sfumato.slicing.attributes import MOST
from sfumato.tables.derived import Cells, DerivedColumn, DerivedTable
from sfumato.typing import IntArray

_ABOUT = """\
Each table is a slice: some attributes of everybody, and how
many people of a bucket have each combination of them. What belongs together between two
slices is not said, beyond the bucket."""

_PROMISES = {
    "probabilistic-l-diversity": """\
- Whoever looks for a person finds no {column} with a probability above 1/{l}, if every way
  of joining the slices is equally likely.""",
    "entropy-l-diversity": """\
- Whoever looks for a person finds the values of {column} on average as hard to guess as {l}
  equally likely ones, if every way of joining the slices is equally likely.""",
    "recursive-cl-diversity": """\
- Whoever looks for a person finds the likeliest {column} less than {c} times as likely as all
  but the {others} likeliest together, if every way of joining the slices is equally likely.""",
}

_OVERLAP = """\
- What stands in several tables says the same in each, and joins them within a bucket: {names}."""

_POSSIBLE = """\
-- What the tables say together: every combination that a bucket may hold, and how many people
-- have it if the slices have nothing to do with each other. It grows with the product of the
-- combinations: leave out the slices you do not need."""

_OVERLAPPING = """\
-- A column of several slices is there once: slices are joined where they agree in it, and have
-- nothing else to do with each other. Where slices overlap in a circle, what one of them rules out
-- is left out, and the numbers of a bucket may add up to less than its people."""


def slice_readme(manifest: Mapping[str, Any]) -> str:
    """Describe the files of a sliced release."""
    [model] = manifest["models"]
    held = Counter(name for file in manifest["files"] for name in file["columns"])
    twice = [code(name) for name, times in held.items() if times > 1]
    return write_readme(
        manifest,
        Slicing.groups,
        "A release in slices",
        _ABOUT,
        {},
        [
            _promise(model),
            *([_OVERLAP.format(names=", ".join(twice))] if twice else []),
            "- Values are exact. The order of rows is random. An empty cell is a missing value.",
        ],
    )


def _promise(model: Mapping[str, Any]) -> str:
    """Write what holds of all people."""
    told = {**model, "column": code(model["column"]), "others": model["l"] - 1}
    return _PROMISES[model["model"]].format(**told)


def slice_sql(parts: Parts) -> str:
    """Write the definitions of the tables, and a view that joins them again within a bucket.

    The joined number of people is that of the first slice, times the share that each further
    slice gives its own values among the people who agree with what is joined already.
    """
    bucket, count = quote(parts.group), quote(parts.count)
    names = list(dict.fromkeys(name for part in parts.tables for name in part.columns))
    # Of a column in several slices the first is taken; all others agree with it.
    home = {n: f"s{i}" for i, part in reversed(_number_parts(parts)) for n in part.columns}
    share, expected = (
        quote(free_name(word, [*names, parts.group])) for word in ("share", "expected")
    )
    chosen = [
        f"s1.{bucket} AS {bucket}",
        *(f"{home[name]}.{quote(name)} AS {quote(name)}" for name in names),
        " * ".join([f"s1.{count}", *(f"s{i}.{share}" for i, _ in _number_parts(parts)[1:])])
        + f" AS {expected}",
    ]
    lines = [
        'CREATE VIEW "possible" AS',
        "SELECT\n    " + ",\n    ".join(chosen),
        f"FROM {quote(parts.tables[0].name)} AS s1",
    ]
    overlapping = False
    for i, part in _number_parts(parts)[1:]:
        shared = [name for name in part.columns if home[name] != f"s{i}"]
        overlapping |= bool(shared)
        lines += _join_slice(f"s{i}", part, shared, home, (bucket, count, share))
    said = "\n".join([_POSSIBLE, _OVERLAPPING] if overlapping else [_POSSIBLE])
    return write_schema(parts, said, "\n".join(lines) + ";")


def _number_parts(parts: Parts) -> list[tuple[int, Part]]:
    return list(enumerate(parts.tables, start=1))


def _join_slice(
    alias: str, part: Part, shared: Sequence[str], home: Mapping[str, str], words: Sequence[str]
) -> list[str]:
    """Join one more slice: by the bucket, and by what stands in a slice before it too."""
    bucket, count, share = words
    own = [quote(name) for name in part.columns]
    by = ", ".join([bucket, *map(quote, shared)])
    agreeing = [f"{alias}.{bucket} = s1.{bucket}"]
    agreeing += [_same(f"{alias}.{quote(n)}", f"{home[n]}.{quote(n)}") for n in shared]
    # Every name is quoted, and nothing here is ever run by us.
    return [
        f"JOIN (SELECT {', '.join([bucket, *own])},",
        f"    {count} * 1.0 / SUM({count}) OVER (PARTITION BY {by}) AS {share}",
        f"    FROM {quote(part.name)}) AS {alias} ON " + "\n    AND ".join(agreeing),
    ]


def _same(one: str, other: str) -> str:
    """Compare as values are compared here: a missing one agrees with a missing one."""
    return f"({one} = {other} OR ({one} IS NULL AND {other} IS NULL))"


_GIVES_AWAY = (
    "values are published as they are: whoever finds somebody's in no bucket can tell that the "
    "person is not in the data"
)

_OF_CLUSTERS = ("slices", "most", "overlap", "measure")
"""Settings that say how attributes are put together, which given columns leave no room for."""


@dataclass(frozen=True)
class Slicing(Decoupling):
    """Publish attributes in columns, and of each bucket of rows every column by itself.

    Attributes that are correlated share a column, so what they have to do with each other stays
    known; between columns it is known only as far as the buckets tell. Values stay exact, and
    it needs no anonymised table to start from.

    Promises: who knows the quasi-identifiers of a person, and even which bucket the person is in,
    finds no sensitive value with a probability above 1/l; or, in another form, finds the values as
    hard to guess as the model of that form says. Labels and orders are random.
    Assumes: that every way of joining the slices of a bucket is equally likely to the adversary.
    Does not promise: to hide who is in the data; anything against those who can rule values out
    (but see `RecursiveCLDiversity`), or who reckon with how buckets were cut. Those who learn from
    all buckets together which values go with which guess better: `attacks.DeFinetti` tries that.
    Several sensitive columns are refused.

    Reference: "Slicing: a new approach for privacy preserving data publishing", 2012,
    doi:10.1109/TKDE.2010.236

    Args:
        l: How diverse the sensitive values are. One over the largest probability any may have, a
            whole number of 2 or more; with form="entropy" any number above 1.
        form: What l bounds: "probabilistic" the likeliest value, "entropy" the entropy, which is
            log(l) at least, "recursive" the likeliest value against the rare ones. They are those
            of `ProbabilisticLDiversity`, `EntropyLDiversity` and `RecursiveCLDiversity`.
        c: With form="recursive", the likeliest value stays below c times all from the l-th
            likeliest on together.
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
    groups: ClassVar[tuple[str, str]] = ("bucket", "buckets")
    keeps_classes: ClassVar[bool] = False
    by_size: ClassVar[bool] = False
    notes: ClassVar[tuple[str, ...]] = (_GIVES_AWAY,)

    l: int | float
    form: Literal["probabilistic", "entropy", "recursive"] = "probabilistic"
    c: float | None = None
    columns: tuple[str | tuple[str, ...], ...] | None = None
    slices: int | None = None
    most: int | None = None
    overlap: float | None = None
    measure: Literal["phi-square", "cramers-v", "mutual-information"] = "phi-square"

    def __post_init__(self) -> None:
        form_of(self.form, self.l, self.c)
        if self.measure not in MEASURES:
            expected = "one of " + ", ".join(map(repr, MEASURES))
            raise ParameterError("measure", self.measure, expected)
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

    def _refuse_both(self) -> None:
        """Raise an error for two settings that decide the same."""
        given = {f.name for f in fields(self) if getattr(self, f.name) != f.default}
        both = [("columns", name) for name in _OF_CLUSTERS] + [("slices", "most")]
        for first, name in both:
            if {first, name} <= given:
                why = f"{first} are given. Leave out one of the two"
                raise ParameterError(name, getattr(self, name), "left out", why=why)

    @property
    def diversity(self) -> Form:
        """The diversity that every bucket must have."""
        return form_of(self.form, self.l, self.c)

    def run(
        self,
        counts: FrequencySet,
        quasi_identifiers: Sequence[str],
        sensitive: Sequence[str],
        *,
        rng: np.random.Generator,
    ) -> Parts:
        columns = self._columns(counts, quasi_identifiers, only_sensitive(sensitive))
        laid = SubTuples.of(counts, columns)
        codes = [counts.codes_of(name) for name in quasi_identifiers]
        bucket = cut_into_buckets(laid, codes, self.diversity)
        return self._parts(counts, columns, laid, bucket, rng)

    def _columns(
        self, counts: FrequencySet, quasi_identifiers: Sequence[str], sensitive: str
    ) -> Columns:
        alone, form = Columns(((sensitive,),), sensitive), self.diversity
        if self.columns is None:
            require_diverse(counts, alone, form)
            return correlated_columns(
                counts,
                quasi_identifiers,
                sensitive,
                form,
                most=self.most or MOST,
                slices=self.slices,
                overlap=self.overlap,
                measure=self.measure,
            )
        columns = Columns.of(self.columns, quasi_identifiers, sensitive)
        require_diverse(counts, alone, form)
        require_diverse(counts, columns, form)
        return columns

    def _parts(
        self,
        counts: FrequencySet,
        columns: Columns,
        laid: SubTuples,
        bucket: IntArray,
        rng: np.random.Generator,
    ) -> Parts:
        grouped = _group_tables(counts, columns.sensitive, bucket, rng)
        label = free_name("bucket", counts.names)
        count = free_name("count", [*counts.names, label])
        tables = tuple(
            Part(
                f"slice_{number}",
                "slice",
                _slice(counts, names, bucket, grouped.labelled, (label, count), rng),
                columns=names,
            )
            for number, names in enumerate(columns.columns, start=1)
        )
        model = self.diversity.model(columns.sensitive)
        measured = self.diversity.measure(crowds(laid, bucket).tally)
        promise = {"model": model.name, **model.params(), "measured": measured}
        return Parts(grouped, label, count, tables, (promise,))

    def companions(self, parts: Parts, manifest: Mapping[str, Any]) -> dict[str, str]:
        return {"schema.sql": slice_sql(parts), "README.md": slice_readme(manifest)}

    @classmethod
    def example(cls) -> Self:
        return cls(l=3)


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


def _group_tables(
    counts: FrequencySet, sensitive: str, bucket: IntArray, rng: np.random.Generator
) -> GroupedTables:
    """Count the sensitive values of each bucket. Buckets have no quasi-identifiers in common."""
    column, value = counts.column(sensitive), counts.codes_of(sensitive)
    n = int(bucket.max()) + 1
    cells = group([bucket, value], [n, len(column.values)])
    rows = sums(cells.of_item, counts.rows, cells.n)
    table = SensitiveTable(column, bucket[cells.first], value[cells.first], rows)
    sizes, nothing = sums(bucket, counts.rows, n), np.empty((0, n), dtype=np.int32)
    return GroupedTables((), nothing, sizes, (table,), random_labels(n, rng))


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
