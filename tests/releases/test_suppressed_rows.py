"""Labels, ranges, masks, digits and levels say nothing about people who are not published."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.counts import FrequencySet
from sfumato.hierarchy import Intervals, Masking
from sfumato.losses import LOSSES
from sfumato.partition import PARTITIONERS
from sfumato.perturbations import PERTURBATIONS
from sfumato.policy import Policy
from sfumato.populations.weights import Averaging
from sfumato.recode.deciding import counted_columns, decide
from sfumato.recode.recoded import published_part, recode_counts
from sfumato.recoding import ColumnRecoding, FullDomainRecoding
from sfumato.tables import open_table
from sfumato.typing import silent

METHODS = [*PARTITIONERS, "full-domain", "regional"]
ILL = ["flu", "gout", "hiv", "ulcer"]


def people(column: str, values: list, odd: list, **more: list) -> pa.Table:
    """Make a table in which the people with odd values miss their sex."""
    n = len(values)
    return pa.table(
        {
            "sex": [*(["f", "m"] * n)[:n], *[None] * len(odd)],
            column: [*values, *odd],
            "ill": [*(ILL * n)[:n], *["flu"] * len(odd)],
            **more,
        }
    )


def release_of(table: pa.Table, column: str, rule: dict, method: str, **more):
    policy = sf.Policy(
        columns={
            "sex": "quasi-identifier",
            column: {"role": "quasi-identifier", **rule},
            "ill": "sensitive",
        },
        models=[sf.models.KAnonymity(3)],
        suppression=0.1,
        missing="suppress",
        method=method,
        **more,
    )
    return sf.anonymize(table, policy, seed=1)


def everything(release) -> tuple:
    """Give all that readers see of a release in memory, but for the order of its rows."""
    found = release.to_dict()
    rows = sorted(map(repr, release.table.to_pylist()))
    return rows, release.table.schema, found["manifest"], found["warnings"], found["verdict"]


def assert_no_trace(column: str, values: list, odd: list[list], rule: dict, method: str) -> None:
    """Release tables that differ in the values of people who are not published."""
    found = []
    for each in odd:
        try:
            release = release_of(people(column, values, each), column, rule, method)
        except sf.errors.PolicyError as error:
            # Hidden cells are no numbers: refused, whoever else is in the table.
            found.append(str(error))
        else:
            found.append(everything(release))
    assert all(each == found[0] for each in found)


PAY = [20_000 + 457 * i for i in range(60)]
CODES = [f"{12_000 + 7 * i % 90:05}" for i in range(60)]
BANDS = ["18-24", "25-34", "35-44", "45-54"] * 15
OFTEN = ["never", "rarely", "sometimes", "often"] * 15


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("form", ["text", "bounds", "midpoint", "mean", "median"])
def test_ranges_do_not_reach_to_people_who_are_not_published(method, form):
    odd = [[251_234], [1_234_567], [-3], [0.125]]
    assert_no_trace("pay", [*map(float, PAY)], odd, {"as": form, "hierarchy": "auto"}, method)


@pytest.mark.parametrize("method", ["mondrian", "mdav"])
@pytest.mark.parametrize("form", ["text", "bounds", "midpoint", "mean", "median"])
def test_free_ranges_end_at_numbers_of_published_people(method, form):
    assert_no_trace("pay", PAY, [[251_234], [1_234_567], [1]], {"as": form}, method)


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("method", METHODS)
def test_masks_are_as_long_as_the_longest_published_code(method):
    odd = [["99999"], ["99999-1234"], ["1"], ["9" * 40]]
    assert_no_trace("zip", CODES, odd, {"hierarchy": "masking"}, method)


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("values", "odd"), [(BANDS, "75+"), (OFTEN, "always")])
def test_neighbours_are_joined_among_published_categories(method, values, odd):
    odd = [[odd], [values[0]], [values[1]]]
    assert_no_trace("band", values, odd, {"hierarchy": "ordered"}, method)
    assert_no_trace("band", values, odd, {"hierarchy": "auto"}, method)


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("method", METHODS)
def test_one_decimal_of_somebody_else_does_not_rewrite_ranges(method):
    ages = [str(20 + i % 40) for i in range(60)]
    rule = {"hierarchy": {"kind": "intervals", "widths": [5, 10, 20]}}
    assert_no_trace("age", ages, [["33"], ["33.5"], ["1e3"]], rule, method)


def test_means_are_rounded_as_published_numbers_are_written():
    ages = [str(20 + i % 40) for i in range(60)]
    rule = {"hierarchy": {"kind": "intervals", "widths": [20]}, "as": "mean"}
    assert_no_trace("age", ages, [["33"], ["33.123456"]], rule, "full-domain")


def test_a_long_code_of_somebody_else_does_not_switch_masking_off():
    table = pa.table({"zip": [*CODES * 4, "99999-1234"], "ill": [*ILL * 60, "flu"]})
    policy = sf.Policy(
        columns={
            "zip": {"role": "quasi-identifier", "hierarchy": Masking(), "levels": [1, 1]},
            "ill": "sensitive",
        },
        models=[sf.models.KAnonymity(2)],
        suppression=0.05,
    )
    release = sf.anonymize(table, policy)
    assert all(len(code) == 5 and code.endswith("*") for code in release.table["zip"].to_pylist())
    assert sf.verify(release, policy).verdict.holds


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("kind", list(PERTURBATIONS))
@pytest.mark.parametrize("method", ["mondrian", "full-domain"])
def test_nothing_is_exchanged_with_people_who_are_not_published(kind, method):
    settings = PERTURBATIONS[kind].example().params()
    settings |= {"within": ()} if "within" in settings else {}
    settings |= {"distance": "20%"} if "distance" in settings else {}
    settings |= {"above": "90%"} if "above" in settings else {}
    settings |= {"below": "10%"} if "below" in settings else {}
    perturb = {"kind": kind, **{k: v for k, v in settings.items() if v is not None}}
    found = []
    for odd in (1, 5_000_000, 777):
        table = people("age", [20 + i % 40 for i in range(60)], [41, 42])
        pay = pa.array([1000 + 17 * i % 97 for i in range(60)] + [odd, odd])
        policy = sf.Policy(
            columns={
                "sex": "quasi-identifier",
                "age": {"role": "quasi-identifier", "hierarchy": "auto"},
                "ill": "sensitive",
                "pay": {"role": "sensitive", "perturb": perturb},
            },
            models=[sf.models.KAnonymity(3)],
            suppression=0.1,
            missing="suppress",
            method=method,
        )
        release = sf.anonymize(table.append_column("pay", pay), policy, seed=3)
        assert (release.manifest.rows.published, release.suppressed) == (60, 2)
        found.append(everything(release))
    assert found[0] == found[1] == found[2]


# The rule itself: what is published is what the program makes of the published rows.


@st.composite
def tables(draw):
    ages = st.integers(18, 40) | st.sampled_from([90, 91, 25.5, None])
    codes = st.sampled_from(["10", "11", "12", "20", "21", "3", "4567"])
    rows = st.lists(st.tuples(ages, codes, st.sampled_from(ILL)), min_size=4, max_size=40)
    return FrequencySet.from_rows(["age", "zip", "ill"], draw(rows))


def levels(draw, hierarchy):
    return draw(st.sampled_from([None, None, (0, 0), (0, 1), (1, 1)])) if hierarchy else None


@st.composite
def policies(draw):
    age = draw(st.sampled_from([None, "auto", Intervals(widths=[5, 10])]))
    code = draw(st.sampled_from([None, "auto", Masking()]))
    models = draw(
        st.lists(
            st.sampled_from(
                [
                    sf.models.KAnonymity(2),
                    sf.models.DistinctLDiversity("ill", 2),
                    sf.models.TCloseness("ill", 0.3),
                    sf.models.EntropyLDiversity("ill", 1.5),
                ]
            ),
            min_size=1,
            max_size=2,
            unique_by=lambda model: model.name,
        )
    )
    return Policy(
        columns={
            "age": {"role": "quasi-identifier", "hierarchy": age, "levels": levels(draw, age)},
            "zip": {"role": "quasi-identifier", "hierarchy": code, "levels": levels(draw, code)},
            "ill": "sensitive",
        },
        models=models,
        loss=draw(st.sampled_from([kind.example() for kind in LOSSES.values()])),
        method=draw(st.sampled_from(METHODS)),
        suppression=draw(st.sampled_from([0.2, 0.5, 0.9])),
        missing=draw(st.sampled_from(["own-value", "suppress"])),
    )


@pytest.mark.usefixtures("patience")
@given(counts=tables(), policy=policies(), seed=st.integers(0, 3))
def test_published_rows_alone_make_the_same_release(counts, policy, seed):
    counts = counts.project(counted_columns(policy))

    rng = np.random.default_rng(seed)
    try:
        decision = decide(policy, policy, counts, None, rng=rng, report=silent)
    except sf.errors.InfeasibleError:
        return
    part = published_part(counts, decision.recoding)
    assert part.counts.total == counts.total - decision.suppressed
    if not decision.suppressed or not part.counts.total:
        return
    lost = decision.suppressed - decision.lacking
    within = policy.replace(suppression=0)
    rng = np.random.default_rng(seed)
    again = decide(within, within, part.counts, None, rng=rng, report=silent, lost=lost)
    assert not again.suppressed
    assert dict(again.columns) == dict(decision.columns)
    names = list(counts.names)
    one, other = (
        recode_counts(rows, made.recoding, names, np.random.default_rng(0))
        for rows, made in ((counts, decision), (part.counts, again))
    )
    assert [c.values for c in one.columns] == [c.values for c in other.columns]
    assert np.array_equal(one.codes, other.codes)
    assert np.array_equal(one.rows, other.rows)


def test_the_levels_of_all_rows_may_suppress_fewer_rows_than_go_in_the_end():
    """The second round suppresses one more row, and the third finds the levels of the first."""
    rows = [(21, "a"), (21, "a"), (25, "a"), (33, "a"), (60, "a"), (60, "b"), (60, "b")]
    table = pa.table({"age": [age for age, _ in rows], "area": [area for _, area in rows]})
    policy = sf.Policy(
        columns={
            "age": {"role": "quasi-identifier", "hierarchy": "auto", "levels": [0, 1]},
            "area": {"role": "quasi-identifier", "levels": [0, 0]},
        },
        models=[sf.models.KAnonymity(2)],
        loss="discernibility",
        suppression=0.9,
    )
    release = sf.anonymize(table, policy)
    assert release.table.num_rows == release.manifest.rows.published == 7 - release.suppressed


def test_a_label_that_tells_suppressed_rows_apart_is_published_as_one():
    """One row with it goes and others stay, so it has several codes; readers see one class."""
    table = pa.table({"a": [1, 2, 3, 1, 2, 3], "b": [1, 1, 1, 2, 2, 2], "w": [1.0, 2, 3, 4, 5, 6]})
    low, high = np.zeros(3, np.int32), np.zeros(2, np.int32)
    columns = (
        ColumnRecoding("a", 1, 1, (1, 2, 3), low, ("*",)),
        ColumnRecoding("b", 1, 1, (1, 2), high, ("*",)),
    )
    gone = np.array([True, False, False, False, False, False])
    codes = [np.array([0, 1, 2, 0, 1, 2], np.int32), np.array([0, 0, 0, 1, 1, 1], np.int32)]
    whole = FullDomainRecoding(columns, np.empty((0, 2), np.int64))
    recoding = whole.telling_apart(gone, codes)
    opened, rng = open_table(table), np.random.default_rng(0)
    made = recode_counts(opened.count(["a", "b"]), recoding, ["a", "b"], rng)
    assert made.rows.tolist() == [5]
    told = {"suppression": "remove", "weights": {"w": Averaging()}, "rng": rng}
    found = opened.publish_table(recoding, ["a", "b", "w"], **told)
    assert found.to_pylist() == [{"a": "*", "b": "*", "w": 4.0}] * 5
