"""The README of a release in one table: for recipients, who have nothing but its folder.

It follows from the manifest and the codebook alone, so the signer of a release can write it again
and compare. Names and values of the data stand in it as code only, and in recipes only if they
cannot be anything but names there.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from sfumato.content import escape_markdown
from sfumato.decouplings.texts import code, quote
from sfumato.releases.codebook import CODEBOOK, CODEBOOK_TEXT, ROLES_IN_WORDS, Codebook, Line
from sfumato.releases.manifest import Manifest, Promise
from sfumato.text import STAR, number_of, percent, text_of

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
    text = "\n\n".join(blocks) + "\n"
    if _counts_people(manifest):
        # Whose the rows are is not published, so that recipes can count nothing else.
        text = text.replace("How many people have", "How many rows have")
    return text


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


@dataclass(frozen=True)
class Recipes:
    """What recipes are written about: the columns of a release that suit them best."""

    file: str
    form: str
    number: Line | None
    """A column of numbers, in which there may be ranges."""

    outcome: Line | None
    """A column of numbers that is published as it is."""

    group: Line | None
    """A column of few values."""

    weight: str | None

    @classmethod
    def of(cls, manifest: Manifest, codebook: Codebook) -> "Recipes":
        """Choose columns by their names, roles and types, and by nothing else."""
        [file] = manifest.files
        fit = [line for line in codebook.columns if _SAFE_NAME.fullmatch(line.column)]
        numbers = [
            line
            for line in fit
            if line.type.removesuffix(" or range") in _NUMERIC
            and number_of(line.low) is not None
            and number_of(line.high) is not None
            and line.role != "weight"
        ]
        # Codes look like numbers too: a range is surely one, and so is what others do not know.
        known = [line for line in numbers if line.role == "quasi-identifier"]
        others = [line for line in numbers if line.role != "quasi-identifier"]
        ranges = [line for line in known if "range" in line.type]
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
            next((line for line in others if line is not number), None),
            next(iter(groups), None),
            next(iter(weights), None),
        )

    @property
    def ends(self) -> tuple[str, str]:
        """The smallest and the largest bound of the column: what an open end is taken for."""
        assert self.number is not None  # noqa: S101 - asked for only then
        return self.number.low, self.number.high

    @property
    def bounds(self) -> tuple[str, str]:
        """A range to ask about: the middle half of the column, in numbers that can be typed."""
        low, high = map(float, self.ends)
        quarter = (high - low) / 4
        digits = max(0, 1 - math.floor(math.log10(quarter))) if quarter else 0
        return text_of(round(low + quarter, digits)), text_of(round(high - quarter, digits))

    @property
    def step(self) -> str:
        """The number by which a range is wider than its ends are apart: 1 for whole numbers."""
        assert self.number is not None  # noqa: S101 - asked for only then
        return "1" if self.number.type.startswith("whole") else "0"

    def blocks(self) -> list[str]:
        """Return the recipes in every language that reads the file."""
        if self.number is None and self.group is None:
            return []
        intro = (
            "## Recipes\n\nRun them in this folder. "
            "A range stands for its middle in means and regressions. In counts, the rows of a "
            "range are spread evenly over it, and beside the estimate stand the fewest and the "
            "most rows that it may be. An open end, as of `under 60`, is taken to be the smallest "
            "or the largest bound of the column. Hidden values are left out of means."
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

    # SQL.

    def _sql(self) -> str:
        source = {
            "csv": f"read_csv('{self.file}', header = true, all_varchar = true)",
            "parquet": f"read_parquet('{self.file}')",
        }.get(self.form)
        if source is None:
            return ""
        parts = []
        if self.number is not None:
            name, (low, high) = quote(self.number.column), self.ends
            parts.append(
                "CREATE OR REPLACE TEMP VIEW labels AS\n"
                "SELECT regexp_replace(value, '^''', '') AS value,\n"
                f"       CAST(coalesce(low, if(high IS NULL, NULL, '{low}')) AS DOUBLE) AS low,\n"
                f"       CAST(coalesce(high, if(low IS NULL, NULL, '{high}')) AS DOUBLE) AS high\n"
                f"FROM read_csv('{CODEBOOK}', header = true, all_varchar = true)\n"
                f"WHERE \"column\" = '{self.number.column}' AND entry = 'value';"
            )
            parts.append(
                "CREATE OR REPLACE TEMP VIEW people AS\nSELECT d.*,\n"
                f"       coalesce(b.low, TRY_CAST(d.{name} AS DOUBLE)) AS low,\n"
                f"       coalesce(b.high, TRY_CAST(d.{name} AS DOUBLE)) AS high\n"
                f"FROM {source} AS d\nLEFT JOIN labels AS b"
                f" ON CAST(d.{name} AS VARCHAR) = b.value;"
            )
            parts += [self._sql_mean(), self._sql_count()]
        else:
            parts.append(f"CREATE OR REPLACE TEMP VIEW people AS\nSELECT * FROM {source};")
        if self.group is not None:
            name = quote(self.group.column)
            parts.append(
                f"-- How many people have each {self.group.column}?\n"
                f"SELECT {name}, {self._sql_sum('1')} AS people\n"
                f"FROM people GROUP BY {name} ORDER BY people DESC;"
            )
        if self.outcome is not None:
            parts.append(self._sql_regression())
        return "\n\n".join(parts)

    @property
    def _sql_weight(self) -> str:
        return f"TRY_CAST({quote(self.weight)} AS DOUBLE)" if self.weight is not None else ""

    def _sql_sum(self, term: str) -> str:
        if self.weight is None:
            return "count(*)" if term == "1" else f"sum({term})"
        return f"sum({self._sql_weight})" if term == "1" else f"sum({self._sql_weight} * ({term}))"

    def _sql_mean(self) -> str:
        assert self.number is not None  # noqa: S101 - asked for only then
        if self.weight is None:
            terms = "avg((low + high) / 2) AS mean, avg(low) AS at_least, avg(high) AS at_most"
        else:
            w = self._sql_weight
            terms = ",\n       ".join(
                f"sum({w} * {what}) / sum({w}) AS {name}"
                for what, name in (
                    ("(low + high) / 2", "mean"),
                    ("low", "at_least"),
                    ("high", "at_most"),
                )
            )
        return (
            f"-- The mean of {self.number.column}, and between what it must be.\n"
            f"SELECT {terms}\nFROM people WHERE low IS NOT NULL AND high IS NOT NULL;"
        )

    def _sql_count(self) -> str:
        assert self.number is not None  # noqa: S101 - asked for only then
        low, high = self.bounds
        share = (
            f"CASE WHEN high - low + {self.step} = 0 "
            f"THEN CAST(low BETWEEN {low} AND {high} AS INTEGER)\n"
            f"            ELSE greatest(least(high, {high}) - greatest(low, {low})"
            f" + {self.step}, 0)\n                 / (high - low + {self.step}) END"
        )
        fewest = self._sql_sum("1")
        known = self._sql_sum("1") + " FILTER (low IS NOT NULL AND high IS NOT NULL)"
        return (
            f"-- How many people have {self.number.column} from {low} to {high}?\n"
            f"SELECT {self._sql_sum(share)}\n"
            f"         * {self._sql_sum('1')} / {known} AS estimate,\n"
            f"       {fewest} FILTER (low >= {low} AND high <= {high}) AS at_least,\n"
            f"       {fewest} FILTER (coalesce(high >= {low}, true) "
            f"AND coalesce(low <= {high}, true)) AS at_most\n"
            "FROM people;"
        )

    def _sql_regression(self) -> str:
        assert self.number is not None and self.outcome is not None  # noqa: S101, PT018
        pair = f"TRY_CAST({quote(self.outcome.column)} AS DOUBLE) AS y, (low + high) / 2 AS x"
        weight = "" if self.weight is None else f"{self._sql_weight} AS w, "
        lines = [
            f"-- How does {self.outcome.column} change with {self.number.column}?",
            *(_SQL_SLOPE if self.weight is None else _SQL_WEIGHTED_SLOPE),
            f"FROM (SELECT {weight}{pair} FROM people)",  # noqa: S608 - it is shown, and not run
            "WHERE x IS NOT NULL AND y IS NOT NULL;",
        ]
        return "\n".join(lines)

    # pandas.

    def _pandas(self) -> str:
        read = {
            "csv": f'pd.read_csv("{self.file}", dtype=str, keep_default_na=False, na_values=[""])',
            "parquet": f'pd.read_parquet("{self.file}")',
            "feather": f'pd.read_feather("{self.file}")',
            "sav": f'pd.read_spss("{self.file}")',
            "dta": f'pd.read_stata("{self.file}")',
            "xlsx": f'pd.read_excel("{self.file}", dtype=str)',
        }.get(self.form)
        if read is None:
            return ""
        number = 'pd.to_numeric({}, errors="coerce")'
        lines = ["import pandas as pd", "", f"people = {read}"]
        weight = "1.0" if self.weight is None else number.format(f"people[{self.weight!r}]")
        lines.append(f'people["_weight"] = {weight}')
        if self.number is not None:
            lines += _PANDAS_BOUNDS.format(
                codebook=CODEBOOK, name=self.number.column, least=self.ends[0], most=self.ends[1]
            ).splitlines()
            low, high = self.bounds
            lines += _PANDAS_NUMBERS.format(
                name=self.number.column, low=low, high=high, step=self.step
            ).splitlines()
        if self.group is not None:
            lines += [
                "",
                f"# How many people have each {self.group.column}?",
                f'print(people.groupby({self.group.column!r}, dropna=False)["_weight"].sum())',
            ]
        if self.outcome is not None and self.number is not None:
            lines += _PANDAS_REGRESSION.format(
                outcome=self.outcome.column, name=self.number.column
            ).splitlines()
        return "\n".join(lines)

    # R.

    def _r(self) -> str:
        if self.form != "csv":
            return ""
        weight = "1" if self.weight is None else f'as.numeric(people[["{self.weight}"]])'
        lines = _R_READ.format(file=self.file, weight=weight).splitlines()
        if self.number is not None:
            low, high = self.bounds
            lines += _R_NUMBERS.format(
                codebook=CODEBOOK,
                name=self.number.column,
                least=self.ends[0],
                most=self.ends[1],
                low=low,
                high=high,
                step=self.step,
            ).splitlines()
        if self.group is not None:
            lines += [
                "",
                f"# How many people have each {self.group.column}?",
                f'print(tapply(people$.weight, addNA(people[["{self.group.column}"]]), sum))',
            ]
        if self.outcome is not None and self.number is not None:
            lines += _R_REGRESSION.format(
                outcome=self.outcome.column, name=self.number.column
            ).splitlines()
        return "\n".join(lines)

    def _sfumato(self) -> str:
        lines = ["import sfumato as sf", "", 'people = sf.read_release(".")  # a DataFrame']
        if self.number is not None:
            name = self.number.column
            ranged = "range" in self.number.type
            both = f'people["{name}_low"] + people["{name}_high"]'
            middle = f"({both}) / 2" if ranged else f'people["{name}"]'
            lines += ["", f"# The mean of {name}.", f"print(({middle}).mean())"]
        return "\n".join(lines)


_SQL_SLOPE = ("SELECT regr_slope(y, x) AS slope, regr_intercept(y, x) AS intercept",)
_SQL_WEIGHTED_SLOPE = (
    "SELECT (sum(w) * sum(w * x * y) - sum(w * x) * sum(w * y))",
    "         / (sum(w) * sum(w * x * x) - sum(w * x) ** 2) AS slope",
)

_PANDAS_BOUNDS = """
# The ends of the ranges of {name}, from the codebook.
codebook = pd.read_csv("{codebook}", dtype=str, keep_default_na=False)
labels = codebook[(codebook["column"] == "{name}") & (codebook["entry"] == "value")]
labels = labels.set_index(labels["value"].str.replace("^'", "", regex=True))
ends = labels[["low", "high"]].apply(pd.to_numeric, errors="coerce").dropna(how="all")
ends = ends.fillna({{"low": {least}, "high": {most}}})
own = pd.to_numeric(people["{name}"], errors="coerce")
low = people["{name}"].astype(str).map(ends["low"]).fillna(own)
high = people["{name}"].astype(str).map(ends["high"]).fillna(own)"""

_PANDAS_NUMBERS = """
# The mean of {name}, and between what it must be.
known = low.notna() & high.notna()
weight = people["_weight"][known]
middle = (low + high) / 2
print({{each: (weight * values[known]).sum() / weight.sum()
       for each, values in {{"mean": middle, "at least": low, "at most": high}}.items()}})

