"""The Adult census extract: where it comes from, its common forms, and trees for its columns.

Nothing but the public file is needed. Rows are put in an order of their own, so that results hang
on the people in the file and not on how somebody has sorted them.
"""

import csv
import io
import os
import re
import zipfile
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import chain
from pathlib import Path

import pyarrow as pa

from benchmarks.workloads import NoDataError, adult_folder
from sfumato.hierarchy import HierarchyBuilder, Intervals, Taxonomy

COLUMNS = (
    "sex",
    "age",
    "race",
    "marital-status",
    "education",
    "native-country",
    "workclass",
    "occupation",
    "salary-class",
)
"""The nine columns that the experiments use."""

ROWS = 30_162
"""How many complete rows `adult.data` has."""

NAMED = "SFUMATO_ADULT"
"""The environment variable that names the file; processes of an experiment inherit it."""

WHERE_FROM = """\
The experiments need one public file, Adult, also called Census Income, of the UCI Machine Learning
Repository (archive.ics.uci.edu, data set 2, licence CC BY 4.0; it is not part of this project).
Download it from there, and name it:

    make papers ADULT=path/to/adult.data
    python -m docs.papers --adult path/to/adult.data

Any of these will do: `adult.data`; the ZIP file that has it, with `adult.test` and `adult.names`;
a folder with one of these; or the same rows as CSV, with commas, semicolons or tabs, with a header
or without, all fifteen columns or only the nine that are used."""

_FIFTEEN = (
    "age",
    "workclass",
    "fnlwgt",
    "education",
    "education-num",
    "marital-status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "capital-gain",
    "capital-loss",
    "hours-per-week",
    "native-country",
    "salary-class",
)
"""The columns of a file without a header, in its order."""

_CALLED = {
    "gender": "sex",
    "country": "native-country",
    "nationality": "native-country",
    "income": "salary-class",
    "class": "salary-class",
    "salary": "salary-class",
    "target": "salary-class",
}
"""Other names that columns go by."""

_MISSING = {"", "?", "na", "nan", "null", "none"}
_MOST_BYTES = 64_000_000
"""Adult has four million; something ten times as large is something else."""

_IN_A_FOLDER = ("adult.data", "adult.csv", "adult.zip")


class AdultError(NoDataError):
    """The Adult file is missing, or is something else."""


TREES: dict[str, HierarchyBuilder] = {
    # As in the thesis's Table 2.5, and twice as wide.
    "age": Intervals(widths=(5, 10)),
    "workclass": Taxonomy(
        {
            "Government": ["Federal-gov", "Local-gov", "State-gov"],
            "Business": ["Private", "Self-emp-inc", "Self-emp-not-inc"],
            "Unpaid": ["Never-worked", "Without-pay"],
        }
    ),
    "occupation": Taxonomy(
        {
            "Office": [
                "Adm-clerical",
                "Exec-managerial",
                "Prof-specialty",
                "Sales",
                "Tech-support",
            ],
            "Manual": [
                "Craft-repair",
                "Farming-fishing",
                "Handlers-cleaners",
                "Machine-op-inspct",
                "Transport-moving",
            ],
            "Service": ["Armed-Forces", "Other-service", "Priv-house-serv", "Protective-serv"],
        }
    ),
    # As far as the thesis names its groups (Table 4.3): who was ever married, and who was not.
    "marital-status": Taxonomy(
        {
            "Been married": [
                "Divorced",
                "Married-AF-spouse",
                "Married-civ-spouse",
                "Married-spouse-absent",
                "Separated",
                "Widowed",
            ],
            "Never married": ["Never-married"],
        }
    ),
    "race": Taxonomy(
        {
            "Majority": ["White"],
            "Minority": ["Amer-Indian-Eskimo", "Asian-Pac-Islander", "Black", "Other"],
        }
    ),
    "sex": Taxonomy(["Female", "Male"]),
    "education": Taxonomy(
        {
            "No diploma": {
                "Elementary school": ["Preschool", "1st-4th", "5th-6th", "7th-8th"],
                "Some high school": ["9th", "10th", "11th", "12th"],
            },
            "School diploma": {
                "High school": ["HS-grad"],
                "Some college": ["Some-college"],
            },
            "Degree": {
                "Associate": ["Assoc-acdm", "Assoc-voc"],
                "Bachelor": ["Bachelors"],
                "Graduate": ["Doctorate", "Masters", "Prof-school"],
            },
        }
    ),
    # Spelt as in the file. "Hong" is Hong Kong; which South is meant the file does not say, and
    # it stands here with Asia, as South Korea.
    "native-country": Taxonomy(
        {
            "North America": ["Canada", "Outlying-US(Guam-USVI-etc)", "United-States"],
            "Central America": [
                "Cuba",
                "Dominican-Republic",
                "El-Salvador",
                "Guatemala",
                "Haiti",
                "Honduras",
                "Jamaica",
                "Mexico",
                "Nicaragua",
                "Puerto-Rico",
                "Trinadad&Tobago",
            ],
            "South America": ["Columbia", "Ecuador", "Peru"],
            "Europe": [
                "England",
                "France",
                "Germany",
                "Greece",
                "Holand-Netherlands",
                "Hungary",
                "Ireland",
                "Italy",
                "Poland",
                "Portugal",
                "Scotland",
                "Yugoslavia",
            ],
            "Asia": [
                "Cambodia",
                "China",
                "Hong",
                "India",
                "Iran",
                "Japan",
                "Laos",
                "Philippines",
                "South",
                "Taiwan",
                "Thailand",
                "Vietnam",
            ],
        }
    ),
    "salary-class": Taxonomy(["<=50K", ">50K"]),
}
"""A tree for every column, written for these pages; `*` stands above each."""

