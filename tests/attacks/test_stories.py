"""The attacks that the literature tells, on its own tables and with its own figures."""

from fractions import Fraction

import pytest

from sfumato import samples
from sfumato.attacks import (
    BackgroundKnowledge,
    Dependency,
    Homogeneity,
    KnowledgeBreach,
    ProbabilisticInference,
    Similarity,
    Skewness,
    Target,
)
from sfumato.counts import FrequencySet
from sfumato.decouplings.base import GroupedTables
from sfumato.harm import HarmRule, Level
from sfumato.hierarchy import Taxonomy
from tests.decouplings.tables import CENSUS, CENSUS_SENSITIVE, FIRST, SECOND


def ward():
    """Twelve patients, 4-anonymous by area and age; nationality is suppressed."""
    rows = []
    for row in samples.table("homogeneity").to_pylist():
        age = int(row["age"])
        area = f"{row['zipcode'][:4]}*" if age > 40 else f"{row['zipcode'][:3]}**"
        decade = ">40" if age > 40 else "<30" if age < 30 else "3*"
        rows.append((area, decade, "*", row["condition"]))
    names = ["zipcode", "age", "nationality", "condition"]
    counts = FrequencySet.from_rows(names, rows)
    return Target.of_table(counts, ("zipcode", "age", "nationality"), ("condition",))


YOUNGER = {"zipcode": "240**", "age": "3*", "nationality": "*"}
OLDER = {"zipcode": "2596*", "age": ">40", "nationality": "*"}


def case_of(outcome, who):
    return next(case for case in outcome.worst if case.who == who)


def test_the_neighbour_of_39_in_24064_has_a_viral_infection():
    outcome = Homogeneity("condition").on(ward(), HarmRule())
    assert (outcome.people, outcome.of, outcome.posterior) == (4, 12, 1.0)
    case = case_of(outcome, YOUNGER)
    assert (case.people, case.believed) == (4, "condition = Viral Infection")
    assert case.prior == pytest.approx(4 / 12)


def test_without_further_knowledge_the_friend_of_41_in_25961_is_not_betrayed():
    outcome = ProbabilisticInference("condition").on(ward(), HarmRule())
    assert case_of(outcome, OLDER).posterior == 0.5


def test_the_friend_of_41_in_25961_has_cancer_if_she_has_no_heart_disease():
    attack = BackgroundKnowledge("condition", known_not=["Heart Disease"])
    outcome = attack.on(ward(), HarmRule())
    case = case_of(outcome, OLDER)
    assert (case.believed, case.posterior) == ("condition = Cancer", 1.0)
    # Without the classes two of the ten others have cancer.
    assert case.prior == pytest.approx(2 / 10)
    assert outcome.judged
    assert outcome.people == 4 + 4


def test_she_nearly_certainly_has_cancer_if_heart_disease_is_rare_among_japanese():
    rates = {"nationality": {"Japanese": {"Heart Disease": 0.001}}}
    outcome = BackgroundKnowledge("condition", rates=rates).on(ward(), HarmRule())
    case = case_of(outcome, OLDER)
    # As likely as in the table is 2/12; the rest is shared by the others as before.
    heart, cancer = 2 * Fraction(1, 1000) / Fraction(2, 12), 2 * Fraction(999, 1000) * 12 / 10
    assert case.posterior == pytest.approx(float(cancer / (cancer + heart)), abs=1e-12)
    assert case.posterior > 0.99
    assert case.believed == "condition = Cancer"
    assert case.prior == pytest.approx(0.999 * 2 / 10)


