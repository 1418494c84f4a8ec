"""Inspect: the risk of a table as it is, against rows gone through one by one."""

import json
import math
from collections import Counter, defaultdict

import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato import samples
from sfumato.errors import InputError, ParameterError, PolicyError, UnknownColumnError
from sfumato.schema import Role
from tests.adult import LEVELS

ROWS = st.lists(
    st.tuples(
        st.sampled_from(["f", "m", None]),
        st.integers(0, 4),
        st.sampled_from(["flu", "gout", "hiv", None]),
        st.integers(1, 4) | st.none(),
    ),
    min_size=1,
    max_size=60,
)
KNOWN = ["sex", "age"]


def table(rows) -> pa.Table:
    sex, age, ill, pay = zip(*rows, strict=True)
    return pa.table(
        {
            "sex": pa.array(sex, pa.string()),
            "age": age,
            "ill": pa.array(ill, pa.string()),
            "pay": pa.array(pay, pa.int64()),
        }
    )


def classes_in(rows, column):
    classes = defaultdict(list)
    for row in rows:
        classes[row[0], row[1]].append(row[column])
    return list(classes.values())


@given(ROWS)
def test_class_sizes_and_risks_are_those_of_the_rows(rows):
    found = sf.inspect(table(rows), quasi_identifiers=KNOWN, sensitive=["ill"])
    sizes = sorted(len(values) for values in classes_in(rows, 2))
    assert found.rows == len(rows)
    assert found.classes.count == len(sizes)
    assert (found.classes.smallest, found.classes.largest) == (sizes[0], sizes[-1])
    assert found.classes.average == pytest.approx(len(rows) / len(sizes))
    assert found.classes.unique_rows == sizes.count(1)
    assert found.classes.below == {
        limit: sum(size for size in sizes if size < limit) for limit in (3, 5, 10)
    }
    # A row in a class of n is picked with probability 1/n: worst, and on average over the rows.
    picked = [1 / size for size in sizes for _ in range(size)]
    assert found.risk.maximum == max(picked)
    assert found.risk.average == pytest.approx(math.fsum(picked) / len(rows))
    assert found.risk.unique == picked.count(1.0) / len(rows)


@given(ROWS)
def test_the_histogram_holds_every_class_once(rows):
    found = sf.inspect(table(rows), quasi_identifiers=KNOWN)
    sizes = [len(values) for values in classes_in(rows, 2)]
    for each in found.classes.histogram:
        inside = [size for size in sizes if each.smallest <= size <= each.largest]
        assert (each.classes, each.rows) == (len(inside), sum(inside))
        assert inside
    assert sum(each.classes for each in found.classes.histogram) == len(sizes)


def test_the_bins_of_the_histogram_are_round():
    rows = [number for number in range(130) for _ in range(number)]
    found = sf.inspect(pa.table({"age": rows}), quasi_identifiers=["age"])
    assert [each.label for each in found.classes.histogram] == [
        "1", "2", "3-4", "5-9", "10-19", "20-49", "50-99", "100-199",
    ]  # fmt: skip


@given(ROWS)
def test_each_column_is_described_by_itself(rows):
    found = sf.inspect(table(rows), quasi_identifiers=KNOWN, sensitive=["ill", "pay"])
    assert [column.name for column in found.columns] == ["sex", "age", "ill", "pay"]
    for position, column in enumerate(found.columns):
        cells = Counter(row[position] for row in rows)
        assert column.role is (Role.QUASI_IDENTIFIER if position < 2 else Role.SENSITIVE)
        assert column.distinct == len(set(cells) - {None})
        assert column.missing == cells[None] / len(rows)
        assert column.unique == sum(times == 1 for times in cells.values()) / len(rows)


@given(ROWS)
def test_sensitive_columns_are_judged_by_the_definitions(rows):
    found = sf.inspect(table(rows), quasi_identifiers=KNOWN, sensitive=["ill", "pay"])
    for risk, position in zip(found.sensitive, (2, 3), strict=True):
        classes = classes_in(rows, position)
        counts = [Counter(v for v in values if v is not None) for values in classes]
        in_table = Counter(row[position] for row in rows)
        assert risk.distinct_l == min(map(len, counts))
        entropies = [
            -sum(n / c.total() * math.log(n / c.total()) for n in c.values()) if c else -math.inf
            for c in counts
        ]
        assert risk.entropy_l == pytest.approx(math.exp(min(entropies)))
        for l in (2, 3):
            tails = [sorted(c.values(), reverse=True) for c in counts]
            bounds = [n[0] / sum(n[l - 1 :]) if len(n) >= l else math.inf for n in tails]
            assert risk.recursive_c[l] == pytest.approx(max(bounds))
        shares = [max(c.values()) / c.total() if c else 1.0 for c in counts]
        assert risk.largest_share == pytest.approx(max(shares))
        known = {value: n for value, n in in_table.items() if value is not None}
        assert risk.share_in_table == pytest.approx(
            max(known.values()) / sum(known.values()) if known else 0.0
        )
        # The equal distance: half of all differences between the class's shares and the table's.
        distances = [
            sum(abs(values.count(v) / len(values) - n / len(rows)) for v, n in in_table.items()) / 2
            for values in classes
        ]
        assert risk.t_equal == pytest.approx(max(distances), abs=1e-12)
        assert (risk.t_ordered is None) == (position == 2 or not known)


