"""Models that compare a release with the population it was drawn from."""

from fractions import Fraction

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.classes import EquivalenceClasses
from sfumato.errors import InfeasibleError, InputError
from sfumato.models import DeltaPresence
from sfumato.verifier import Promises, count_population, verify_file, verify_folder
from tests.verifier.releases import write_release

PEOPLE = pa.table({"age": [21, 24, 29, 33, 35, None], "sex": ["f", "f", "f", "m", "m", "m"]})
GENERALIZATION = {
    "age": {"21": "2*", "24": "2*", "29": "2*", "33": "3*", "35": "3*", None: None},
}
RELEASE = {"age": ["2*", "3*", "3*"], "sex": ["f", "m", "m"]}
MODELS = [{"model": "k-map", "k": 2}, {"model": "delta-presence", "minimum": 0.3, "maximum": 1}]


def test_people_are_counted_on_the_published_labels():
    counts = count_population(PEOPLE, ["age", "sex"], GENERALIZATION)
    assert counts == {("2*", "f"): 3, ("3*", "m"): 2, (None, "m"): 1}


def test_whoever_has_an_unknown_value_is_in_no_published_class():
    labels = {"age": {"21": "2*"}}
    assert count_population(PEOPLE, ["age"], labels) == {("2*",): 1}


def test_figures_are_those_one_can_count():
    known = PEOPLE.filter(PEOPLE["age"].is_valid())
    people = count_population(known, ["age", "sex"], GENERALIZATION)
    promises = Promises(["age", "sex"], models=MODELS, population=people)
    verdict = verify_file(pa.table(RELEASE), promises)
    assert verdict.holds
    # 1 of 3 women in their twenties, 2 of 2 men in their thirties.
    assert verdict["k-map"].found == {"k": 2}
    assert verdict["delta-presence"].found == {"minimum": pytest.approx(1 / 3), "maximum": 1}


def test_a_class_without_anybody_in_the_population_breaks_both():
    promises = Promises(["age"], models=MODELS, population={("2*",): 9})
    verdict = verify_file(pa.table({"age": ["2*", "9*"]}), promises)
    assert [check.status for check in verdict.checks] == ["broken", "broken"]
    assert verdict["k-map"].worst == {"age": "9*"}


def test_a_population_needs_the_quasi_identifiers():
    with pytest.raises(InputError, match="the population has no column 'zip'"):
        count_population(PEOPLE, ["zip"])


def test_the_first_line_of_a_file_that_a_policy_calls_a_population_is_not_shown(tmp_path):
    (tmp_path / "shadow.csv").write_text("root:hunter2:19000\ndaemon:*:19000\n", encoding="utf-8")
    with pytest.raises(InputError) as refused:
        count_population(tmp_path / "shadow.csv", ["zip"])
    assert "hunter2" not in str(refused.value)


def release(folder):
    roles = {"age": "quasi-identifier", "sex": "quasi-identifier"}
    columns = [
        {"name": "age", "role": roles["age"], "level": 1, "height": 2},
        {"name": "sex", "role": roles["sex"], "level": 0, "height": 1},
    ]
    return write_release(folder, RELEASE, roles=roles, described=columns, models=MODELS)


def test_a_folder_is_held_against_the_population_it_is_given(tmp_path):
    folder = release(tmp_path / "release")
    known = PEOPLE.filter(PEOPLE["age"].is_valid())
    verdict = verify_folder(folder, population=known, generalization=GENERALIZATION)
    assert verdict.holds, str(verdict)


def test_a_class_of_the_population_that_is_absent_breaks_a_least_presence(tmp_path):
    # The man of unknown age is in a class that was not published, though nothing was suppressed.
    folder = release(tmp_path / "release")
    verdict = verify_folder(folder, population=PEOPLE, generalization=GENERALIZATION)
    assert verdict["absent classes"].status == "broken"
    assert verdict["absent classes"].found == 1


