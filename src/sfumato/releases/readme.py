"""The README of a release in one table: for recipients, who have nothing but its folder.

It follows from the manifest and the codebook alone, so the signer of a release can write it again
and compare. Names and values of the data stand in it as code only, and in recipes only if they
cannot be anything but names there.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sfumato.counts import Column
from sfumato.decouplings.texts import code, quote
from sfumato.releases.codebook import (
    CODEBOOK,
    CODEBOOK_TEXT,
    NUMBERS,
    ROLES_IN_WORDS,
    Codebook,
    CodebookLine,
    read_labels,
)
from sfumato.releases.manifest import ColumnRecord, Manifest, Promise
from sfumato.showing.content import escape_markdown
from sfumato.tables import Table
from sfumato.tables.formats import FORMATS
from sfumato.text import STAR, number_of, percent, text_of
from sfumato.typing import FloatArray, Value

README = "README.md"

_NUMERIC = ("number", "whole number")
_SAFE_NAME = re.compile(r"[^\W\d][\w .()/%&#:-]{0,60}")
"""Names that recipes are written with: no sign of a quote, a comment or a new line is in them."""


def write_readme(manifest: Manifest, codebook: Codebook) -> str:
    """Return the README of a release in one table.

    Args:
        manifest: What it says of itself, with its file.
        codebook: What its columns are.
    """
    [file] = manifest.files
    recipes = Recipes.of(manifest, codebook)
    blocks = [
        f"# What is in {code(file.name)}",
        *_about(manifest),
        "## What is promised",
        *_promises(manifest),
        "## How to read it",
        *_cells(manifest, codebook),
        *recipes.blocks(),
        "## Files",
        _FILES.format(file=code(file.name), codebook=CODEBOOK, text=CODEBOOK_TEXT),
    ]
    return "\n\n".join(blocks) + "\n"


_FILES = """\
- {file}: the rows, in random order.
- `{codebook}` and `{text}`: what columns and labels mean, for programs and for people.
- `manifest.json`: how the release was made, what is promised, and the hashes of these files.
- `evidence.json`: the hash of every file, and a signature if there is one. Sfumato
  recomputes all promises from the rows: `sfumato verify` with the name of this folder."""


def _about(manifest: Manifest) -> list[str]:
    rows, person = manifest.rows, manifest.person or {}
    who = "Each row is about one person."
    if _counts_people(manifest):
        who = "A person may have several rows; what is promised is about people, not about rows."
    elif "rows" in person:
        who = f"Rows are counted, and not people: {escape_markdown(str(person['rows']))}"
    hidden = ""
    if rows.suppressed and rows.suppression == "star":
        hidden = f" {rows.suppressed} more rows have {code(STAR)} or nothing in every column."
    elif rows.suppressed:
        hidden = f" {rows.suppressed} rows of the original were left out."
    known = ", ".join(map(code, manifest.with_role("quasi-identifier")))
    made = (
        f"{rows.published} rows about people, made for publication by Sfumato "
        f"{manifest.sfumato}.{hidden} {who}"
    )
    if not known:
        return [made]
    classes = manifest.classes
    alike = (
        f"Values that others may know ({known}) were made more general, until no row stood out by "
        f"them. Rows that are equal in these columns are a *class*; there are {classes.count}, the "
        f"smallest of {classes.smallest} rows and the average of {classes.average or 0:.3g}."
    )
    return [made, alike]


def _promises(manifest: Manifest) -> list[str]:
    said = [
        f"- **{escape_markdown(str(each))}.** {_in_words(each, people=_counts_people(manifest))}"
        for each in manifest.models
    ]
    said += [f"- {escape_markdown(str(each))}." for each in manifest.hiding or ()]
    plain = ", ".join(map(code, manifest.with_role("plain")))
    beyond = (
        "This is about finding single people, and about their sensitive values. It is no promise "
        "about groups of people, nor about what other data tells."
    )
    if plain:
        beyond += f" As they were, and protected by nothing: {plain}."
    return ["\n".join(said), beyond]


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


def _cells(manifest: Manifest, codebook: Codebook) -> list[str]:
    lines = codebook.columns
    types = {line.type for line in lines}
    said = []
    if any(line.hidden not in ("", "0") for line in lines):
        said.append(
            f"- {code(STAR)} hides a value: the row has one, and it is not told. It is no "
            "category: leave such cells out, or count them as unknown."
        )
    if any(each.endswith(" or range") for each in types):
        said.append(
            f"- A label such as `60 to 64` is a range with both ends, `under 60` and `80 or more` "
            f"have one end, and `1 to under 1.4` does not reach its upper end. `{CODEBOOK}` has "
            "the ends of each label as `low` and `high`."
        )
    said += _columns_of_numbers(manifest)
    missing = {
        "own-value": "An empty cell is a missing value, of the original or of the release.",
        "matches-any": "An empty cell is a missing value; it may be any.",
        "suppress": "Rows with a missing value that others may know are not there.",
    }
    said.append(f"- {missing.get(manifest.missing, '')}")
    if manifest.with_role("weight"):
        said.append(
            f"- {', '.join(map(code, manifest.with_role('weight')))} says how many people a row "
            "stands for. It is the mean of the class, so sums over classes are those of the "
            "original. Use it as the weight in means, counts and regressions."
        )
    said += _changed_values(manifest)
    heads = ["column", "what it is", "type", "hidden"]
    rows = [
        [
            code(line.column),
            ROLES_IN_WORDS.get(line.role, line.role),
            line.type,
            percent(float(line.hidden)) if line.hidden else "",
        ]
        for line in lines
    ]
    table = "\n".join(f"| {' | '.join(row)} |" for row in (heads, ["---"] * 4, *rows))
    return ["\n".join(said), table]


def _changed_values(manifest: Manifest) -> list[str]:
    """Return what was done to the values of columns, and what that means for who reads them."""
    said = []
    for column in manifest.columns:
        chain = column.perturbations
        if not chain:
            continue
        done = "; ".join(member.note([column.name]) for member in chain)
        meant = "A single value may be far from the true one." if chain[-1].random else ""
        text = f"- {code(column.name)} was perturbed ({code(done)}). {meant}"
        if any(member.name.endswith("noise") for member in chain):
            text += " Means stay about the same; variances are larger."
        if chain[-1].rearranges or chain[-1].keeps_shares:
            text += " Shares of values stay about the same; what it has to do with other columns is"
            text += " weaker than it was."
        said.append(text.rstrip())
    return said


def _columns_of_numbers(manifest: Manifest) -> list[str]:
    """Return what the columns are that stand in place of labels."""
    found: dict[str, dict[str, str]] = {}
    for column in manifest.columns:
        if column.of is not None and column.part is not None:
            found.setdefault(column.of, {})[column.part] = code(column.name)
    said = []
    for parts in found.values():
        if "middle" in parts:
            said.append(
                f"- {parts['middle']} is the middle of a range, whose ends are in `{CODEBOOK}`. It "
                "is empty where the value is hidden or missing."
            )
        if "low" in parts and "high" in parts:
            said.append(
                f"- {parts['low']} and {parts['high']} are the ends of a range, equal for a single "
                "value. One is empty where the range is open, both where it is hidden or missing."
            )
        if "mean" in parts:
            said.append(
                f"- {parts['mean']} is the mean of all rows of the class, so that means over "
                "classes are those of these rows before they were generalised."
            )
        if "median" in parts:
            said.append(
                f"- {parts['median']} is the median of all rows of the class. Of an odd number of "
                "rows it is the value of one of them; a mean over classes is not that of the rows."
            )
    return said


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
            and _SAFE_NAME.fullmatch(each.column)
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
        fit = [line for line in codebook.columns if _SAFE_NAME.fullmatch(line.column)]
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

    def blocks(self) -> list[str]:
        """Return the recipes in every language that reads the file."""
        if self.number is None and self.group is None:
            return []
        intro = (
            "## Recipes\n\nRun them in this folder. "
            f"{self._stand_in} In counts, the rows of a "
            "range are spread evenly over it, and beside the estimate stand the fewest and the "
            "most rows that it may be. An open end, as of `under 60`, is taken to be the smallest "
            "or the largest bound of the column. Hidden values are left out of means"
        )
        intro += (
            "."
            if self.number is None or not self.number.hidden
            else (
                f": {percent(self.number.hidden)} of {code(self.number.name)}, and the people "
                "who have them need not be like the others."
            )
        )
        found = [intro]
        for title, language, text in (
            ("SQL (DuckDB)", "sql", self._sql()),
            ("pandas", "python", self._pandas()),
            ("R", "r", self._r()),
            ("Python with Sfumato", "python", self._sfumato()),
        ):
            if text:
                found += [f"### {title}", f"```{language}\n{text}\n```"]
        return found

    @property
    def _stand_in(self) -> str:
        if self.number is not None and self.number.centre is not None:
            centre = code(self.number.centre)
            return f"Means and regressions take {centre}, which has the mean of each class."
        return "A range stands for its middle in means and regressions."

    @property
    def _named(self) -> dict[str, str]:
        """The words that the texts of recipes about the number leave open."""
        assert self.number is not None  # noqa: S101 - asked for only then
        low, high = self.number.bounds
        return {
            "codebook": CODEBOOK,
            "name": self.number.name,
            "first": self.number.columns[0],
            "last": self.number.columns[-1],
            "centre": self.number.centre or "",
            "least": self.number.ends[0],
            "most": self.number.ends[1],
            "low": low,
            "high": high,
            "step": self.number.step,
            "who": self.who,
            "outcome": "" if self.outcome is None else self.outcome.name,
        }

    def _option(self, option: str) -> str:
        """Return how a language is told what stands between cells; nothing where it is a comma."""
        sign = "\\t" if self.delimiter == "\t" else self.delimiter
        return "" if sign == "," else option.format(sign)

    # SQL.

    def _sql(self) -> str:
        delim = self._option("delim = '{}', ")
        source = {
            "csv": f"read_csv('{self.file}', {delim}header = true, all_varchar = true)",
            "parquet": f"read_parquet('{self.file}')",
        }.get(self.form)
        if source is None:
            return ""
        parts = []
        if self.number is not None:
            parts += [*self._sql_views(self.number, source), self._sql_mean(), self._sql_count()]
        else:
            parts.append(f"CREATE OR REPLACE TEMP VIEW data AS\nSELECT * FROM {source};")
        if self.group is not None:
            parts.append(
                f"-- How many {self.who} have each {self.group.column}?\n"
                f"SELECT {quote(self.group.column)}, {self._sql_sum('1')} AS n\n"
                "FROM data GROUP BY 1 ORDER BY 2 DESC;"
            )
        if self.outcome is not None:
            parts.append(self._sql_regression())
        return "\n\n".join(parts)

    def _sql_views(self, number: Quantity, source: str) -> list[str]:
        """Return what makes the view of all rows, with the ends of the number in each."""
        first, last, (low, high) = *map(quote, (number.columns[0], number.columns[-1])), number.ends
        if len(number.columns) > 1:
            ends = (
                (first, f"if({last} IS NULL, NULL, {low})", "_low"),
                (last, f"if({first} IS NULL, NULL, {high})", "_high"),
            )
            terms = ",\n".join(
                f"       coalesce(TRY_CAST({end} AS DOUBLE), {other}) AS {name}"
                for end, other, name in ends
            )
            if number.centre is not None:
                terms += f",\n       TRY_CAST({quote(number.centre)} AS DOUBLE) AS _mean"
            return [f"CREATE OR REPLACE TEMP VIEW data AS\nSELECT *,\n{terms}\nFROM {source};"]
        match = f"CAST(d.{first} AS VARCHAR) = b.value"
        if number.middles:
            match = f"TRY_CAST(d.{first} AS DOUBLE) = TRY_CAST(b.value AS DOUBLE)"
        labels = (
            "CREATE OR REPLACE TEMP VIEW labels AS\n"
            "SELECT regexp_replace(value, '^''', '') AS value,\n"
            f"       CAST(coalesce(low, if(high IS NULL, NULL, '{low}')) AS DOUBLE) AS low,\n"
            f"       CAST(coalesce(high, if(low IS NULL, NULL, '{high}')) AS DOUBLE) AS high\n"
            f"FROM read_csv('{CODEBOOK}', header = true, all_varchar = true)\n"
            f"WHERE \"column\" = '{number.columns[0]}' AND entry = 'value';"
        )
        rows = (
            "CREATE OR REPLACE TEMP VIEW data AS\nSELECT d.*,\n"
            f"       coalesce(b.low, TRY_CAST(d.{first} AS DOUBLE)) AS _low,\n"
            f"       coalesce(b.high, TRY_CAST(d.{first} AS DOUBLE)) AS _high\n"
            f"FROM {source} AS d\nLEFT JOIN labels AS b ON {match};"
        )
        return [labels, rows]

    @property
    def _sql_middle(self) -> str:
        centred = self.number is not None and self.number.centre is not None
        return "_mean" if centred else "(_low + _high) / 2"

    @property
    def _sql_weight(self) -> str:
        return f"TRY_CAST({quote(self.weight)} AS DOUBLE)" if self.weight is not None else ""

    def _sql_sum(self, term: str) -> str:
        if self.weight is None:
            return "count(*)" if term == "1" else f"sum({term})"
        return f"sum({self._sql_weight})" if term == "1" else f"sum({self._sql_weight} * ({term}))"

    def _sql_mean(self) -> str:
        middle, w = self._sql_middle, self._sql_weight
        terms = ",\n       ".join(
            f"avg({what}) AS {name}" if not w else f"sum({w} * {what}) / sum({w}) AS {name}"
            for what, name in ((middle, "mean"), ("_low", "at_least"), ("_high", "at_most"))
        )
        return (
            f"-- The mean of {self._named['name']}, and between what it must be.\n"
            f"SELECT {terms}\nFROM data WHERE _low IS NOT NULL AND _high IS NOT NULL;"
        )

    def _sql_count(self) -> str:
        low, high, step = (self._named[key] for key in ("low", "high", "step"))
        share = (
            f"CASE WHEN _high - _low + {step} = 0 "
            f"THEN CAST(_low BETWEEN {low} AND {high} AS INTEGER)\n"
            f"            ELSE greatest(least(_high, {high}) - greatest(_low, {low})"
            f" + {step}, 0)\n                 / (_high - _low + {step}) END"
        )
        fewest = self._sql_sum("1")
        known = self._sql_sum("1") + " FILTER (_low IS NOT NULL AND _high IS NOT NULL)"
        return (
            f"-- How many {self.who} have {self._named['name']} from {low} to {high}?\n"
            f"SELECT {self._sql_sum(share)}\n"
            f"         * {self._sql_sum('1')} / {known} AS estimate,\n"
            f"       {fewest} FILTER (_low >= {low} AND _high <= {high}) AS at_least,\n"
            f"       {fewest} FILTER (coalesce(_high >= {low}, true) "
            f"AND coalesce(_low <= {high}, true)) AS at_most\n"
            "FROM data;"
        )

    def _sql_regression(self) -> str:
        outcome = self._named["outcome"]
        pair = f"TRY_CAST({quote(outcome)} AS DOUBLE) AS y, {self._sql_middle} AS x"
        weight = "" if self.weight is None else f"{self._sql_weight} AS w, "
        lines = [
            f"-- How does {outcome} change with {self._named['name']}?",
            *(_SQL_SLOPE if self.weight is None else _SQL_WEIGHTED_SLOPE),
            f"FROM (SELECT {weight}{pair} FROM data)",  # noqa: S608 - it is shown, and not run
            "WHERE x IS NOT NULL AND y IS NOT NULL;",
        ]
        return "\n".join(lines)

    # pandas.

    def _pandas(self) -> str:
        sep = self._option('sep="{}", ')
        read = FORMATS[self.form].pandas.format(file=self.file) if self.form in FORMATS else ""
        if self.form == "csv":
            options = f'{sep}dtype=str, keep_default_na=False, na_values=[""]'
            read = f'pd.read_csv("{self.file}", {options})'
        if not read:
            return ""
        weight = "pd.Series(1.0, index=data.index)"
        if self.weight is not None:
            weight = f'pd.to_numeric(data["{self.weight}"], errors="coerce")'
        text = f"import pandas as pd\n\ndata = {read}\nweight = {weight}\n"
        if self.number is not None:
            ends = _PANDAS_LABELS
            if len(self.number.columns) > 1:
                ends = _PANDAS_BOUNDS
            elif self.number.middles:
                ends = _PANDAS_MIDDLES
            middle = "(low + high) / 2"
            if self.number.centre is not None:
                middle = f'pd.to_numeric(data["{self.number.centre}"], errors="coerce")'
            numbers = _PANDAS_NUMBERS.format(**self._named, middle=middle)
            text += ends.format(**self._named) + numbers
        if self.group is not None:
            text += _PANDAS_GROUPS.format(group=self.group.column, who=self.who)
        if self.outcome is not None:
            text += _PANDAS_REGRESSION.format(**self._named)
        return text.rstrip("\n")

    # R.

    def _r(self) -> str:
        if self.form != "csv":
            return ""
        weight = "rep(1, nrow(data))"
        if self.weight is not None:
            weight = f'as.numeric(data[["{self.weight}"]])'
        sep = self._option('sep = "{}", ')
        text = _R_READ.format(file=self.file, sep=sep, weight=weight)
        if self.number is not None:
            ends = _R_BOUNDS if len(self.number.columns) > 1 else _R_LABELS
            middle = "(low + high) / 2"
            if self.number.centre is not None:
                middle = f'as.numeric(data[["{self.number.centre}"]])'
            text += ends.format(**self._named) + _R_NUMBERS.format(**self._named, middle=middle)
        if self.group is not None:
            text += _R_GROUPS.format(group=self.group.column, who=self.who)
        if self.outcome is not None:
            text += _R_REGRESSION.format(**self._named)
        return text.rstrip("\n")

    def _sfumato(self) -> str:
        lines = ["import sfumato as sf", "", 'data = sf.read_release(".")  # a DataFrame']
        if self.number is not None:
            name = self.number.name
            both = f'data["{name}_low"] + data["{name}_high"]'
            middle = f"({both}) / 2" if self.number.ranged else f'data["{name}"]'
            if self.number.centre is not None:
                middle = f'data["{name}_mean"]'
            lines += ["", f"# The mean of {name}.", f"print(({middle}).mean())"]
        return "\n".join(lines)


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


_SQL_SLOPE = ("SELECT regr_slope(y, x) AS slope, regr_intercept(y, x) AS intercept",)
_SQL_WEIGHTED_SLOPE = (
    "SELECT (sum(w) * sum(w * x * y) - sum(w * x) * sum(w * y))",
    "         / (sum(w) * sum(w * x * x) - sum(w * x) ** 2) AS slope",
)

_PANDAS_BOUNDS = """
# The ends of {name}. An open end is the smallest or largest bound; hidden values have none.
low = pd.to_numeric(data["{first}"], errors="coerce")
high = pd.to_numeric(data["{last}"], errors="coerce")
open_low, open_high = low.isna() & high.notna(), high.isna() & low.notna()
low, high = low.mask(open_low, {least}), high.mask(open_high, {most})
"""

_PANDAS_CODEBOOK = """
# The ends of the ranges of {name}, from the codebook.
codebook = pd.read_csv("{codebook}", dtype=str, keep_default_na=False)
labels = codebook[(codebook["column"] == "{first}") & (codebook["entry"] == "value")]
"""

_PANDAS_LABELS = (
    _PANDAS_CODEBOOK
    + """\