def test_the_ordered_distance_of_a_worked_example():
    # Printed in the paper on t-closeness: of the salaries 3k to 11k, {3k, 4k, 5k} is 0.375 away
    # from all nine and {6k, 8k, 11k} is 0.167 away.
    pay = [3, 4, 5, 6, 11, 8, 7, 9, 10]
    group = ["a", "a", "a", "b", "b", "b", "c", "c", "c"]
    found = sf.inspect(
        pa.table({"group": group, "pay": pay}), quasi_identifiers=["group"], sensitive=["pay"]
    )
    assert found.sensitive[0].t_ordered == pytest.approx(0.375)
    # Each class shows three of nine equally frequent salaries, so two thirds would have to move.
    assert found.sensitive[0].t_equal == pytest.approx(2 / 3)


def test_raw_adult_is_as_risky_as_another_tool_says(adult):
    found = sf.inspect(adult / "adult.csv", quasi_identifiers=list(LEVELS))
    assert found.risk.average == pytest.approx(0.6465751607983555, rel=1e-12)
    assert found.risk.unique == pytest.approx(0.5142895033485844, rel=1e-12)
    assert found.risk.maximum == 1.0
    assert found.subsets.complete


def test_a_population_shows_who_could_be_meant():
    people = pa.table({"age": [31] * 4 + [47] * 2 + [60]})
    found = sf.inspect(
        pa.table({"age": ["31", "31", "47"]}), quasi_identifiers=["age"], population=people
    )
    assert found.population.people == 7
    assert found.population.smallest == 2
    # Who is sixty is plainly not in the table.
    assert found.population.presence == (0.0, 0.5)
    assert found.population.unseen == 1
    assert "Population: 7 people" in str(found)


def test_roles_come_from_a_policy_or_its_file():
    path = samples.policy_path("patients")
    given = sf.inspect(samples.path("patients"), policy=path)
    assert given.quasi_identifiers == ("zipcode", "age")
    assert [risk.name for risk in given.sensitive] == ["disease"]
    assert given.roles_from == "policy"
    assert given == sf.inspect(samples.path("patients"), policy=sf.Policy.load(path))


@pytest.mark.usefixtures("patience")
def test_a_release_can_be_inspected_with_the_policy_that_made_it():
    table = samples.table("hospital")
    policy = sf.draft(table).policy
    release = sf.anonymize(table, policy, seed=1)
    assert "name" not in release.table.column_names
    assert sf.inspect(release.table, policy=policy).classes.smallest == 4


def test_the_population_of_a_policy_is_used(tmp_path):
    pa.parquet.write_table(pa.table({"age": [1, 1, 1, 2]}), tmp_path / "people.parquet")
    policy = sf.Policy(
        columns={"age": "quasi-identifier"},
        models=[sf.models.KMap(2)],
        population=str(tmp_path / "people.parquet"),
    )
    assert sf.inspect(pa.table({"age": [1]}), policy=policy).population.smallest == 3


def test_without_roles_they_are_guessed_as_in_a_draft():
    found = sf.inspect(samples.path("hospital"))
    assert found.roles_from == "guessed"
    assert found.quasi_identifiers == ("zipcode", "age", "gender", "nationality")
    assert [risk.name for risk in found.sensitive] == ["condition"]
    assert "guessed" in str(found)
    named = sf.inspect(samples.path("hospital"), sensitive=["age"])
    assert named.quasi_identifiers == ("zipcode", "gender", "nationality")


def test_it_can_be_written_as_json_and_read_as_text():
    rows = [("f", 31, "flu", 1), ("f", 31, "gout", None), ("m", 47, "hiv", 2)]
    found = sf.inspect(table(rows), quasi_identifiers=KNOWN, sensitive=["ill", "pay"])
    plain = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert plain["classes"]["count"] == 2
    assert plain["sensitive"][0]["recursive_c"] == {"2": "inf", "3": "inf"}
    assert repr(found) == "<Inspection 3 rows in 2 classes, smallest 1, 33 % of rows unique>"
    text = str(found)
    assert "Re-identification risk: at most 100 %, on average 67 %" in text
    assert max(map(len, text.splitlines())) <= 110


