"""Background knowledge: how it is said, where rates apply, and what is refused."""

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.attacks import BackgroundKnowledge, ProbabilisticInference, Target
from sfumato.counts import FrequencySet
from sfumato.errors import ParameterError, PolicyError, UnknownColumnError, UnknownNameError
from sfumato.harm import HarmRule
from tests.builders import classes_of

RATES = {"nation": {"Japan": {"heart": 0.01}, "Finland": {"heart": 0.5, "flu": 0.25}}}
ROWS = [("*", "heart"), ("*", "cancer"), ("Japan", "heart"), ("Japan", "flu"), ("Spain", "heart")]


def target_of(rows, name="nation"):
    counts = FrequencySet.from_rows([name, "ill"], rows)
    return Target.of_table(counts, (name,), ("ill",))


def test_a_mapping_and_a_list_of_fours_are_one():
    fours = [
        ("nation", "Japan", "heart", 0.01),
        ("nation", "Finland", "flu", 0.25),
        ["nation", "Finland", "heart", 0.5],
    ]
    one, other = BackgroundKnowledge("ill", rates=RATES), BackgroundKnowledge("ill", rates=fours)
    assert one == other
    assert hash(one) == hash(other)
    assert BackgroundKnowledge(**one.params()) == one


def test_one_value_is_ruled_out_if_nothing_else_is_known():
    assert BackgroundKnowledge("ill").suppositions == 1
    assert BackgroundKnowledge("ill", known_not=["flu"]).suppositions == 0
    assert BackgroundKnowledge("ill", known_not=["flu"], rules_out=2).suppositions == 2
    assert BackgroundKnowledge("ill", rates=RATES).suppositions == 0


@pytest.mark.parametrize("knowledge", [{}, {"rules_out": 2}, {"known_not": ["flu"]}])
def test_suppositions_are_told_and_what_is_named_is_judged(knowledge):
    attack = BackgroundKnowledge("ill", **knowledge)
    outcome = attack.on(target_of(ROWS), HarmRule())
    assert outcome.judged == (attack.suppositions == 0)
    assert outcome.judged == (outcome.note == "")


def test_rates_apply_where_the_label_covers_the_value():
    target = target_of(ROWS)
    plain = ProbabilisticInference("ill").find(target).posterior
    found = BackgroundKnowledge("ill", rates={"nation": {"Japan": {"heart": 0.01}}}).find(target)
    higher = {target.who(i)["nation"]: bool(found.posterior[i] > plain[i]) for i in range(3)}
    # Those of Japan are all such people: which of them has what, the rate does not say.
    assert higher == {"*": True, "Japan": False, "Spain": False}
    at = next(i for i in range(3) if target.who(i)["nation"] == "Japan")
    assert (found.believed(at), found.prior[at], found.posterior[at]) == ("ill = heart", 0.01, 0.5)


@pytest.mark.parametrize(
    ("label", "covers"),
    [("30-39", True), ("3*", True), ("40-49", False), (39, False), ("*", True)],
)
def test_intervals_and_masks_cover_others_too(label, covers):
    rows = [(label, "heart"), (label, "flu"), ("80-89", "heart"), ("80-89", "gout")]
    attack = BackgroundKnowledge("ill", rates={"age": {39: {"heart": 0.0}}})
    target = target_of(rows, "age")
    at = next(i for i in range(2) if target.who(i)["age"] == label)
    found = attack.find(target)
    # Among others, one who has no heart disease has the flu; among such people heart disease is
    # what the class shows, against all that was believed.
    assert (found.posterior[at] == 1.0) == covers
    if label == 39:
        assert (found.believed(at), found.prior[at], found.posterior[at]) == ("ill = heart", 0, 0.5)


def test_a_rate_of_0_is_contradicted_by_a_class_that_shows_the_value():
    rows = [("A", "flu"), ("A", "gout"), ("A", "gout"), ("B", "hiv")]
    nil = BackgroundKnowledge("ill", rates={"nation": {"A": {"gout": 0}}}).find(target_of(rows))
    assert (nil.believed(0), nil.prior[0]) == ("ill = gout", 0)
    assert nil.posterior[0] == pytest.approx(2 / 3)
    out = BackgroundKnowledge("ill", known_not=["gout"]).find(target_of(rows))
    assert (out.believed(0), out.posterior[0]) == ("ill = flu", 1.0)