LEVELS = {
    "age": 4,
    "workclass": 3,
    "occupation": 3,
    "marital-status": 3,
    "race": 3,
    "sex": 2,
    "education": 4,
    "native-country": 3,
    "salary-class": 2,
}
"""How many levels each tree has, the values themselves and `*` included: as many as the thesis
prints in its Table 5.1, which calls occupations "Workclass" and does not have the last one."""


@cache
def adult() -> pa.Table:
    """Read the complete rows of `adult.data`, nine columns of text, in an order of their own."""
    path = find()
    table = convert(path)
    if table.num_rows != ROWS:
        raise AdultError(
            f"{path} has {table.num_rows} complete rows, and the experiments take the {ROWS} of "
            f"`adult.data` alone: neither those of `adult.test`, nor a part.\n\n{WHERE_FROM}"
        )
    return table


def find() -> Path:
    """Give the file that is named by `--adult`, or that tests and benchmarks use."""
    named = os.environ.get(NAMED)
    if named:
        return Path(named)
    try:
        return adult_folder() / "adult.csv"
    except NoDataError:
        raise AdultError(f"no Adult file was named.\n\n{WHERE_FROM}") from None


def convert(path: Path) -> pa.Table:
    """Read the complete rows of an Adult file in any of its common forms.

    Rows with a missing value are left out. A dot after the salary marks rows of `adult.test`: in a
    file that has others too, they are left out.
    """
    try:
        every = list(_rows(path, _text(path)))
    except csv.Error as error:
        raise AdultError(f"{path} is no CSV file: {error}.\n\n{WHERE_FROM}") from None
    dotted = [(*row[:-1], row[-1][:-1]) for row in every if row[-1].endswith(".")]
    rows = sorted([row for row in every if not row[-1].endswith(".")] or dotted)
    return pa.table(
        [
            pa.array(cells, pa.string())
            for cells in (zip(*rows, strict=True) if rows else ([],) * 9)
        ],
        names=list(COLUMNS),
    )


def _text(path: Path) -> str:
    """Read a file, or the one that counts of a folder or a ZIP file."""
    if path.is_dir():
        here = [path / name for name in _IN_A_FOLDER if (path / name).is_file()]
        if not here:
            raise AdultError(f"no {' or '.join(_IN_A_FOLDER)} in {path}.\n\n{WHERE_FROM}")
        path = here[0]
    if not path.is_file():
        raise AdultError(f"no file {path}.\n\n{WHERE_FROM}")
    try:
        if zipfile.is_zipfile(path):
            return _unzipped(path)
        with path.open("rb") as file:
            return _decoded(path, file.read(_MOST_BYTES + 1))
    except (OSError, zipfile.BadZipFile, RuntimeError, NotImplementedError) as error:
        raise AdultError(f"{path} cannot be read: {error}.\n\n{WHERE_FROM}") from None