SHARES = st.sampled_from([0.0, 0.2, 0.25, 0.5, 0.75, 1.0])


@given(
    classes=st.lists(st.tuples(st.integers(0, 5), st.integers(0, 9), st.booleans()), min_size=1),
    bounds=st.tuples(SHARES, SHARES).map(sorted).filter(lambda each: each != [0, 1]),
    missing=st.sampled_from(["own-value", "suppress"]),
)
def test_verifier_and_model_agree_on_what_suppression_leaves_open(classes, bounds, missing):
    """Each class has some rows of the table, some people of the population, and may be shown."""
    table = [(f"c{at}", rows, people, shown) for at, (rows, people, shown) in enumerate(classes)]
    seen = [(label, rows, people) for label, rows, people, shown in table if shown and rows]
    hidden = [(rows, people) for _, rows, people, shown in table if not (shown and rows)]
    suppressed, unseen = (
        (sum(numbers) for numbers in zip(*hidden, strict=True)) if hidden else (0, 0)
    )
    model = DeltaPresence(*bounds)
    with_rows = [each for each in table if each[1]]
    counted = EquivalenceClasses(
        np.array([rows for _, rows, _, _ in with_rows], dtype=np.int64),
        population=np.array([people for _, _, people, _ in with_rows], dtype=np.int64),
        unseen=sum(people for _, rows, people, _ in table if not rows),
        scattered=missing == "suppress",
    ).keep(np.array([shown for *_, shown in with_rows], dtype=bool))
    assert (counted.suppressed, counted.unseen) == (suppressed, unseen)
    # The textbook: every person who is not shown may be one of those who were suppressed.
    least, most = map(Fraction, bounds)
    shares = [Fraction(rows, people) if people else 2 for _, rows, people in seen]
    expected = all(least <= share <= most for share in shares)
    if unseen:
        expected &= least == 0 and Fraction(suppressed, unseen) <= most
    if missing == "suppress" and suppressed:
        expected = False
    assert expected == (bool(model.passes(counted).all()) and model.passes_unseen(counted))
    promise = {"model": "delta-presence", **model.params(), "measured": model.measure(counted)}
    promises = Promises(
        ["label"],
        models=[promise],
        missing=missing,
        suppressed=suppressed,
        population={(label,): people for label, _, people, _ in table},
    )
    rows = pa.table({"label": pa.array([c for c, n, _ in seen for _ in range(n)], pa.string())})
    check = verify_file(rows, promises)["delta-presence"]
    assert (check.status == "holds") == expected, check
    assert "measured" not in check.detail


def test_with_a_suppressed_row_a_least_presence_is_void(tmp_path):
    """31 and 41: 3 of 10 each; 61: one of two, suppressed; 51: a thousand people, none of them in.

    At most one of the 1 002 people who are not shown is in the table.
    """
    people = tmp_path / "people.csv"
    ages = [31] * 10 + [41] * 10 + [51] * 1000 + [61] * 2
    people.write_text("\n".join(["age", *map(str, ages)]))
    table = pa.table({"age": [31] * 3 + [41] * 3 + [61], "ill": ["flu"] * 7})

    def policy(minimum, maximum, suppression):
        return sf.Policy(
            columns={
                "age": {
                    "role": "quasi-identifier",
                    "hierarchy": {"kind": "intervals", "widths": [10]},
                },
                "ill": "sensitive",
            },
            models=[sf.models.DeltaPresence(minimum, maximum), sf.models.KAnonymity(2)],
            population=str(people),
            suppression=suppression,
        )

    for suppression in (0, 1):
        with pytest.raises(InfeasibleError, match="no release keeps the promises"):
            sf.anonymize(table, policy(0.2, 0.6, suppression))
    # The maximum can be kept, and the release says that nothing is the least.
    release = sf.anonymize(table, policy(0, 0.6, 1))
    assert (release.suppressed, release.verdict.holds) == (1, True)
    assert release.verdict["delta-presence"].found == {"minimum": 0, "maximum": 0.3}


