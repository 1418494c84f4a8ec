"""Codes of missing values are made missing, and rows that nobody owns are left out, everywhere."""

import duckdb
import pyarrow as pa
import pytest
from pyarrow import csv, parquet

import sfumato as sf
from sfumato.drafting.guess import guess_table
from sfumato.errors import PolicyError
from sfumato.policy import Policy, policy_of
from sfumato.releases.preparing import open_as_it_is, open_prepared
from sfumato.tables import open_table

N = 240
AGES = [-9 if i % 30 == 0 else 20 + (i // 2) % 50 for i in range(N)]
SCORES = [99 if i % 8 == 1 else 1 + i % 5 for i in range(N)]
WHO = [None if i % 40 == 0 else f"p{i // 2}" for i in range(N)]
ILL = ["unknown" if i % 12 == 0 else ("flu", "gout", "asthma")[i % 3] for i in range(N)]
ROWS = pa.table({"who": WHO, "age": AGES, "score": SCORES, "ill": ILL})
POLICY = policy_of({
    "columns": {
        "who": "identifier",
        "age": {"role": "quasi-identifier", "hierarchy": "auto", "missing_codes": [-9]},
        "score": {"role": "quasi-identifier", "hierarchy": "auto", "missing_codes": ["99"]},
        "ill": {"role": "sensitive", "missing_codes": ["unknown"]},
    },
    "models": [{"model": "k-anonymity", "k": 3}],
    "method": "mondrian",
    "person": {"column": "who", "missing": "leave-out"},
})  # fmt: skip
OWNED = [i for i in range(N) if WHO[i] is not None]


def sources(folder):
    csv.write_csv(ROWS, folder / "rows.csv")
    floats = ROWS.set_column(1, "age", ROWS["age"].cast(pa.float64()))
    parquet.write_table(floats, folder / "rows.parquet")
    coded = ROWS.set_column(3, "ill", ROWS["ill"].dictionary_encode())
    return {
        "memory": ROWS,
        "csv": folder / "rows.csv",
        "floats": folder / "rows.parquet",
        "dictionaries": coded,
        "duckdb": duckdb.connect().from_arrow(ROWS),
    }


@pytest.mark.parametrize("kind", ["memory", "csv", "floats", "dictionaries", "duckdb"])
def test_codes_are_missing_and_rows_without_a_person_gone(kind, tmp_path):
    table = open_prepared(sources(tmp_path)[kind], POLICY)
    counts = table.count(["age", "score", "ill"])
    assert counts.total == len(OWNED)
    for name, values, code in (("age", AGES, -9), ("score", SCORES, 99), ("ill", ILL, "unknown")):
        column = counts.column(name)
        assert str(code) not in map(str, column.known)
        missing = int(counts.value_counts(name)[column.missing])
        assert missing == sum(values[i] == code for i in OWNED)
    assert table.unowned == pytest.approx(1 - len(OWNED) / N)


@pytest.mark.usefixtures("patience")
def test_a_release_knows_no_code_and_counts_what_is_left_out(tmp_path):
    release = sf.anonymize(ROWS, POLICY)
    shown = release.table
    assert shown.num_rows == len(OWNED)
    assert "unknown" not in shown["ill"].to_pylist()
    assert release.gone.columns["ill"] == pytest.approx(1 - len(OWNED) / N)
    assert sf.verify(release, POLICY).answer in ("yes", "with care", "no")


@pytest.mark.parametrize("kind", [pa.large_string(), pa.string_view()])
def test_rows_without_an_owner_are_left_out_of_texts_in_any_form(kind):
    """Polars gives views of texts, which Arrow does not filter."""
    at = ROWS.schema.get_field_index("ill")
    rows = ROWS.set_column(at, "ill", ROWS["ill"].cast(pa.string()).cast(kind))
    assert sf.anonymize(rows, POLICY, seed=1).table.num_rows == len(OWNED)


def test_a_population_and_a_table_taken_as_it_is_have_no_codes_either():
    counts = open_as_it_is(ROWS, POLICY, ["age"]).count(["age"])
    assert -9 not in counts.columns[0].values


def test_policies_say_it_and_read_it_back():
    assert Policy.from_yaml(POLICY.to_yaml()) == POLICY
    assert "missing_codes: [-9]" in POLICY.to_yaml()
    assert POLICY.to_plain()["person"] == {"column": "who", "missing": "leave-out"}


def test_rows_that_are_people_are_never_without_one():
    with pytest.raises(PolicyError, match="every row is a person"):
        policy_of({**POLICY.to_plain(), "person": {"rows": "why", "missing": "leave-out"}})


SCALE = [1 + i % 5 for i in range(400)]
GAPS = {
    "-9 below ages": ([*range(18, 90)] * 5, [-9] * 3, [-9]),
    "-99 and -98": (SCALE * 3, [-99, -98, -98], [-99, -98]),
    "99 above ages, far more often": ([*range(18, 90)] * 9, [99] * 40, [99]),
    "997 to 999": (SCALE, [997, 998, 999], [997, 998, 999]),
    "a person of 99": ([*range(18, 97)] * 9, [99], []),
    "differences": ([*range(-12, 60)] * 5, [-9], []),
    "one below nothing": (SCALE, [-1], []),
    "degrees": ([-30, -12, 0, 4, 12, 20, 28] * 50, [-9], []),
}


@pytest.mark.parametrize("name", GAPS)
def test_gaps_and_spikes_show_codes(name):
    values, coded, codes = GAPS[name]
    table = open_table(pa.table({"x": [*values, *coded]}))
    found = guess_table(table, table.domains(table.columns))["x"]
    assert sorted(found.missing) == sorted(codes)
