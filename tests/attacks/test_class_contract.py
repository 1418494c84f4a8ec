"""What every attack by class must keep, whatever it looks for in a class."""

import json
from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.attacks import ATTACKS, BackgroundKnowledge, ClassAttack, Similarity
from sfumato.errors import ParameterError, UnknownColumnError
from tests.builders import hold_all
from tests.models.tables import COUNTED, classes_with_tree, empty

KINDS = [kind for kind in ATTACKS.values() if issubclass(kind, ClassAttack)]
EVERY = [kind.example() for kind in KINDS] + [
    Similarity("disease", level=0),
    Similarity("disease", level=1),
    Similarity("disease", level=2),
    BackgroundKnowledge("disease", rules_out=2, at_least=0.9),
]
every_attack = pytest.mark.parametrize("attack", EVERY, ids=str)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_an_attack_needs_a_column(kind):
    with pytest.raises(ParameterError, match="column must be a non-empty text"):
        replace(kind.example(), column="")


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_it_is_called_after_its_column(kind):
    assert str(kind.example()).startswith(f"{kind.name}(disease")


@every_attack
def test_a_misspelt_column_is_answered_with_the_right_one(attack):
    with pytest.raises(UnknownColumnError, match=r"no column 'diseese'.*Did you mean 'disease'"):
        replace(attack, column="diseese").run(empty())


@given(rows=COUNTED)
@hold_all(EVERY)
def test_the_figures_fit_together(attack, rows):
    classes = classes_with_tree(rows)
    finding = attack.run(classes)
    assert finding.vulnerable.dtype == bool
    assert finding.vulnerable.shape == (len(classes),)
    assert finding.classes == sum(finding.vulnerable.tolist())
    assert finding.rows == sum(classes.sizes[finding.vulnerable].tolist())
    assert (finding.of_classes, finding.of_rows) == (len(classes), len(rows))
    assert finding.classes <= finding.rows <= finding.of_rows
    assert finding.share == pytest.approx(finding.rows / len(rows))
    assert finding.suffers == (finding.classes > 0) == (finding.rows > 0)
    assert (finding.attack, finding.name, finding.column) == (attack, attack.name, "disease")


@given(rows=COUNTED)
@hold_all(EVERY)
def test_beliefs_are_probabilities_of_something_said(attack, rows):
    classes = classes_with_tree(rows)
    finding = attack.run(classes)
    for belief in (finding.prior, finding.posterior):
        assert belief.shape == (len(classes),)
        assert ((belief >= 0) & (belief <= 1)).all()
    silent = classes.counts_of("disease").known.totals == 0
    said = [finding.believed(i) for i in range(len(classes))]
    assert [each == "nothing" for each in said] == silent.tolist()
    assert ((finding.posterior > 0) == ~silent).all()
    # What is in a class is in the table, so nobody thought it impossible.
    assert ((finding.prior > 0) == ~silent).all()


@given(rows=COUNTED)
@hold_all(EVERY)
def test_one_class_tells_no_more_than_the_table(attack, rows):
    classes = classes_with_tree([("A", disease) for _, disease in rows])
    finding = attack.run(classes)
    assert finding.prior.tolist() == pytest.approx(finding.posterior.tolist(), abs=1e-12)


@given(rows=COUNTED)
@hold_all(EVERY)
def test_a_finding_can_be_written_as_json_and_read_by_people(attack, rows):
    finding = attack.run(classes_with_tree(rows))
    plain = finding.to_dict()
    assert json.loads(json.dumps(plain)) == plain
    assert plain["attack"] == attack.name
    assert attack.params().items() <= plain.items()
    assert plain["rows"] == finding.rows
    exposed = f"{finding.rows} of {len(rows)} rows, in {finding.classes} of {finding.of_classes}"
    assert (exposed if finding.suffers else f"none of {len(rows)} rows") in str(finding)


@every_attack
def test_a_finding_cannot_be_changed(attack):
    finding = attack.run(classes_with_tree([("A", "flu")]))
    with pytest.raises(FrozenInstanceError):
        finding.vulnerable = np.array([False])
    with pytest.raises(ValueError, match="read-only"):
        finding.vulnerable[0] = False