labels = labels.set_index(labels["value"].str.replace("^'", "", regex=True))
ends = labels[["low", "high"]].apply(pd.to_numeric, errors="coerce").dropna(how="all")
ends = ends.fillna({{"low": {least}, "high": {most}}})
own = pd.to_numeric(data["{first}"], errors="coerce")
low = data["{first}"].astype(str).map(ends["low"]).fillna(own)
high = data["{first}"].astype(str).map(ends["high"]).fillna(own)
"""
)

_PANDAS_MIDDLES = (
    _PANDAS_CODEBOOK
    + """\
ends = labels.set_index(pd.to_numeric(labels["value"]))[["low", "high"]].apply(pd.to_numeric)
own = pd.to_numeric(data["{first}"], errors="coerce")
low, high = own.map(ends["low"]).fillna(own), own.map(ends["high"]).fillna(own)
"""
)

_PANDAS_NUMBERS = """
# The mean of {name}, and between what it must be.
known = low.notna() & high.notna()
middle = {middle}
print({{each: (weight * values)[known].sum() / weight[known].sum()
       for each, values in {{"mean": middle, "at least": low, "at most": high}}.items()}})

# How many {who} have {name} from {low} to {high}?
width = high - low + {step}
inside = (high.clip(upper={high}) - low.clip(lower={low}) + {step}).clip(lower=0)
share = (inside / width.where(width > 0)).where(width > 0, low.between({low}, {high}) * 1.0)
certain = (low >= {low}) & (high <= {high})
possible = ~((high < {low}) | (low > {high}))
print({{"estimate": (weight * share)[known].sum() * weight.sum() / weight[known].sum(),
       "at least": weight[certain].sum(), "at most": weight[possible].sum()}})
