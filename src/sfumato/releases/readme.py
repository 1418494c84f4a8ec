"""The README of a release in one table: for recipients, who have nothing but its folder.

It follows from the manifest and the codebook alone, so the signer of a release can write it again
and compare. Names and values of the data stand in it as code only, and in recipes only if they
cannot be anything but names there.
"""

import math
import re
from collections.abc import Sequence

import numpy as np

from sfumato.counts import Column
from sfumato.dataclasses import dataclass
from sfumato.releases.codebook import (
    CODEBOOK,
    CODEBOOK_TEXT,
    NUMBERS,
    ROLES_IN_WORDS,
    SYNTHETIC_IN_WORDS,
    Codebook,
    CodebookLine,
    read_labels,
)
from sfumato.releases.manifest import ColumnRecord, Manifest, Promise
from sfumato.showing.plain import SAFE_NAME, render
from sfumato.synthesis.belief import bounds_of, but_for
from sfumato.tables import Table
from sfumato.tables.formats import FORMATS
from sfumato.text import STAR, number_of, text_of
from sfumato.typing import FloatArray, Value

README = "README.md"

_NUMERIC = ("number", "whole number")


def write_readme(manifest: Manifest, codebook: Codebook) -> str:
    """Return the README of a release in one table.

    Args:
        manifest: What it says of itself, with its file.
        codebook: What its columns are.
    """
    drawn = manifest.drawn
    return render(
        "releases/templates/readme.md.jinja",
        manifest=manifest,
        codebook=codebook,
        recipes=Recipes.of(manifest, codebook),
        codebook_file=CODEBOOK,
        codebook_text=CODEBOOK_TEXT,
        star=STAR,
        roles=ROLES_IN_WORDS if drawn is None else SYNTHETIC_IN_WORDS,
        drawn=drawn,
        but_for=but_for,
        beliefs=() if drawn is None else bounds_of(drawn.epsilon, drawn.unit, drawn.rho),
        counts_people=_counts_people(manifest),
        ranges=any(line.type.endswith(" or range") for line in codebook.columns),
        numbers=_columns_of_numbers(manifest),
        in_words=_in_words,
        notes_of=_notes_of,
        is_noisy=_is_noisy,
    )


def _in_words(promise: Promise, *, people: bool) -> str:
    """Return the first sentence that a model says of itself; nothing for one that is not known."""
    model = promise.readable()
    said = "" if model is None else (type(model).__doc__ or "").strip().splitlines()[0]
    if not people:
        return said
    # Models speak of rows; here they were held to people, who may have several.
    return re.sub(r"\brow\b", "person", re.sub(r"\brows\b", "people", said))


def _counts_people(manifest: Manifest) -> bool:
    return "counted" in (manifest.person or {})


def _columns_of_numbers(manifest: Manifest) -> list[dict[str, str]]:
    """Return the columns that stand in place of labels, by what each is of a range."""
    found: dict[str, dict[str, str]] = {}
    for column in manifest.columns:
        if column.of is not None and column.part is not None:
            found.setdefault(column.of, {})[column.part] = column.name
    return list(found.values())


def _notes_of(column: ColumnRecord) -> str:
    """Return what was done to the values of a column."""
    return "; ".join(member.note([column.name]) for member in column.perturbations)


def _is_noisy(column: ColumnRecord) -> bool:
    return any(member.adds_noise for member in column.perturbations)


@dataclass(frozen=True)
class Quantity:
    """A column of numbers that recipes compute with, in whatever form it is published."""

    name: str
    """What it is called in the original."""

    columns: tuple[str, ...]
    """The columns of the file: one of labels or numbers, or one for each end of the ranges."""

    ends: tuple[str, str]
    """The smallest and the largest bound that it has: what an open end is taken for."""

    step: str
    """The number by which a range is wider than its ends are apart: 1 for whole numbers."""

    ranged: bool
    """Whether some of its cells are ranges, or numbers that stand for one."""

    known: bool
    """Whether others may know it."""

    middles: bool = False
    """Whether its column has numbers that stand for ranges of the codebook."""

    hidden: float = 0.0
    """The share of its cells that are hidden, as far as the codebook says."""

    centre: str | None = None
    """The column that has the mean of each class, beside those of the ends; None for none."""

    @property
    def bounds(self) -> tuple[str, str]:
        """A range to ask about: the middle half of the column, in numbers that can be typed."""
        low, high = map(float, self.ends)
        quarter = (high - low) / 4
        digits = max(0, 1 - math.floor(math.log10(quarter))) if quarter else 0
        return text_of(round(low + quarter, digits)), text_of(round(high - quarter, digits))