@every_attack
def test_nobody_is_exposed_in_an_empty_table(attack):
    finding = attack.run(empty())
    assert not finding.suffers
    assert (finding.classes, finding.of_classes, finding.rows, finding.of_rows) == (0, 0, 0, 0)
    assert finding.share == 0.0
    assert str(finding) == f"{attack} exposes none of 0 rows"


@every_attack
@given(rows=COUNTED, data=st.data())
def test_the_order_of_rows_does_not_matter(attack, rows, data):
    shuffled = data.draw(st.permutations(rows))
    one, other = (attack.run(classes_with_tree(each)) for each in (rows, shuffled))
    assert one.vulnerable.tolist() == other.vulnerable.tolist()
    assert one.to_dict() == other.to_dict()


@every_attack
@given(rows=COUNTED, data=st.data())
def test_the_order_of_classes_does_not_matter(attack, rows, data):
    classes = classes_with_tree(rows)
    order = np.array(data.draw(st.permutations(range(len(classes)))))
    one, moved = attack.run(classes), attack.run(classes.merge(order))
    assert moved.vulnerable[order].tolist() == one.vulnerable.tolist()
    assert moved.posterior[order].tolist() == one.posterior.tolist()
    assert [moved.believed(i) for i in order.tolist()] == [
        one.believed(i) for i in range(len(order))
    ]


@every_attack
@given(rows=COUNTED, data=st.data())
def test_a_class_is_judged_for_itself(attack, rows, data):
    classes = classes_with_tree(rows)
    n = len(classes)
    keep = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)), dtype=bool)
    one, left = attack.run(classes), attack.run(classes.keep(keep))
    assert left.vulnerable.tolist() == one.vulnerable[keep].tolist()
    assert left.posterior.tolist() == one.posterior[keep].tolist()
    assert left.prior.tolist() == one.prior[keep].tolist()


@every_attack
@given(rows=COUNTED, data=st.data())
def test_merging_exposes_nobody_where_no_part_was_exposed(attack, rows, data):
    classes = classes_with_tree(rows)
    n = len(classes)
    side = np.array(data.draw(st.lists(st.integers(0, 1), min_size=n, max_size=n)))
    _, into = np.unique(side, return_inverse=True)
    before, after = attack.run(classes).vulnerable, attack.run(classes.merge(into)).vulnerable
    # A share of the whole is never larger than in all parts.
    for merged in np.flatnonzero(after):
        assert before[into == merged].any()


@pytest.mark.parametrize(
    "attack", [each for each in EVERY if each.name in ("homogeneity", "similarity")], ids=str
)
@given(rows=COUNTED, data=st.data())
def test_merging_never_exposes_a_class_that_had_a_part_with_differing_values(attack, rows, data):
    classes = classes_with_tree(rows)
    n = len(classes)
    side = np.array(data.draw(st.lists(st.integers(0, 1), min_size=n, max_size=n)))
    _, into = np.unique(side, return_inverse=True)
    before, after = attack.run(classes).vulnerable, attack.run(classes.merge(into)).vulnerable
    # Only a class without known values was safe because it says nothing.
    silent = classes.counts_of("disease").known.totals == 0
    assert not after[into[~before & ~silent]].any()


MIXED = [("C", "flu"), ("C", "gout"), ("C", "hiv"), ("C", "cancer")]
"""A class that tells nothing, whatever is looked for."""


@every_attack
def test_one_row_with_a_known_value_is_exposed_and_a_missing_value_is_not(attack):
    classes = classes_with_tree([("A", "flu"), ("B", None), ("B", None), *MIXED])
    assert attack.run(classes).vulnerable.tolist() == [True, False, False]


@every_attack
def test_missing_values_hide_nobody(attack):
    rows = [("A", "flu"), ("A", "flu"), *[("A", None)] * 7, ("B", "gout"), *MIXED]
    assert attack.run(classes_with_tree(rows)).vulnerable.tolist() == [True, True, False]


@every_attack
def test_rows_are_counted_once_where_classes_overlap(attack):
    classes = classes_with_tree([("A", "flu"), ("A", "flu"), *MIXED])
    # The first class also matches a row that is published with the second's values.
    overlapping = replace(classes, sizes=classes.sizes + 1, own=classes.sizes)
    finding = attack.run(overlapping)
    assert (finding.rows, finding.of_rows) == (2, 6)
