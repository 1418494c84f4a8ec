"""What is gone of a table: columns, cells and rows in one figure."""

from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.attacks.adversary.trial import CountedTable, try_on_counts
from sfumato.recode.gone import DataGone
from sfumato.tables import open_table

ROLES = ("identifier", "quasi-identifier", "sensitive", "plain", "dropped")
DECADES = {"kind": "intervals", "widths": [10, 50]}

shares = st.floats(min_value=0, max_value=1)
columns = st.dictionaries(st.sampled_from("abcdefgh"), st.tuples(st.sampled_from(ROLES), shares))


def gone_of(given: Mapping[str, tuple[str, float]], suppressed: float) -> DataGone:
    rules = {name: role for name, (role, _) in given.items()} | {"z": "quasi-identifier"}
    policy = sf.Policy(columns=rules, models=[sf.models.KAnonymity(2)])
    lost = {n: max(each, suppressed) for n, (r, each) in given.items() if r == "quasi-identifier"}
    return DataGone.of_columns(policy, [*given, "z"], lost, suppressed)


def by_the_book(given: Mapping[str, tuple[str, float]], suppressed: float) -> float:
    """The definition, word by word: one number for each column that counts, and their mean."""
    found = []
    for role, lost in [*given.values(), ("quasi-identifier", 0.0)]:
        if role == "identifier":
            continue
        if role == "dropped":
            found.append(1.0)
        elif role == "quasi-identifier":
            found.append(max(lost, suppressed))
        else:
            found.append(suppressed)
    return sum(found) / len(found)


@given(columns, shares)
def test_it_is_the_mean_over_the_columns_that_count(
    given: dict[str, tuple[str, float]], suppressed: float
) -> None:
    assert gone_of(given, suppressed).share == pytest.approx(by_the_book(given, suppressed))


@given(columns, shares, st.data())
def test_it_never_falls_when_a_column_is_dropped(
    given: dict[str, tuple[str, float]], suppressed: float, data: st.DataObject
) -> None:
    kept = [name for name, (role, _) in given.items() if role != "identifier"]
    if not kept:
        return
    name = data.draw(st.sampled_from(kept))
    before = gone_of(given, suppressed)
    after = gone_of({**given, name: ("dropped", 0.0)}, suppressed)
    assert after.share >= before.share
    assert after.left <= before.left
    assert after.of == before.of


@given(columns, shares, shares, shares)
def test_it_never_falls_when_a_column_is_coarser_or_more_rows_are_suppressed(
    given: dict[str, tuple[str, float]], suppressed: float, more: float, coarser: float
) -> None:
    before = gone_of(given, suppressed).share
    lost = {name: (role, max(each, coarser)) for name, (role, each) in given.items()}
    assert gone_of(lost, suppressed).share >= before
    assert gone_of(given, max(suppressed, more)).share >= before


people = st.lists(
    st.tuples(st.integers(20, 69), st.sampled_from("ab"), st.sampled_from(["flu", "gout"])),
    min_size=4,
    max_size=12,
)


def table_of(rows: list[tuple[int, str, str]]) -> pa.Table:
    ages, kinds, ills = zip(*rows, strict=True)
    names = [f"person {n}" for n in range(len(rows))]
    values = {"name": names, "age": ages, "kind": kinds, "ill": ills, "note": ["x"] * len(rows)}
    return pa.table({name: list(each) for name, each in values.items()})


def policy_of(**changes: Any) -> sf.Policy:
    columns = {
        "name": "identifier",
        "age": {"role": "quasi-identifier", "hierarchy": DECADES},
        "kind": "quasi-identifier",
        "ill": "sensitive",
        "note": "dropped",
    }
    settings: dict[str, Any] = {"models": [sf.models.KAnonymity(2)], "suppression": "30%"}
    return sf.Policy(columns=columns, **settings | changes)


def cells_by_the_book(rows: list[tuple[int, str, str]], made: sf.Release) -> dict[str, float]:
    """Count every cell of the release: a range of m of the n published ages costs (m-1)/(n-1)."""
    assert made.table is not None
    shown = made.table.to_pylist()
    suppressed = len(rows) - len(shown)
    found = {"ill": suppressed / len(rows), "note": 1.0}
    recodings = {each.column: each for each in made.recoding.columns} if made.recoding else {}
    for name in ("age", "kind"):
        values = set(recodings[name].values)
        cost = float(suppressed)
        for row in shown:
            label = row[name]
            inside = {v for v in values if stands_for(label, v)}
            cost += (len(inside) - 1) / max(len(values) - 1, 1)
        found[name] = cost / len(rows)
    return found


def stands_for(label: object, value: object) -> bool:
    if label in ("*", value) or str(label) == str(value):
        return True
    if isinstance(label, str) and " to " in label:
        low, high = map(int, label.split(" to "))
        return isinstance(value, int) and low <= value <= high
    return False