def test_a_share_of_nearly_all_is_not_written_as_all():
    ages = [*range(9998), 10_000, 10_000]
    text = str(sf.inspect(pa.table({"age": ages}), quasi_identifiers=["age"]))
    assert ">99 % of rows unique" in text
    assert "below 3: 10000 (100 %)" in text


def test_odd_names_keep_to_their_line():
    found = sf.inspect(pa.table({"a\nb": [1, 2], "x" * 500: [1, 1]}), quasi_identifiers=["a\nb"])
    assert "'a\\nb'" in str(found)
    assert "\n\n\n" not in str(found)


def test_the_search_for_telling_columns_can_be_skipped():
    found = sf.inspect(table([("f", 1, "flu", 1)]), quasi_identifiers=KNOWN, subsets=0)
    assert found.subsets.found == ()
    assert "single people out" not in str(found)


def test_progress_tells_every_stage():
    told = []
    sf.inspect(
        table([("f", 1, "flu", 1)]), population=table([("f", 1, "flu", 1)]),
        progress=lambda *stage: told.append(stage[0]),
    )  # fmt: skip
    assert list(dict.fromkeys(told)) == ["look", "count", "population", "subsets"]


def test_missing_cells_everywhere_are_one_class():
    found = sf.inspect(
        pa.table({"age": pa.nulls(3, pa.int64()), "ill": pa.nulls(3, pa.string())}),
        quasi_identifiers=["age"],
        sensitive=["ill"],
    )
    assert found.classes.smallest == 3
    assert found.columns[0].missing == 1.0
    assert found.sensitive[0].distinct_l == 0
    assert found.sensitive[0].share_in_table == 0.0
    assert json.dumps(found.to_dict(), allow_nan=False)


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"quasi_identifiers": []}, ParameterError, "at least one column"),
        ({"quasi_identifiers": ["sex", "sex"]}, ParameterError, "each once"),
        ({"quasi_identifiers": ["sexx"]}, UnknownColumnError, "Did you mean 'sex'"),
        ({"sensitive": ["il"]}, UnknownColumnError, "Did you mean 'ill'"),
        ({"quasi_identifiers": KNOWN, "sensitive": ["age"]}, ParameterError, "not 'age'"),
        ({"quasi_identifiers": [1]}, ParameterError, "a list of column names"),
        ({"quasi_identifiers": KNOWN, "subsets": -1}, ParameterError, "subsets must be"),
    ],
)
def test_wrong_requests_are_answered_in_words(settings, error, message):
    with pytest.raises(error, match=message):
        sf.inspect(table([("f", 1, "flu", 1)]), **settings)


def test_one_name_is_a_list_of_one():
    found = sf.inspect(table([("f", 1, "flu", 1)]), quasi_identifiers="sex", sensitive="ill")
    assert found.quasi_identifiers == ("sex",)


def test_a_table_in_which_nothing_can_be_linked_is_refused():
    with pytest.raises(PolicyError, match="none of the columns looks like a quasi-identifier"):
        sf.inspect(pa.table({"name": ["Ann", "Bob"], "disease": ["flu", "hiv"]}))


def test_an_empty_table_is_refused():
    with pytest.raises(InputError, match="no rows"):
        sf.inspect(pa.table({"age": pa.array([], pa.int64())}), quasi_identifiers=["age"])


def test_a_locally_recoded_release_is_inspected_with_its_policy():
    days = [f"2020-{month:02}-{day:02}" for month in range(1, 7) for day in (3, 9, 21)]
    people = pa.table({"when": days, "ill": ["flu", "gout", "hiv"] * 6})
    dates = {"role": "quasi-identifier", "hierarchy": {"kind": "dates"}}
    columns = {"when": dates, "ill": "sensitive"}
    models = [{"model": "k-anonymity", "k": 4}]
    policy = sf.Policy(columns=columns, models=models, method="bottom-up")
    release = sf.anonymize(people, policy)
    labels = set(release.table["when"].to_pylist())
    assert labels & {"2020 Q1", "2020 Q2", "2020", "*"}
    found = sf.inspect(release.table, policy=policy)
    assert f"smallest {release.manifest.classes.smallest}" in repr(found)
    # What is neither a date nor a label of dates is refused as before.
    with pytest.raises(sf.errors.InputError, match="does not hold dates"):
        sf.inspect(pa.table({"when": [*days[:17], "soon"], "ill": ["flu"] * 18}), policy=policy)


def test_long_names_that_begin_and_end_alike_are_told_apart():
    start = "How often in the last twelve months did you drink"
    names = [f"{start} {what} at home" for what in ("beer", "wine")]
    table = pa.table({names[0]: [1, 2, 3, 4], names[1]: [1, 1, 2, 2]})
    text = str(sf.inspect(table, quasi_identifiers=names))
    assert all(any(line.startswith(name) for line in text.splitlines()) for name in names)