"""

_PANDAS_GROUPS = """
# How many {who} have each {group}?
print(weight.groupby(data["{group}"], dropna=False).sum())
"""

_PANDAS_REGRESSION = """
# How does {outcome} change with {name}?
outcome = pd.to_numeric(data["{outcome}"], errors="coerce")
both = known & outcome.notna()
w, x, y = weight[both], middle[both], outcome[both]
mean_x, mean_y = (w * x).sum() / w.sum(), (w * y).sum() / w.sum()
slope = (w * (x - mean_x) * (y - mean_y)).sum() / (w * (x - mean_x) ** 2).sum()
print({{"slope": slope, "intercept": mean_y - slope * mean_x}})
"""

_R_READ = """\
data <- read.csv("{file}", {sep}colClasses = "character", na.strings = "", check.names = FALSE)
weight <- {weight}
"""

_R_BOUNDS = """
# The ends of {name}. An open end is the smallest or largest bound; hidden values have none.
low <- as.numeric(data[["{first}"]])
high <- as.numeric(data[["{last}"]])
open <- is.na(low) & !is.na(high)
high[is.na(high) & !is.na(low)] <- {most}
low[open] <- {least}
"""

_R_LABELS = """
# The ends of the ranges of {name}, from the codebook.
codebook <- read.csv("{codebook}", colClasses = "character", check.names = FALSE)
labels <- codebook[codebook$column == "{first}" & codebook$entry == "value", ]
labels <- labels[labels$low != "" | labels$high != "", ]
labels$low[labels$low == ""] <- "{least}"
labels$high[labels$high == ""] <- "{most}"
at <- match(data[["{first}"]], sub("^'", "", labels$value))
own <- suppressWarnings(as.numeric(data[["{first}"]]))
low <- as.numeric(labels$low[at])
high <- as.numeric(labels$high[at])
low <- ifelse(is.na(low), own, low)
high <- ifelse(is.na(high), own, high)
"""

_R_NUMBERS = """
# The mean of {name}, and between what it must be.
known <- !is.na(low) & !is.na(high)
middle <- {middle}
print(c(mean = weighted.mean(middle[known], weight[known]),
        at_least = weighted.mean(low[known], weight[known]),
        at_most = weighted.mean(high[known], weight[known])))

