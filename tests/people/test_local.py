"""Local recoding where people have several rows: every class against loops over rows."""

from collections import Counter, defaultdict
from dataclasses import replace

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.classes import ValueCounts, classes_from, sensitive_column
from sfumato.counts import FrequencySet
from sfumato.errors import InfeasibleError, PolicyError
from sfumato.models import MODELS as MODELS_BY_NAME
from sfumato.partition import BottomUp, Mondrian, Problem, TopDown
from sfumato.recode.deciding import Decision, counted_columns, decide, make_problem, prepare
from sfumato.recode.fragments import _refuse
from sfumato.recode.recoded import recode_counts
from sfumato.recode.regional import ColumnTree, Steering
from sfumato.tables import open_table
from tests.people.test_counting import MODELS, NAMES, ROWS, checks_of, counts_of
from tests.people.textbook import classes_of, people_in

METHODS = [
    TopDown(),
    TopDown(best="loss"),
    Mondrian(),
    Mondrian(relaxed=True),
    BottomUp(),
    BottomUp(nodes=3),
    "regional",
]
TREE = {"kind": "taxonomy", "tree": {"ab": ["a", "b"], "c": ["c"]}}
ROW = "row"


def policy_of(models, *, limit=0, unit="rows", blind=False) -> sf.Policy:
    return sf.Policy(
        columns={
            "who": "identifier",
            "letter": {"role": "quasi-identifier", "hierarchy": TREE},
            "digit": "quasi-identifier",
            "ill": "sensitive",
            ROW: "plain",
        },
        models=models,
        person="who",
        suppression={"limit": limit, "unit": unit},
        sensitive_blind=blind,
    )


def table_of(rows) -> pa.Table:
    columns = dict(zip(NAMES, zip(*rows, strict=True), strict=True))
    return pa.table({**columns, ROW: range(len(rows))})


def publish(rows, policy, method) -> tuple[list[dict], Decision]:
    """Decide, and give what the engine makes of the rows."""
    chosen = policy.replace(method=method)
    table = open_table(table_of(rows))
    rng = np.random.default_rng(len(rows))
    counts = table.count(counted_columns(chosen))
    decision = decide(chosen, chosen, counts, None, rng=rng, report=lambda *_: None)
    published = table.publish_table(
        decision.recoding, [*NAMES[1:], ROW], suppression="remove", rng=rng
    )
    return published.to_pylist(), decision


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("method", METHODS, ids=str)
@given(
    rows=ROWS,
    models=st.sampled_from(MODELS),
    limit=st.sampled_from([0, 0, 2, 5, "100%"]),
    unit=st.sampled_from(["rows", "people"]),
    blind=st.sampled_from([False, False, True]),
)
def test_every_class_keeps_the_models_on_different_people(method, rows, models, limit, unit, blind):
    policy = policy_of(models, limit=limit, unit=unit, blind=blind)
    try:
        published, decision = publish(rows, policy, method)
    except InfeasibleError:
        return
    classes, left = defaultdict(list), dict(enumerate(rows))
    for row in published:
        was = left.pop(row[ROW])
        assert row["ill"] == was[3]
        classes[row["letter"], row["digit"]].append(was)
    every = list(classes.values())
    for labels, mine in classes.items():
        assert all(check(mine, every) for _, check in checks_of(models)), (labels, mine)
    assert sorted(decision.left.sizes.tolist()) == sorted(map(people_in, every))
    assert sorted(decision.sizes.tolist()) == sorted(map(len, every))
    assert len(left) == decision.suppressed
    gone = {row[0] for row in left.values()}
    if unit == "people":
        assert gone.isdisjoint(row[0] for each in every for row in each)
    most = policy.suppression.most_rows(people_in(rows) if unit == "people" else len(rows))
    assert (len(gone) if unit == "people" else len(left)) <= most


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("unit", ["rows", "people"])
@pytest.mark.parametrize("method", ["top-down", "mondrian", "bottom-up"])
def test_a_database_publishes_the_same_classes_without_the_person(method, unit, tmp_path):
    rng = np.random.default_rng(3)
    who, letter, digit = rng.integers(0, 20, 60), rng.integers(0, 3, 60), rng.integers(0, 2, 60)
    rows = [(f"p{w}", "abc"[a], "01"[b], "flu") for w, a, b in zip(who, letter, digit, strict=True)]
    chosen = policy_of([sf.models.KAnonymity(7)], limit="50%", unit=unit).replace(method=method)
    made = []
    for source in (table_of(rows), duckdb.connect().from_arrow(table_of(rows))):
        table = open_table(source)
        counts = table.count(counted_columns(chosen))
        rng = np.random.default_rng(7)
        recoding = decide(chosen, chosen, counts, None, rng=rng, report=lambda *_: None).recoding
        target = tmp_path / f"{len(made)}.parquet"
        table.publish(recoding, NAMES[1:], target, format="parquet", suppression="star", rng=rng)
        published = pq.read_table(target)
        assert published.column_names == NAMES[1:]
        assert len(published) == len(rows)
        made.append(Counter(map(str, published.to_pylist())))
    assert made[0] == made[1]