def test_rows_of_stars_are_of_people_in_no_other_class():
    models = [
        {"model": "k-map", "k": 3},
        {"model": "delta-presence", "minimum": 0.1, "maximum": 0.6},
    ]
    people = {("31",): 10, ("61",): 2, ("71",): 3}
    table = pa.table({"age": ["31"] * 3 + ["*"] * 2})
    verdict = verify_file(table, Promises(["age"], models=models, population=people))
    assert verdict["k-map"].found == {"k": 5}
    assert verdict["delta-presence"].found == {"minimum": 0.3, "maximum": 0.4}


def test_suppressed_rows_of_few_people_tell_that_they_are_in():
    """Both people of 61 are in the table and suppressed: nobody else can be meant."""
    people = pa.table({"age": [31] * 10 + [61] * 2})
    promises = Promises(
        ["age"],
        models=[{"model": "delta-presence", "minimum": 0, "maximum": 0.6}],
        published=3,
        suppressed=2,
        population=count_population(people, ["age"]),
    )
    check = verify_file(pa.table({"age": [31] * 3}), promises)["delta-presence"]
    assert (check.status, check.found) == ("broken", {"minimum": 0, "maximum": 1})
    assert check.detail == "2 suppressed rows are of 2 people"


def test_without_population_or_generalization_nothing_is_claimed(tmp_path):
    folder = release(tmp_path / "release")
    for options in ({}, {"population": PEOPLE}):
        verdict = verify_folder(folder, **options)
        assert verdict["k-map"].status == "unchecked"
        assert "population" in verdict["k-map"].detail
        assert not verdict.holds


def test_who_is_absent_from_an_empty_table_is_not_judged_without_a_population():
    model = {"model": "delta-presence", "minimum": 0, "maximum": 0.5}
    empty = pa.table({"age": pa.array([], pa.string())})
    (check,) = verify_file(empty, Promises(["age"], models=[model])).checks
    assert check.status == "unchecked"
    assert "no population was given" in check.detail


def test_people_who_miss_a_cell_are_in_no_class_where_such_rows_are_suppressed(tmp_path):
    people = pa.table({"age": [30, 31, 32, 33, None, None], "sex": ["f", "f", "f", "f", "f", "m"]})
    pa.parquet.write_table(people, tmp_path / "people.parquet")
    policy = sf.Policy(
        columns={"age": "quasi-identifier", "sex": "quasi-identifier"},
        models=[{"model": "k-map", "k": 4}],
        missing="suppress",
        population=str(tmp_path / "people.parquet"),
    )
    release = sf.anonymize(people.slice(0, 2), policy, output=tmp_path / "release")
    assert sf.verify(release, policy, attacks=False).verdict.holds
    assert release.manifest.to_dict()["models"][0]["measured"] == {"k": 4}
    presence = policy.replace(models=[DeltaPresence(0, 0.9)])
    with pytest.raises(InfeasibleError, match="people of the population miss a quasi-identifier"):
        sf.anonymize(people.slice(0, 2), presence)


def test_labels_are_those_of_the_population_wherever_they_are_counted(tmp_path):
    ages = [51, 58, *range(20, 90, 3), *[67] * 30]
    people = pa.table({"age": ages, "ill": ["flu", "gout"] * (len(ages) // 2)})
    pa.parquet.write_table(people, tmp_path / "people.parquet")
    policy = sf.Policy(
        columns={"age": {"role": "quasi-identifier", "hierarchy": "auto"}, "ill": "sensitive"},
        models=[{"model": "k-map", "k": 3}, {"model": "k-anonymity", "k": 2}],
        population=str(tmp_path / "people.parquet"),
    )
    release = sf.anonymize(people.slice(0, 2), policy, output=tmp_path / "release")
    assert sf.verify(release, policy, attacks=False).verdict.holds