def _unzipped(path: Path) -> str:
    with zipfile.ZipFile(path) as archive:
        names = [name for name in archive.namelist() if not name.endswith("/")]
        by_name = {Path(name).name: name for name in names}
        tables = [name for name in names if name.endswith(".csv")]
        found = next((by_name[name] for name in _IN_A_FOLDER[:2] if name in by_name), None)
        if found is None and len(tables) == 1:
            [found] = tables
        if found is None:
            raise AdultError(f"no adult.data in {path}, which has {names[:9]}.\n\n{WHERE_FROM}")
        with archive.open(found) as file:
            return _decoded(path, file.read(_MOST_BYTES + 1))


def _decoded(path: Path, data: bytes) -> str:
    if len(data) > _MOST_BYTES:
        raise AdultError(f"{path} is too large to be Adult, which has 4 MB.\n\n{WHERE_FROM}")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise AdultError(f"{path} is no text.\n\n{WHERE_FROM}") from None


def _rows(path: Path, text: str) -> Iterator[tuple[str, ...]]:
    """Give the complete rows, and refuse what no row of Adult has."""
    lines = _lines(text)
    first = next(lines, None)
    if first is None:
        raise AdultError(f"{path} is empty.\n\n{WHERE_FROM}")
    names, has_header = _names(path, first[1])
    at = [names.index(name) for name in COLUMNS]
    for number, cells in lines if has_header else chain([first], lines):
        if len(cells) != len(names):
            raise AdultError(
                f"{path}, line {number}: {len(cells)} cells, where {len(names)} are expected."
                f"\n\n{WHERE_FROM}"
            )
        row = [cells[i] for i in at]
        if any(cell.lower() in _MISSING for cell in row):
            continue
        _check(path, number, [*row[:-1], row[-1].removesuffix(".")])
        yield tuple(row)


def _lines(text: str) -> Iterator[tuple[int, list[str]]]:
    """Give the cells of each line with its number; `adult.test` begins with one that is none."""
    start = text.lstrip().split("\n", 1)[0]
    delimiter = max(",;\t", key=start.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=True)
    for cells in reader:
        cleaned = [cell.strip() for cell in cells]
        if any(cleaned) and not cleaned[0].startswith("|"):
            yield reader.line_num, cleaned


def _names(path: Path, first: Sequence[str]) -> tuple[list[str], bool]:
    """Say what the columns are called, and whether the first line is the header."""
    called = [re.sub(r"[\s._-]+", "-", cell.lower()).strip("-") for cell in first]
    called = [_CALLED.get(name, name) for name in called]
    if set(COLUMNS) <= set(called):
        return called, True
    if len(first) == len(_FIFTEEN) and first[0].isdigit():
        return list(_FIFTEEN), False
    lacking = [name for name in COLUMNS if name not in called]
    raise AdultError(
        f"{path} is no Adult file: its first line has {len(first)} cells and is neither a row of "
        f"fifteen nor a header with {', '.join(lacking)}.\n\n{WHERE_FROM}"
    )


def _check(path: Path, number: int, row: Sequence[str]) -> None:
    for name, cell in zip(COLUMNS, row, strict=True):
        if name == "age" and re.fullmatch(r"[0-9]{1,3}", cell):
            continue
        if cell not in _known().get(name, ()):
            raise AdultError(
                f"{path}, line {number}: {cell!r} is no value of {name} in Adult.\n\n{WHERE_FROM}"
            )


@cache
def _known() -> dict[str, frozenset[str]]:
    """Give the values that each tree has."""
    return {
        name: frozenset(_leaves(tree.tree))
        for name, tree in TREES.items()
        if isinstance(tree, Taxonomy)
    }


def _leaves(tree: object) -> Iterator[str]:
    if isinstance(tree, str):
        yield tree
    elif isinstance(tree, dict):
        yield from chain.from_iterable(map(_leaves, tree.values()))
    elif isinstance(tree, Sequence):
        yield from chain.from_iterable(map(_leaves, tree))