def test_carl_in_his_thirties_most_likely_has_cancer_if_he_has_no_heart_disease():
    rows = [
        (row["zipcode"][:3], int(row["age"]) // 10 if int(row["age"]) < 40 else 4, row["disease"])
        for row in samples.table("patients").to_pylist()
    ]
    counts = FrequencySet.from_rows(["zipcode", "age", "disease"], rows)
    target = Target.of_table(counts, ("zipcode", "age"), ("disease",))
    bob = Homogeneity("disease").on(target, HarmRule()).worst[0]
    assert (bob.who["age"], bob.believed) == (2, "disease = Heart Disease")
    known = BackgroundKnowledge("disease", known_not=["Heart Disease"]).on(target, HarmRule())
    carl = case_of(known, {"zipcode": "476", "age": 3})
    assert (carl.believed, carl.posterior) == ("disease = Cancer", 1.0)


def students():
    """Exams of which 1 in 100 was failed, but not in every class."""
    rows = [("49 to 1", "pass")] + [("49 to 1", "fail")] * 49
    rows += [("even", "pass")] * 25 + [("even", "fail")] * 25
    rows += [("1 to 49", "pass")] * 49 + [("1 to 49", "fail")]
    failed = sum(result == "fail" for _, result in rows)
    rows += [("rest", "pass")] * (100 * failed - len(rows))
    return rows


def test_a_class_of_49_failures_and_1_pass_has_failed_with_98_percent_rather_than_1():
    rows = students()
    counts = FrequencySet.from_rows(["class", "exam"], rows)
    target = Target.of_table(counts, ("class",), ("exam",))
    outcome = Skewness("exam").on(target, HarmRule())
    worst = outcome.worst[0]
    assert (worst.who, worst.people) == ({"class": "49 to 1"}, 50)
    assert worst.believed == "exam = fail"
    assert (worst.prior, worst.posterior) == (pytest.approx(0.01), pytest.approx(0.98))
    assert outcome.people == 50
    # Half of a class is a threat too, which nobody can rely on; the mirrored class is none.
    assert outcome.by_level == {"very high": 50, "high": 50, "moderate": 0}
    finding = Skewness("exam").find(target)
    found = {target.who(i)["class"]: bool(v) for i, v in enumerate(finding.vulnerable)}
    assert found == {"49 to 1": True, "even": True, "1 to 49": False, "rest": False}
    even = case_of(outcome, {"class": "even"})
    assert (even.prior, even.posterior) == (pytest.approx(0.01), 0.5)
    assert (even.level, even.believed) == (Level.HIGH, "exam = fail")


def test_ten_patients_with_three_diseases_have_hiv_with_80_percent():
    rows = [("<30", "HIV")] * 8 + [("<30", "Cancer"), ("<30", "Hepatitis")]
    # The printed class is one of many; in the others HIV is as rare as the rest.
    others = ["HIV", "Cancer", "Hepatitis", "Flu", "Gout"]
    rows += [(f"{age}", ill) for age in range(8) for ill in others * 2]
    counts = FrequencySet.from_rows(["age", "disease"], rows)
    target = Target.of_table(counts, ("age",), ("disease",))
    assert Homogeneity("disease").on(target, HarmRule()).people == 0
    outcome = ProbabilisticInference("disease").on(target, HarmRule())
    worst = outcome.worst[0]
    assert (outcome.people, worst.who) == (10, {"age": "<30"})
    assert (worst.believed, worst.posterior) == ("disease = HIV", 0.8)


def clinic():
    """Nine patients, 3-anonymous and 3-diverse in salary and in condition."""
    rows = [
        (f"{row['zipcode'][:3]}**", min(int(row["age"]) // 10, 5), row["salary"], row["condition"])
        for row in samples.table("similarity").to_pylist()
    ]
    counts = FrequencySet.from_rows(["zipcode", "age", "salary", "condition"], rows)
    stomach = ["Gastric malignancy", "Stomach inflammation", "Gastric ulcer", "Indigestion"]
    organs = Taxonomy(
        {
            "stomach": [*stomach, "Stomach cancer"],
            "head": ["Headache"],
            "infection": ["HIV", "Flu", "Fever"],
        }
    )
    known = counts.column("condition").known
    ladder = organs.ladder("condition", known, [1] * len(known))
    quasi, sensitive = ("zipcode", "age"), ("salary", "condition")
    return Target.of_table(counts, quasi, sensitive, {"condition": ladder})


JAN = {"zipcode": "786**", "age": 2}


def test_jan_of_29_has_a_stomach_disease():
    target = clinic()
    assert Homogeneity("condition").on(target, HarmRule()).people == 0
    outcome = Similarity("condition", level=1).on(target, HarmRule())
    # Five of nine have a stomach disease: that all three do was to be guessed.
    assert (outcome.people, outcome.high, outcome.moderate) == (0, 0, 3)
    case = case_of(outcome, JAN)
    assert (case.believed, case.posterior) == ("condition is stomach", 1.0)
    assert case.prior == pytest.approx(5 / 9)


def test_jan_of_29_earns_60_to_80_thousand():
    outcome = Similarity("salary", within=20_000).on(clinic(), HarmRule())
    case = case_of(outcome, JAN)
    assert (case.believed, case.posterior) == ("salary from 60000 to 80000", 1.0)
    # 60, 70 twice and 80 twice, of nine.
    assert case.prior == pytest.approx(5 / 9)


def test_what_would_be_tried_by_itself_finds_the_stomach():
    tried = Similarity.against(clinic(), HarmRule())
    assert Similarity("condition", level=1) in tried
    assert Similarity("salary", within=23_000) in tried


def test_three_salaries_from_60_to_80_thousand_are_found_without_being_told():
    """Of nine people five earn as much: that all three of a class do was to be guessed."""
    target = clinic()
    outcome = Similarity("salary", within=23_000).on(target, HarmRule())
    worst = outcome.worst[0]
    assert (worst.people, worst.level) == (3, Level.MODERATE)
    assert worst.believed == "salary from 60000 to 80000"
    assert (worst.prior, worst.posterior) == (pytest.approx(5 / 9), 1.0)


# The ten people of the census


def census():
    rows = [tuple(row.values()) for row in samples.table("census").to_pylist()]
    names = list(samples.table("census").column_names)
    return FrequencySet.from_rows(names, rows)


def before():
    return Target.of_table(census(), CENSUS, CENSUS_SENSITIVE)


def after():
    return Target.of_grouped("break-merge", GroupedTables.of(census(), CENSUS, CENSUS_SENSITIVE))


def test_before_breaking_who_works_for_the_state_is_single_and_earns_little():
    outcome = KnowledgeBreach("government").on(before(), HarmRule())
    who = dict(zip(CENSUS, FIRST, strict=True)) | {"government": "State-gov"}
    beliefs = KnowledgeBreach("government").beliefs(before())
    at = next(i for i in range(len(beliefs.rows)) if beliefs.who(i) == who)
    assert (beliefs.rows[at], beliefs.posterior[at]) == (2, 1.0)
    assert beliefs.believed(at) == "marital_status=Never-Married, salary=<=50K"
    assert outcome.posterior == 1.0
    assert outcome.people > 0


def test_before_breaking_two_of_three_private_employees_of_the_second_group_are_married_and_rich():
    beliefs = KnowledgeBreach("government").beliefs(before())
    who = dict(zip(CENSUS, SECOND, strict=True)) | {"government": "Private"}
    at = next(i for i in range(len(beliefs.rows)) if beliefs.who(i) == who)
    assert beliefs.posterior[at] == pytest.approx(2 / 3)
    assert beliefs.believed(at) == "marital_status=Married, salary=>50K"


def test_after_breaking_it_is_32_percent_and_nobody_is_at_risk():
    outcome = KnowledgeBreach("government").on(after(), HarmRule())
    assert outcome.people == 0
    case = case_of(outcome, dict(zip(CENSUS, FIRST, strict=True)))
    assert (case.people, case.posterior) == (5, pytest.approx(0.32))
    assert case.believed == "marital_status=Never-Married, salary=<=50K"
    # 3 of 10 are single and 7 of 10 earn little: 21 % without the release.
    assert case.prior == pytest.approx(0.3 * 0.7)


def test_breaking_leaves_no_rows_to_learn_dependencies_on():
    assert Dependency.against(after(), HarmRule()) == []
    assert "no rows in one piece" in Dependency.why_not(after())
    assert [each.column for each in Dependency.against(before(), HarmRule())] == list(
        CENSUS_SENSITIVE
    )
    assert [each.column for each in KnowledgeBreach.against(before(), HarmRule())] == list(
        CENSUS_SENSITIVE
    )
    assert [each.known for each in KnowledgeBreach.against(after(), HarmRule())] == list(
        CENSUS_SENSITIVE
    )
