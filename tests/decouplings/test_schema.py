"""What schema.sql defines, loaded by databases as it stands: types, keys, and the join."""

import re
from datetime import date

import duckdb
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.decouplings import Anatomy, BreakMerge, Bucketization, Slicing

PEOPLE = pa.table(
    {
        "age": [30, 30, 40, 40] * 6,
        "born": [date(1990, 5, day) for day in (1, 2, 1, 2)] * 6,
        "bmi": [20.5, 20.5, None, 31.25] * 6,
        "zip": ["007", "12"] * 12,
        "ill": ["flu", "gout; chronic", 'the "king\'s" evil', None] * 6,
    }
)
ROLES = {"quasi_identifiers": ["age", "born", "bmi", "zip"], "sensitive": ["ill"]}
METHODS = {
    "break-merge": (BreakMerge(), "merged"),
    "anatomy": (Anatomy(2), "possible"),
    "bucketization": (Bucketization(), "possible"),
    "slicing": (Slicing(l=2, columns=["age+born", "bmi+zip", "ill"]), "possible"),
}


def statements(folder):
    """Return the definitions, and the way to load each file that their comments tell."""
    text = (folder / "schema.sql").read_text(encoding="utf-8")
    return text, re.findall(r"^--   (.*?)  --", text, flags=re.MULTILINE)


@pytest.mark.parametrize("form", ["csv", "parquet"])
@pytest.mark.parametrize("name", METHODS)
def test_duckdb_loads_every_release_as_it_says(tmp_path, name, form):
    method, view = METHODS[name]
    release = sf.decouple(PEOPLE, method, output=tmp_path / "out", format=form, **ROLES)
    text, load = statements(tmp_path / "out")
    with duckdb.connect() as db:
        db.execute(f"SET file_search_path = '{tmp_path / 'out'}'")
        db.execute(text)
        for each in load:
            db.execute(each)
        kinds = {}
        for file in release.manifest.files:
            stem = file.name.rsplit(".", 1)[0]
            rows = db.execute(f'SELECT count(*) FROM "{stem}"').fetchone()[0]
            assert rows == file.rows
            kinds |= {row[0]: row[1] for row in db.execute(f'DESCRIBE "{stem}"').fetchall()}
        wanted = {"age": "INTEGER", "born": "DATE", "bmi": "DOUBLE", "zip": "VARCHAR"}
        assert {column: kinds[column] for column in wanted} == wanted
        last = db.execute(f'DESCRIBE "{view}"').fetchall()[-1][0]
        total = db.execute(f'SELECT sum("{last}") FROM "{view}"').fetchone()[0]
        assert total == pytest.approx(24)
        evil = f'SELECT sum("{last}") FROM "{view}" WHERE "ill" LIKE \'the "king%\''
        assert db.execute(evil).fetchone()[0] == pytest.approx(6)


@pytest.mark.postgres
@pytest.mark.parametrize("name", METHODS)
def test_postgres_loads_every_release_as_it_says(tmp_path, postgres, name):
    method, view = METHODS[name]
    release = sf.decouple(PEOPLE, method, output=tmp_path / "out", format="csv", **ROLES)
    text, load = statements(tmp_path / "out")
    with postgres.connect() as db, db.cursor() as cursor:
        cursor.execute("CREATE SCHEMA loaded; SET search_path TO loaded")
        cursor.execute(text)
        for each, file in zip(load, release.manifest.files, strict=True):
            asked = each.replace(f"'{file.name}'", "STDIN")
            with cursor.copy(asked) as copy:
                copy.write((tmp_path / "out" / file.name).read_bytes())
        cursor.execute(f'SELECT * FROM "{view}"')
        last = cursor.description[-1].name
        assert float(sum(row[-1] for row in cursor.fetchall())) == pytest.approx(24)
        assert last in ("expected", "probability")
        cursor.execute("DROP SCHEMA loaded CASCADE")