TWO_DECADES = [("30s", "hiv")] * 95 + [("30s", "flu")] * 5
TWO_DECADES += [("40s", "hiv")] * 45 + [("40s", "flu")] * 55
PUBLIC = {"age": {"30s": {"hiv": 0.001}, "40s": {"hiv": 0.001}}}


def test_rates_are_what_was_believed_before_and_not_applied_to_counts():
    attack = BackgroundKnowledge("ill", rates=PUBLIC)
    outcome = attack.on(target_of(TWO_DECADES, "age"), HarmRule())
    assert (outcome.people, outcome.moderate) == (100, 100)
    believed = [(case.believed, case.prior, case.posterior) for case in outcome.worst]
    assert believed == [("ill = hiv", 0.001, 0.95), ("ill = hiv", 0.001, 0.45)]


def test_that_all_have_a_value_was_not_known_before_if_it_is_rare_elsewhere():
    rows = [(age, "hiv") for age, _ in TWO_DECADES]
    table = pa.table({"age": [age for age, _ in rows], "ill": [ill for _, ill in rows]})
    roles = {"quasi_identifiers": ["age"], "sensitive": ["ill"]}
    attack = BackgroundKnowledge("ill", rates=PUBLIC)
    found = sf.verify(table, attacks=[attack], **roles)
    assert found.answer == "no"
    assert (found.attacks[0].people, found.attacks[0].prior) == (200, 0.001)
    # One label for all leaves open who is meant, and the worse reading counts.
    coarse = [("*", ill) for _, ill in TWO_DECADES]
    outcome = attack.on(target_of(coarse, "age"), HarmRule())
    assert (outcome.prior, outcome.posterior) == (0.001, 0.7)


def test_counts_alone_do_not_say_whom_rates_concern():
    with pytest.raises(PolicyError, match="which classes hold whom"):
        BackgroundKnowledge("ill", rates=RATES).run(classes_of(ROWS, column="ill"))


def test_a_table_can_be_attacked_with_rates():
    counts = FrequencySet.from_rows(["nation", "ill"], ROWS)
    attack = BackgroundKnowledge("ill", rates={"nation": {"Japan": {"heart": 0.0}}}, at_least=1)
    [finding] = sf.tools.attack(counts, ["nation"], [attack])
    # Of those of Japan one of two has it; of the one of Spain it is certain anyway.
    assert finding.vulnerable.tolist() == [True, False, True]


def test_what_the_table_does_not_know_is_refused():
    target = target_of(ROWS)
    with pytest.raises(UnknownNameError, match=r"no value 'hart'.*Did you mean 'heart'"):
        BackgroundKnowledge("ill", known_not=["hart"]).find(target)
    with pytest.raises(UnknownNameError, match=r"no value 'hart'.*Did you mean 'heart'"):
        BackgroundKnowledge("ill", rates={"nation": {"Japan": {"hart": 0.1}}}).find(target)
    with pytest.raises(UnknownColumnError, match=r"no column 'nations'.*Did you mean 'nation'"):
        BackgroundKnowledge("ill", rates={"nations": {"Japan": {"heart": 0.1}}}).find(target)


@pytest.mark.parametrize(
    "bad",
    [
        {"rules_out": -1}, {"rules_out": 1.5}, {"known_not": "flu"}, {"known_not": [None]},
        {"at_least": 0}, {"at_least": 1.1},
        {"rates": [("nation", "Japan", "heart")]}, {"rates": 3},
        {"rates": [("nation", "Japan", "heart", 2)]}, {"rates": [("nation", None, "heart", 0.1)]},
        {"rates": [("nation", "Japan", "heart", 0.1), ("nation", "Japan", "heart", 0.2)]},
        {"rates": [("nation", "Japan", "heart", 0.6), ("nation", "Japan", "flu", 0.6)]},
    ],
    ids=str,
)  # fmt: skip
def test_refuses_settings_that_make_no_sense(bad):
    with pytest.raises(ParameterError, match=f"{next(iter(bad))} must be "):
        BackgroundKnowledge("ill", **bad)


@pytest.mark.parametrize("rates", [3, {"age": 3}, {"age": {"x": 3}}, [3], [("age", "x")]])
def test_rates_that_are_none_are_refused(rates):
    with pytest.raises(ParameterError, match="rates must be a mapping"):
        BackgroundKnowledge("ill", rates=rates)