# How many people have {name} from {low} to {high}?
width = high - low + {step}
inside = (high.clip(upper={high}) - low.clip(lower={low}) + {step}).clip(lower=0)
share = (inside / width.where(width > 0)).where(width > 0, low.between({low}, {high}) * 1.0)
weight = people["_weight"]
certain = (low >= {low}) & (high <= {high})
possible = ~((high < {low}) | (low > {high}))
print({{"estimate": (weight * share)[known].sum() * weight.sum() / weight[known].sum(),
       "at least": weight[certain].sum(), "at most": weight[possible].sum()}})"""

_PANDAS_REGRESSION = """
# How does {outcome} change with {name}?
outcome = pd.to_numeric(people["{outcome}"], errors="coerce")
both = known & outcome.notna()
w, x, y = people["_weight"][both], middle[both], outcome[both]
mean_x, mean_y = (w * x).sum() / w.sum(), (w * y).sum() / w.sum()
slope = (w * (x - mean_x) * (y - mean_y)).sum() / (w * (x - mean_x) ** 2).sum()
print({{"slope": slope, "intercept": mean_y - slope * mean_x}})"""

_R_READ = """\
people <- read.csv("{file}", colClasses = "character", na.strings = "", check.names = FALSE)
people$.weight <- {weight}
"""

_R_NUMBERS = """
# The ends of the ranges of {name}, from the codebook.
codebook <- read.csv("{codebook}", colClasses = "character", check.names = FALSE)
labels <- codebook[codebook$column == "{name}" & codebook$entry == "value", ]
labels <- labels[labels$low != "" | labels$high != "", ]
labels$low[labels$low == ""] <- "{least}"
labels$high[labels$high == ""] <- "{most}"
at <- match(people[["{name}"]], sub("^'", "", labels$value))
own <- suppressWarnings(as.numeric(people[["{name}"]]))
low <- as.numeric(labels$low[at])
high <- as.numeric(labels$high[at])
low <- ifelse(is.na(low), own, low)
high <- ifelse(is.na(high), own, high)