def _quantities(manifest: Manifest, codebook: Codebook) -> list[Quantity]:
    """Return the columns of numbers that have names to write recipes with."""
    records = {column.name: column for column in manifest.columns}
    found = {}
    for line in codebook.columns:
        record = records.get(line.column, ColumnRecord(line.column, line.role))
        name = record.of or line.column
        parts = [line]
        if record.of is not None and record.part != "middle":
            named = {
                each.name
                for each in manifest.columns
                if each.of == record.of and each.part in ("low", "high")
            }
            parts = [each for each in codebook.columns if each.column in named]
        numeric = (
            each.type.removesuffix(" or range") in _NUMERIC
            and number_of(each.low) is not None
            and number_of(each.high) is not None
            and SAFE_NAME.fullmatch(each.column)
            for each in parts
        )
        if name in found or line.role == "weight" or not all(numeric):
            continue
        excluded = any(records[each.column].upper for each in parts if each.column in records)
        excluded |= any(
            each.upper == "excluded" and each.low and each.high
            for part in parts
            for each in codebook.values_of(part.table, part.column)
        )
        whole = all(each.type.startswith("whole") for each in parts) and not excluded
        if record.part == "middle":
            sides = [e for e in codebook.values_of(line.table, line.column) if e.low and e.high]
            ends = sorted([*(e.low for e in sides), *(e.high for e in sides)], key=float)
            ends = ends or [line.low, line.high]
            whole = all(float(end).is_integer() for end in ends) and not excluded
        else:
            ends = sorted([e for part in parts for e in (part.low, part.high)], key=float)
        found[name] = Quantity(
            name=name,
            columns=tuple(each.column for each in parts),
            ends=(ends[0], ends[-1]),
            step="1" if whole else "0",
            ranged=record.of is not None or "range" in line.type,
            known=line.role == "quasi-identifier",
            middles=record.part == "middle",
            hidden=float(line.hidden or 0),
            centre=next(
                (c.name for c in manifest.columns if c.of == name and c.part == "mean"), None
            ),
        )
    return list(found.values())


