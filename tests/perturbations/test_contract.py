"""What every perturbation must keep, run over all that are registered."""

from dataclasses import FrozenInstanceError, fields
from inspect import getdoc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.perturbations import PERTURBATIONS
from sfumato.perturbations.perturbing import perturb_cells
from sfumato.policy import Policy
from sfumato.policy.parts import member_settings
from sfumato.text import text_of
from tests.builders import hold_all
from tests.perturbations.tables import (
    COLUMNS,
    VARIANTS,
    WHOLE,
    cells_of,
    change,
    likelihood,
    seen,
    values_of,
)

EVERY = [kind.example() for kind in PERTURBATIONS.values()] + VARIANTS
CHANCE = [member for member in EVERY if member.random]
FIXED = [member for member in EVERY if not member.random]
FAR = [1, 2, -3, 5, 8, 21, 34, 55]
every_member = pytest.mark.parametrize("member", EVERY, ids=str)
every_kind = pytest.mark.parametrize("kind", PERTURBATIONS.values(), ids=list(PERTURBATIONS))


def fits(member, values) -> bool:
    """Return whether a matrix names a value of the column."""
    matrix = getattr(member, "matrix", None)
    known = [text_of(value) for value in values if value is not None]
    return not matrix or not known or bool({*matrix} & {*known})


def some_values(n: int = 40) -> list:
    """Return values with each of those that are far apart as often."""
    return np.random.default_rng(5).permutation(np.repeat(FAR, n // 8)).tolist()


def policy_with(perturb) -> Policy:
    return Policy(
        columns={
            "age": "quasi-identifier",
            "region": "plain",
            "pay": {"role": "plain", "perturb": perturb},
        },
        models=[{"model": "k-anonymity", "k": 2}],
    )


@every_kind
def test_the_docstring_says_what_is_promised_and_what_is_not(kind):
    assert "Promises" in kind.__doc__
    assert "not promise" in kind.__doc__
    assert ">>> " in kind.__doc__
    for field in fields(kind):
        assert f"    {field.name}: " in getdoc(kind)


@every_member
def test_it_is_a_frozen_value_with_plain_settings(member):
    again = type(member)(**member.params())
    assert again == member
    assert hash(again) == hash(member)
    assert PERTURBATIONS[member.name] is type(member)
    assert set(member.params()) == {field.name for field in fields(member)}
    for field in fields(member):
        with pytest.raises(FrozenInstanceError):
            setattr(member, field.name, None)


@every_member
def test_a_policy_keeps_it(member):
    policy = policy_with(member)
    again = Policy.from_yaml(policy.to_yaml())
    assert again == policy
    assert again.columns["pay"].perturbations == (member,)
    assert policy_with(member_settings(member, "kind")) == policy
    assert policy_with([member]) == policy


@every_member
def test_settings_hold_what_was_stated_before_and_after_a_table_was_changed(member):
    stated = dict(member.params())
    change(member, some_values())
    assert member.params() == stated
    written = member_settings(member, "kind")
    assert written.pop("kind") == member.name
    assert set(written) <= set(stated)


@given(values=COLUMNS, seed=st.integers(0, 3))
@hold_all(EVERY)
def test_missing_values_stay_missing(member, values, seed):
    if not fits(member, values):
        return
    found = change(member, values, seed)
    assert len(found) == len(values)
    before, after = ([value is None for value in each] for each in (values, found))
    if member.joint and member.rearranges:
        # Exchanged as a whole: as many as before.
        assert sum(before) == sum(after)
    else:
        assert before == after


@given(values=COLUMNS, seed=st.integers(0, 3))
@hold_all(EVERY)
def test_the_same_seed_makes_the_same_values_and_the_given_column_stays(member, values, seed):
    if not fits(member, values):
        return
    cells = cells_of(values)
    first, second = (
        values_of(member.change([cells], None, np.random.default_rng(seed))[0]) for _ in range(2)
    )
    assert first == second
    assert values_of(cells) == values


@every_member
@pytest.mark.parametrize("n", [0, 1, 5])
def test_a_column_without_values_stays_as_it_is(member, n):
    assert change(member, [None] * n) == [None] * n


@every_member
def test_one_row_is_changed_by_itself(member):
    [found] = change(member, [1])
    assert found is not None
    if member.rearranges:
        assert found == 1


@every_member
def test_the_note_names_the_columns(member):
    note = member.note(["pay", "rent"])
    assert "'pay'" in note
    assert "'rent'" in note
    assert "\n" not in note


@pytest.mark.parametrize("member", CHANCE, ids=str)
def test_other_seeds_draw_other_values(member):
    values = some_values()
    assert len({tuple(change(member, values, seed)) for seed in range(5)}) > 1


@given(values=COLUMNS, seed=st.integers(0, 3))
@hold_all(FIXED)
def test_equal_values_stay_equal_where_nothing_is_drawn(member, values, seed):
    found = change(member, values, seed)
    becomes = dict(zip(values, found, strict=True))
    assert [becomes[value] for value in values] == found
    assert found == change(member, values, seed + 1)


@given(values=st.lists(WHOLE, min_size=1, max_size=30))
@hold_all(FIXED)
def test_what_is_changed_again_stays_where_nothing_is_drawn(member, values):
    found = change(member, values)
    if not isinstance(getattr(member, "above", None) or getattr(member, "below", None), str):
        assert change(member, found) == found


@given(
    rows=st.lists(st.tuples(st.integers(0, 3), WHOLE), min_size=1, max_size=30),
    seed=st.integers(0, 3),
)
@hold_all([m for m in EVERY if not m.rearranges and not getattr(m, "matrix", None)])
def test_a_value_that_a_person_has_again_becomes_the_same_again(member, rows, seed):
    person = np.array([who for who, _ in rows])
    cells = {"pay": cells_of([value for _, value in rows])}
    found = perturb_cells(cells, {"pay": (member,)}, np.random.default_rng(seed), person)["pay"]
    becomes = dict(zip(rows, values_of(found), strict=True))
    assert [becomes[row] for row in rows] == values_of(found)


@given(values=COLUMNS)
@hold_all(CHANCE)
def test_likelihoods_are_finite_and_missing_values_tell_of_missing_ones(member, values):
    if not values or not fits(member, values):
        return
    shown = seen(values)
    found = likelihood(member, shown)
    assert found.shape == (len(shown.values),) * 2
    assert np.isfinite(found).all()
    assert (found >= 0).all()
    if None in values and not (member.joint and member.rearranges):
        assert found[-1].tolist() == [0.0] * (len(shown.values) - 1) + [1.0]
        assert (found[:-1, -1] == 0).all()
