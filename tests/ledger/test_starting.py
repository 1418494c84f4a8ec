"""What a ledger can be started from: people who are known, groups within alpha, and only once."""

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import InputError

NAMES = ("patient", "age", "town", "ill")
POLICY = {
    "version": 1,
    "columns": {
        "patient": "identifier",
        "age": {
            "role": "quasi-identifier",
            "hierarchy": {"kind": "intervals", "widths": [10, 20, 40]},
            "levels": [1, 3],
        },
        "town": "quasi-identifier",
        "ill": "sensitive",
    },
    "models": [{"model": "k-anonymity", "k": 2}],
}
ILLS = "aabbccdd"


def table(rows):
    return pa.table(dict(zip(NAMES, map(list, zip(*rows, strict=True)), strict=True)))


@pytest.fixture
def first(tmp_path):
    """Two groups of four, in which two of four have the same illness."""
    rows = [(f"p{i}", 20 + i // 4 * 10, "Kiel", ILLS[i]) for i in range(8)]
    made = sf.anonymize(table(rows), POLICY, seed=1)
    sf.decouple(made, "break-merge", output=tmp_path / "r1", format="csv")
    return table(rows)


def start(folder, first, name="x.ledger", **more):
    more = {"alpha": 0.5, "policy": POLICY, "source": first} | more
    return sf.Ledger.start(folder / "r1", folder / name, **more)


def test_a_refused_start_names_the_model_and_the_level_that_help(tmp_path, first):
    with pytest.raises(InputError) as error:
        start(tmp_path, first, alpha=0.25)
    text = str(error.value)
    assert "probabilistic-l-diversity, l: 4, for 'ill'" in text
    assert "Generalised to the levels age 2, these groups would do as well" in text
    # Both are true.
    for more in (
        {"models": [{"model": "probabilistic-l-diversity", "column": "ill", "l": 4}]},
        {"columns": {**POLICY["columns"], "age": {**POLICY["columns"]["age"], "levels": [2, 2]}}},
    ):
        made = sf.decouple(sf.anonymize(first, {**POLICY, **more}, seed=1), "break-merge", seed=1)
        path = tmp_path / f"{len(more)}{next(iter(more))}"
        sf.Ledger.start(made, path, alpha=0.25, policy=POLICY, source=first)
    # Where no level helps, none is named.
    with pytest.raises(InputError) as error:
        start(tmp_path, first, alpha=0.2)
    assert "l: 5" in str(error.value)
    assert "levels" not in str(error.value)


def test_a_policy_with_identifiers_needs_the_people_of_the_first_release(tmp_path, first):
    with pytest.raises(InputError, match="nothing says who the people of the first release are"):
        start(tmp_path, first, source=None)
    with pytest.raises(InputError, match="has no 'patient', so it is not known who"):
        start(tmp_path, first, source=first.drop(["patient"]))
    assert not (tmp_path / "x.ledger").exists()


def test_a_second_ledger_of_a_release_is_noticed(tmp_path, first):
    assert start(tmp_path, first).started.warnings == ()
    (tmp_path / "notes.db").write_bytes(b"SQLite format 3\0" + b"x" * 200)
    [warning] = start(tmp_path, first, "other.ledger").started.warnings
    assert "('x.ledger')" in warning
    assert "published twice" in warning


def test_a_ledger_of_another_ledgers_release_is_noticed(tmp_path, first):
    ledger = start(tmp_path, first)
    new = [(f"n{i}", 25, "Kiel", "wxyz"[i]) for i in range(4)]
    ledger.publish(table(new), output=tmp_path / "new", format="csv")
    with pytest.raises(InputError, match="holds those who joined a ledger in its release 2"):
        sf.Ledger.start(tmp_path / "new", tmp_path / "y.ledger", alpha=0.5)
    ledger.delete(table(new[:1]), output=tmp_path / "all", format="csv")
    other = sf.Ledger.start(tmp_path / "all", tmp_path / "y.ledger", alpha=0.5)
    assert any("release 3 of another ledger" in each for each in other.started.warnings)