# The mean of {name}, and between what it must be.
known <- !is.na(low) & !is.na(high)
middle <- (low + high) / 2
print(c(mean = weighted.mean(middle[known], people$.weight[known]),
        at_least = weighted.mean(low[known], people$.weight[known]),
        at_most = weighted.mean(high[known], people$.weight[known])))

# How many people have {name} from {low} to {high}?
width <- high - low + {step}
inside <- pmax(pmin(high, {high}) - pmax(low, {low}) + {step}, 0)
share <- ifelse(width > 0, inside / width, low >= {low} & low <= {high})
certain <- !is.na(low) & !is.na(high) & low >= {low} & high <= {high}
possible <- !((!is.na(high) & high < {low}) | (!is.na(low) & low > {high}))
print(c(estimate = sum((people$.weight * share)[known]) *
          sum(people$.weight) / sum(people$.weight[known]),
        at_least = sum(people$.weight[certain]), at_most = sum(people$.weight[possible])))"""

_R_REGRESSION = """
# How does {outcome} change with {name}?
outcome <- suppressWarnings(as.numeric(people[["{outcome}"]]))
print(coef(lm(outcome ~ middle, weights = people$.weight)))"""


def recipes_in(text: str) -> dict[str, Sequence[str]]:
    """Return the recipes of a README, by language, as they stand there."""
    found: dict[str, list[str]] = {}
    for language, recipe in re.findall(r"^```(\w+)\n(.*?)\n```$", text, re.DOTALL | re.MULTILINE):
        found.setdefault(language, []).append(recipe)
    return dict(found)
