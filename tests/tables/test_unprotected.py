"""Columns that nothing protects are counted where they are, and found as in memory."""

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import PolicyError
from tests.tables import databases

pytestmark = databases.LEAVES_SOCKETS_OPEN

N = 60
RNG = np.random.default_rng(2)
PLACE = RNG.permutation(N)
PEOPLE = pa.table(
    {
        "age": pa.array([20 + i % 2 for i in range(N)], pa.int64()),
        "ill": [["flu", "gout", "cold"][i % 3] for i in range(N)],
        "mail": [f"ann.{i}@example.org" for i in range(N)],
        "row": pa.array(PLACE // 8, pa.int64()),
        "seat": pa.array(PLACE % 8, pa.int64()),
        "weight": RNG.gamma(2, 30, N),
        "note": pa.array([None if i % 4 else "seen" for i in range(N)], pa.string()),
    }
)
ROLES = {"quasi_identifiers": ["age"], "sensitive": ["ill"]}


def found_in(source):
    return {
        (each.kind, each.columns, each.people, each.alone, each.k)
        for each in sf.verify(source, **ROLES).columns
    }


@pytest.mark.usefixtures("patience")
def test_a_table_of_a_database_gives_away_what_it_gives_away_in_memory(database):
    stored = database.stored(PEOPLE, "people")
    assert found_in(stored) == found_in(PEOPLE)
    assert ("identifier", ("mail",), N, N, None) in found_in(PEOPLE)


@pytest.mark.usefixtures("patience")
def test_a_release_in_a_database_warns_of_its_columns(quick_database):
    columns = {"age": "quasi-identifier", "ill": "sensitive"}
    policy = sf.Policy(columns=columns, other="plain", models=[sf.models.KAnonymity(5)])
    release = sf.anonymize(quick_database.stored(PEOPLE, "people"), policy, output="table:released")
    assert any("'mail' names people" in text for text in release.warnings)
    assert sf.verify(release).answer == "no"


def test_a_panel_in_a_database_is_refused(quick_database):
    panel = PEOPLE.append_column("patient_id", pa.array([i // 3 for i in range(N)]))
    columns = {"age": "quasi-identifier", "ill": "sensitive", "patient_id": "identifier"}
    policy = sf.Policy(columns=columns, other="dropped", models=[sf.models.KAnonymity(5)])
    with pytest.raises(PolicyError, match="60 rows of 20 people, each with several"):
        sf.anonymize(quick_database.stored(panel, "people"), policy, output="table:released")