# The judge against the classes that are built one by one.


def problem_of(rows, models) -> Problem:
    policy = policy_of(models)
    return make_problem(policy, prepare(policy, counts_of(policy, rows)))


def judged(problem: Problem, items, rows) -> bool:
    """Judge one group by building its class out of rows."""
    counts = problem.counts
    some = FrequencySet(counts.columns, counts.codes[:, items], np.asarray(rows, dtype=np.int64))
    alone = classes_from(some, (), problem.sensitive, person="who")
    beside = problem.judge.classes(np.zeros(len(items), dtype=np.int64), items, some.rows, 1)
    alone = replace(alone, sensitive={n: like(c, beside) for n, c in alone.sensitive.items()})
    return all(model.passes(alone).all() for model in problem.models)


def like(counts: ValueCounts, beside) -> ValueCounts:
    """Compare with what the judge compares with, which is a choice of its own."""
    theirs = beside.counts_of(counts.column.name)
    assert theirs.rows.tolist() == counts.rows.tolist()
    assert theirs.people.tolist() == counts.people.tolist()
    return replace(counts, reference=theirs.reference, everyone=theirs.everyone)


@given(rows=ROWS, models=st.sampled_from(MODELS), draw=st.data())
def test_groups_are_judged_by_their_people(rows, models, draw):
    problem = problem_of(rows, models)
    n = len(problem.counts)
    where = draw.draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
    of_item, items = np.unique(where, return_inverse=True)[1], np.arange(n)
    groups = [items[of_item == g] for g in range(int(of_item.max()) + 1)]
    verdicts = problem.judge.passes(of_item, items, problem.rows, len(groups))
    expected = [judged(problem, each, problem.rows[each]) for each in groups]
    assert verdicts.tolist() == expected
    sizes = problem.judge.sizes(of_item, items, problem.rows, len(groups))
    assert sizes.tolist() == [len({problem.of_person[i] for i in each}) for each in groups]


@given(rows=ROWS, models=st.sampled_from(MODELS), draw=st.data())
def test_a_row_more_or_less_is_judged_as_if_it_were_so(rows, models, draw):
    problem = problem_of(rows, models)
    n = len(problem.counts)
    where = np.array(draw.draw(st.lists(st.integers(0, 1), min_size=n, max_size=n)))
    candidates = np.arange(n)
    for change, group in ((-1, where), (1, 1 - where)):
        # Of no rows at all there is no group that could lose or gain one.
        asked = candidates[np.isin(group, where)]
        verdicts = problem.judge.passes_changed(
            where,
            candidates,
            problem.rows,
            2,
            group=group[asked],
            item=asked,
            change=change,
        )
        for item, verdict in zip(asked.tolist(), verdicts.tolist(), strict=True):
            left = np.where(where == group[item], problem.rows, 0)
            left[item] += change
            there = np.flatnonzero(left)
            assert verdict == (len(there) > 0 and judged(problem, there, left[there]))


@pytest.mark.parametrize("unit", ["rows", "people"])
@given(rows=ROWS, k=st.integers(2, 4), draw=st.data())
def test_cuts_are_weighed_by_people(unit, rows, k, draw):
    policy = policy_of([sf.models.KAnonymity(k)], limit="100%", unit=unit)
    counts = counts_of(policy, rows)
    problem = make_problem(policy, prepare(policy, counts))
    ladders = [attribute.ladder for attribute in problem.attributes]
    trees = [ColumnTree(ladder, 0, ladder.height) for ladder in ladders]
    node = (draw.draw(st.integers(0, 2)), draw.draw(st.integers(0, 1)))
    levels = tuple(
        np.full(len(ladder.values), min(level, ladder.height))
        for ladder, level in zip(ladders, node, strict=True)
    )
    costs = [np.ones((ladder.height + 1, len(ladder.values))) for ladder in ladders]
    found = Steering(problem, trees, costs).classes(levels)
    classes = [list(each) for each in classes_of(rows, node).values()]
    assert sorted(found.good.tolist()) == sorted(people_in(each) >= k for each in classes)
    lost = people_in if unit == "people" else len
    assert found.failing == sum(lost(each) for each in classes if people_in(each) < k)


def test_a_child_keeps_a_person_of_whom_one_row_is_taken_back():
    # Ann has two rows in a: one of them makes the second person of what stays behind.
    rows = [("ann", "a", "0", None)] * 2 + [("bob", "a", "0", None), ("eve", "b", "0", None)]
    policy = policy_of([sf.models.KAnonymity(2)])
    published, decision = publish(rows, policy, "top-down")
    assert sorted(row["letter"] for row in published) == ["a", "a", "ab", "ab"]
    assert decision.left.sizes.tolist() == [2, 2]


def test_five_people_in_two_years_are_enough_for_two_classes():
    rows = [(who, letter, "0", None) for who in range(5) for letter in "ac"]
    for method in METHODS:
        published, decision = publish(rows, policy_of([sf.models.KAnonymity(5)]), method)
        assert {row["letter"] for row in published} == {"a", "c"}
        assert decision.left.sizes.tolist() == [5, 5]