@settings(max_examples=25, deadline=None)
@given(people)
@pytest.mark.usefixtures("patience")
def test_a_release_says_what_a_count_of_all_its_cells_says(
    rows: list[tuple[int, str, str]],
) -> None:
    made = sf.anonymize(table_of(rows), policy_of(), seed=0)
    if made.suppressed:
        # Hierarchies are then those of the published rows; only other columns can be counted here.
        assert made.gone is not None
        assert made.gone.columns["ill"] == pytest.approx(made.suppressed / len(rows))
        assert made.gone.columns["age"] >= made.suppressed / len(rows) - 1e-12
        return
    assert made.gone is not None
    assert dict(made.gone.columns) == pytest.approx(cells_by_the_book(rows, made))


def test_a_trial_says_the_same_as_the_release() -> None:
    rows = [(20 + n % 7 * 6, "ab"[n % 2], ["flu", "gout"][n % 3 % 2]) for n in range(40)]
    table, policy = table_of([*rows, (69, "c", "flu")]), policy_of()
    made = sf.anonymize(table, policy, seed=0)
    counts = open_table(table).count(("age", "kind", "ill"))
    trial = try_on_counts(policy, CountedTable(counts, tuple(table.column_names)))
    assert made.suppressed == trial.suppressed == 1
    assert made.gone == trial.gone
    assert trial.to_dict()["gone"]["of"] == 4


def test_it_stands_in_no_manifest_and_in_no_file_if_rows_are_suppressed() -> None:
    rows = [(30, "a", "flu")] * 9 + [(69, "b", "gout")]
    made = sf.anonymize(table_of(rows), policy_of(), seed=0)
    assert made.suppressed == 1
    assert "gone" not in made.manifest.to_dict()
    assert "gone" not in made.to_dict()
    assert "Gone: " in str(made)


def test_calling_quasi_identifiers_plain_loses_nothing_and_dropping_them_loses_them() -> None:
    rows = [(20 + n, "a", "flu") for n in range(10)]
    plain = {**policy_of().columns, "age": "plain"}
    dropped = {**policy_of().columns, "age": "dropped"}
    figures = {
        what: sf.anonymize(table_of(rows), policy_of().replace(columns=rules), seed=0)
        for what, rules in {"plain": plain, "dropped": dropped}.items()
    }
    assert figures["plain"].loss == figures["dropped"].loss == 0
    assert str(figures["plain"].gone) == "25 % of the data, 3 of 4 columns left"
    assert str(figures["dropped"].gone) == "50 % of the data, 2 of 4 columns left"


def test_a_copy_that_is_left_out_is_not_gone() -> None:
    rows = [(20 + n % 5, "a", "flu") for n in range(10)]
    copied = {**policy_of().columns, "note": {"role": "dropped", "copy_of": "kind"}}
    made = sf.anonymize(table_of(rows), policy_of().replace(columns=copied), seed=0)
    assert made.gone is not None
    assert "note" not in made.gone.columns
    with pytest.raises(sf.SfumatoError, match="copy_of"):
        policy_of().replace(columns={**copied, "ill": {"role": "sensitive", "copy_of": "kind"}})


def test_a_draft_says_what_is_a_copy() -> None:
    ages = [20 + (7 * n) % 50 for n in range(500)]
    table = pa.table({"age": ages, "age_in_months": [12 * age for age in ages]})
    drafted = sf.draft(table)
    assert drafted.policy.columns["age_in_months"].copy_of == "age"
    assert drafted.price is not None
    assert drafted.price.gone.of == 1


def test_what_chance_changes_is_gone_as_far_as_it_hides() -> None:
    pays = [1000 + 10 * (n * 37 % 100) for n in range(400)]
    table = pa.table(
        {"age": [30 + n % 2 for n in range(400)], "pay": pays, "town": ["a", "b"] * 200}
    )

    def gone(**perturb: object) -> Mapping[str, float]:
        rules = {n: {"role": "plain", "perturb": how} for n, how in perturb.items()}
        columns = {"age": "quasi-identifier", "pay": "plain", "town": "plain", **rules}
        policy = sf.Policy(columns=columns, models=[sf.models.KAnonymity(2)])
        found = sf.anonymize(table, policy, seed=0).gone
        assert found is not None
        return found.columns

    assert gone(pay={"kind": "noise", "sd": 0.001})["pay"] < 0.001
    # Noise as wide as the numbers themselves leaves half of the variance explained.
    assert gone(pay={"kind": "noise", "sd": 288.0})["pay"] == pytest.approx(0.5, abs=0.08)
    assert gone(town={"kind": "pram", "keep": 0.7})["town"] == pytest.approx(0.3, abs=0.08)