# How many {who} have {name} from {low} to {high}?
width <- high - low + {step}
inside <- pmax(pmin(high, {high}) - pmax(low, {low}) + {step}, 0)
share <- ifelse(width > 0, inside / width, low >= {low} & low <= {high})
certain <- !is.na(low) & !is.na(high) & low >= {low} & high <= {high}
possible <- !((!is.na(high) & high < {low}) | (!is.na(low) & low > {high}))
print(c(estimate = sum((weight * share)[known]) * sum(weight) / sum(weight[known]),
        at_least = sum(weight[certain]), at_most = sum(weight[possible])))
"""

_R_GROUPS = """
# How many {who} have each {group}?
print(tapply(weight, addNA(data[["{group}"]]), sum))
"""

_R_REGRESSION = """
# How does {outcome} change with {name}?
outcome <- suppressWarnings(as.numeric(data[["{outcome}"]]))
print(coef(lm(outcome ~ middle, weights = weight)))
"""


def recipes_in(text: str) -> dict[str, Sequence[str]]:
    """Return the recipes of a README, by language, as they stand there."""
    found: dict[str, list[str]] = {}
    for language, recipe in re.findall(r"^```(\w+)\n(.*?)\n```$", text, re.DOTALL | re.MULTILINE):
        found.setdefault(language, []).append(recipe)
    return dict(found)