def test_a_refusal_counts_people_where_people_are_suppressed():
    rows = [(who, "a", "0", ill) for who in range(3) for ill in ("flu", "flu")]
    models = [sf.models.KAnonymity(2), sf.models.BasicBetaLikeness("ill", beta=0.1)]
    rows += [(9, "c", "1", "hiv"), (9, "c", "0", "hiv")]
    policy = policy_of(models, unit="people")
    with pytest.raises(InfeasibleError, match=r"\d of 4 people"):
        publish(rows, policy.replace(columns=dict(policy.columns) | STIFF), "mondrian")


STIFF = {"letter": {"role": "quasi-identifier", "hierarchy": TREE, "levels": [0, 0]}}


def test_steps_show_no_person():
    rows = [("ann", "a", "0", None)] * 2 + [("bob", "a", "0", None), ("eve", "b", "0", None)]
    found = sf.tools.trace(table_of(rows), policy_of([sf.models.KAnonymity(2)]))
    assert "who" not in found.columns
    assert "ann" not in str(found.to_dict())
    assert [(each.labels[0], each.rows) for each in found.classes] == [("a", 2), ("ab", 2)]


# Every model there is, and what findings add, on the published counts with the person beside them.

EVERY = [
    model
    for kind in MODELS_BY_NAME.values()
    for model in [kind.example()]
    if model.counts_people and not model.needs_population and not model.needs_numbers
]


def about_illness(model):
    """Return a model of illness in place of what its example is about."""
    given = model.params()
    return type(model)(**given | ({"column": "ill"} if "column" in given else {}))


def require_models_on_people(policy, asked, rows) -> None:
    """Decide, recode the counts, and ask the models of the classes with the person beside them."""
    counts, rng = counts_of(asked, rows), np.random.default_rng(5)
    try:
        decision = decide(policy, asked, counts, None, rng=rng, report=lambda *_: None)
    except InfeasibleError:
        return
    published = recode_counts(counts, decision.recoding, counted_columns(asked), rng)
    assert published.total == counts.total - decision.suppressed
    sensitive = {name: sensitive_column(published.column(name)) for name in decision.sensitive}
    classes = classes_from(published, asked.quasi_identifiers, sensitive, person="who")
    for model in asked.models:
        assert model.judge(classes).all(), model


@pytest.mark.parametrize("method", ["top-down", "mondrian", "bottom-up"])
@given(
    rows=ROWS,
    models=st.lists(st.sampled_from(EVERY), min_size=1, max_size=2, unique_by=lambda m: m.name),
    unit=st.sampled_from(["rows", "people"]),
)
def test_every_model_holds_of_what_is_published(method, rows, models, unit):
    asked = [about_illness(model) for model in models]
    policy = policy_of(asked, limit="60%", unit=unit).replace(method=method)
    require_models_on_people(policy, policy, rows)


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("method", ["full-domain", "regional", "top-down", "mondrian", "bottom-up"])
@given(rows=ROWS, alpha=st.sampled_from([0.5, 0.8]), unit=st.sampled_from(["rows", "people"]))
def test_what_was_found_is_refined_on_people(method, rows, alpha, unit):
    policy = policy_of([sf.models.KAnonymity(2)], limit="60%", unit=unit).replace(method=method)
    more = sf.models.AlphaKAnonymity("ill", alpha=alpha, k=1)
    require_models_on_people(policy, policy.replace(models=(*policy.models, more)), rows)


@pytest.mark.parametrize("unit", ["rows", "people"])
@pytest.mark.parametrize("method", ["regional", "top-down", "mondrian", "bottom-up"])
def test_a_release_is_verified_by_its_people(method, unit):
    rng = np.random.default_rng(11)
    drawn = zip(*(rng.integers(0, most, 80) for most in (25, 3, 2, 3)), strict=True)
    rows = [(f"p{who}", "abc"[a], "01"[b], ["flu", "gout", "hiv"][c]) for who, a, b, c in drawn]
    models = [sf.models.KAnonymity(9), sf.models.DistinctLDiversity("ill", l=2)]
    policy = policy_of(models, limit="30%", unit=unit)
    release = sf.anonymize(table_of(rows), policy, method=method)
    assert release.verdict.holds
    assert release.table.column_names == [*NAMES[1:], ROW]
    classes = defaultdict(set)
    for row in release.table.to_pylist():
        classes[row["letter"], row["digit"]].add(rows[row[ROW]][0])
    assert min(map(len, classes.values())) >= 9


def test_people_who_would_be_in_several_fragments_are_refused():
    rows = [(who, letter, "0", None) for who in range(3) for letter in "ac"]
    policy = policy_of([sf.models.KAnonymity(2)]).replace(method="mondrian")
    with pytest.raises(PolicyError, match="person: people are counted, and a table that is"):
        _refuse(policy, prepare(policy, counts_of(policy, rows)))
