"""What every attack must keep, run over all that are registered."""

import json
from dataclasses import FrozenInstanceError, fields, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.attacks import ATTACKS, ClassAttack, Similarity
from sfumato.errors import ParameterError, UnknownColumnError, UnknownNameError
from tests.models.tables import COUNTED, classes_with_tree, empty

ON_CLASSES = [kind for kind in ATTACKS.values() if issubclass(kind, ClassAttack)]
"""Those that are after a sensitive column and need nothing but classes."""

EVERY = [kind.example() for kind in ON_CLASSES] + [
    Similarity("disease", level=0),
    Similarity("disease", level=1),
    Similarity("disease", level=2),
]
every_attack = pytest.mark.parametrize("attack", EVERY, ids=str)
every_example = pytest.mark.parametrize(
    "attack", [kind.example() for kind in ATTACKS.values()], ids=str
)
every_kind = pytest.mark.parametrize("kind", ATTACKS.values(), ids=list(ATTACKS))


@every_kind
def test_the_docstring_says_what_is_found_and_what_is_not(kind):
    assert "Finds:" in kind.__doc__
    assert "Does not find:" in kind.__doc__
    assert ">>> " in kind.__doc__
    for field in fields(kind):
        assert f"        {field.name}: " in kind.__doc__


@every_example
def test_it_cannot_be_changed(attack):
    for field in fields(attack):
        with pytest.raises(FrozenInstanceError):
            setattr(attack, field.name, None)


@every_example
def test_equal_settings_make_equal_attacks(attack):
    again = type(attack)(**attack.params())
    assert again == attack
    assert hash(again) == hash(attack)


@every_kind
def test_the_registry_finds_it_by_its_name(kind):
    assert ATTACKS[kind.name] is kind
    column = "disease" if kind in ON_CLASSES else ""
    assert str(kind.example()).startswith(f"{kind.name}({column}")


def test_a_misspelt_attack_is_answered_with_the_right_one():
    with pytest.raises(UnknownNameError, match=r"no attack 'similarty'\. Did you mean 'simil"):
        ATTACKS["similarty"]


def test_the_room_is_a_public_name():
    assert sf.attacks.ATTACKS is ATTACKS


@every_kind
def test_it_says_what_the_adversary_does(kind):
    assert kind.how.endswith(".")
    assert kind.how[0].isupper()


@pytest.mark.parametrize("kind", ON_CLASSES)
def test_an_attack_needs_a_column(kind):
    with pytest.raises(ParameterError, match="column must be a non-empty text"):
        replace(kind.example(), column="")


@every_attack
def test_a_misspelt_column_is_answered_with_the_right_one(attack):
    with pytest.raises(UnknownColumnError, match=r"no column 'diseese'.*Did you mean 'disease'"):
        replace(attack, column="diseese").run(empty())


@every_attack
@given(rows=COUNTED)
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


@every_attack
@given(rows=COUNTED)
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
    moved = attack.run(classes.merged(order)).vulnerable
    assert moved[order].tolist() == attack.run(classes).vulnerable.tolist()


@every_attack
@given(rows=COUNTED, data=st.data())
def test_a_class_is_judged_for_itself(attack, rows, data):
    classes = classes_with_tree(rows)
    n = len(classes)
    keep = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)), dtype=bool)
    left = attack.run(classes.kept(keep)).vulnerable
    assert left.tolist() == attack.run(classes).vulnerable[keep].tolist()


@every_attack
@given(rows=COUNTED, data=st.data())
def test_merging_never_exposes_a_class_that_had_a_part_with_differing_values(attack, rows, data):
    classes = classes_with_tree(rows)
    n = len(classes)
    side = np.array(data.draw(st.lists(st.integers(0, 1), min_size=n, max_size=n)))
    _, into = np.unique(side, return_inverse=True)
    before, after = attack.run(classes).vulnerable, attack.run(classes.merged(into)).vulnerable
    # Only a class without known values was safe because it says nothing.
    silent = classes.counts_of("disease").known.totals == 0
    assert not after[into[~before & ~silent]].any()


@every_attack
def test_one_row_with_a_known_value_is_exposed_and_a_missing_value_is_not(attack):
    classes = classes_with_tree([("A", "flu"), ("B", None), ("B", None)])
    assert attack.run(classes).vulnerable.tolist() == [True, False]


@every_attack
def test_missing_values_hide_nobody(attack):
    classes = classes_with_tree([("A", "flu"), ("A", "flu"), *[("A", None)] * 7, ("B", "gout")])
    assert attack.run(classes).vulnerable.tolist() == [True, True]


@every_attack
def test_rows_are_counted_once_where_classes_overlap(attack):
    classes = classes_with_tree([("A", "flu"), ("A", "flu"), ("B", "flu"), ("B", "cancer")])
    # The first class also matches a row that is published with the second's values.
    overlapping = replace(classes, sizes=classes.sizes + 1, own=classes.sizes)
    finding = attack.run(overlapping)
    assert (finding.rows, finding.of_rows) == (2, 4)