@dataclass(frozen=True)
class Recipes:
    """What recipes are written about: the columns of a release that suit them best."""

    file: str
    form: str
    number: Quantity | None
    """A column of numbers, in which there may be ranges."""

    outcome: Quantity | None
    """A column of numbers that is published as it is."""

    group: CodebookLine | None
    """A column of few values."""

    weight: str | None
    who: str
    """What is counted: people, or rows of which a person may have several."""

    delimiter: str = ","
    """What stands between the cells of a text file."""

    @classmethod
    def of(cls, manifest: Manifest, codebook: Codebook) -> "Recipes":
        """Choose columns by their names, roles and types, and by nothing else."""
        [file] = manifest.files
        fit = [line for line in codebook.columns if SAFE_NAME.fullmatch(line.column)]
        numbers = _quantities(manifest, codebook)
        # Codes look like numbers too: a range is surely one, and so is what others do not know.
        known = [each for each in numbers if each.known]
        others = [each for each in numbers if not each.known and len(each.columns) == 1]
        ranges = [each for each in known if each.ranged]
        number = next(iter([*ranges, *others, *known]), None)
        groups = [
            line
            for line in fit
            if line.type in ("text", "true or false")
            and codebook.values_of(line.table, line.column)
        ]
        weights = [line.column for line in fit if line.role == "weight"]
        return cls(
            file.name,
            file.format or "",
            number,
            next((each for each in others if each is not number and not each.ranged), None),
            next(iter(groups), None),
            next(iter(weights), None),
            "rows" if _counts_people(manifest) else "people",
            file.delimiter or ",",
        )

    def answers(self, table: Table, means: Table | None = None) -> dict[str, float]:
        """Return what the recipes compute of a table: of the release, or of its original.

        Args:
            table: Rows with labels or with raw values, under the names of the original.
            means: The same rows with the means of classes in place of labels, if there are such.
        """
        found = self._answers(table)
        if means is not None and self.number is not None and self.number.name in means.columns:
            exact = self._answers(means)
            told = ("mean of ", "slope of ")
            found |= {what: each for what, each in exact.items() if what.startswith(told)}
        return found

    def _answers(self, table: Table) -> dict[str, float]:
        if self.number is None or self.number.name not in table.columns:
            return {}
        others = [] if self.outcome is None else [self.outcome.name]
        names = [self.number.name, *(name for name in others if name in table.columns)]
        if self.weight is not None and self.weight in table.columns:
            counts, mass = table.count_weighted(names, self.weight)
        else:
            counts = table.count(names).project(names)
            mass = counts.rows.astype(np.float64)
        ends = _ends_of(counts.columns[0], self.number)
        if ends is None:
            return {}
        low, high = ends[:, counts.codes[0].astype(np.int64)]
        known = ~np.isnan(low) & (mass > 0)
        if not known.any():
            return {}
        name, (least, most), step = self.number.name, self.number.bounds, float(self.number.step)
        width, middle = high - low + step, (low + high) / 2
        inside = np.maximum(np.minimum(high, float(most)) - np.maximum(low, float(least)) + step, 0)
        alone = (low >= float(least)) & (low <= float(most))
        share = np.where(width > 0, inside / np.where(width > 0, width, 1), alone)
        counted = (mass * share)[known].sum() * mass.sum() / mass[known].sum()
        found = {
            f"mean of {name}": float(np.average(middle[known], weights=mass[known])),
            f"{self.who} with {name} from {least} to {most}": float(counted),
        }
        if len(names) > 1 and self.outcome is not None:
            y = np.array(
                [_number_or_nan(value) for value in counts.columns[1].values], dtype=np.float64
            )[counts.codes[1].astype(np.int64)]
            both = known & ~np.isnan(y)
            slope = _slope(middle[both], y[both], mass[both])
            if slope is not None:
                found[f"slope of {self.outcome.name} by {name}"] = slope
        return found

    @property
    def read_by_pandas(self) -> str:
        """The call by which pandas reads its file; empty if it has none, or a line of its own."""
        return FORMATS[self.form].pandas.format(file=self.file) if self.form in FORMATS else ""

    @property
    def mark(self) -> str:
        """The sign that a recipe names as standing between cells; nothing where it is a comma."""
        return "" if self.delimiter == "," else self.delimiter.replace("\t", "\\t")


def _ends_of(column: Column, number: Quantity) -> FloatArray | None:
    """Return both ends of each value of a column, as recipes read it; NaN for what is not told."""
    texts = [None if v is None or text_of(v) == STAR else text_of(v) for v in column.values]
    read = read_labels([text for text in texts if text is not None])
    if read is None or read.kind != NUMBERS:
        return None
    pairs = [(math.nan, math.nan) if t is None else read.ends_of(t) for t in texts]
    low, high = np.array(pairs, dtype=np.float64).reshape(-1, 2).T
    least, most = map(float, number.ends)
    return np.array([np.where(np.isinf(low), least, low), np.where(np.isinf(high), most, high)])


def _number_or_nan(value: Value) -> float:
    found = None if value is None else number_of(value)
    return math.nan if found is None else found


def _slope(x: FloatArray, y: FloatArray, weight: FloatArray) -> float | None:
    """Return the slope of a line through points; None if there is none.

    >>> _slope(np.array([1.0, 2.0, 3.0]), np.array([2.0, 4.0, 6.0]), np.ones(3))
    2.0
    """
    if not len(x):
        return None
    mean_x, mean_y = np.average(x, weights=weight), np.average(y, weights=weight)
    spread = float((weight * (x - mean_x) ** 2).sum())
    return float((weight * (x - mean_x) * (y - mean_y)).sum()) / spread if spread else None


def recipes_in(text: str) -> dict[str, Sequence[str]]:
    """Return the recipes of a README, by language, as they stand there."""
    found: dict[str, list[str]] = {}
    for language, recipe in re.findall(r"^```(\w+)\n(.*?)\n```$", text, re.DOTALL | re.MULTILINE):
        found.setdefault(language, []).append(recipe)
    return dict(found)
