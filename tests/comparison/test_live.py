"""Looks at policies: what they say is what is published."""

from collections.abc import Mapping
from pathlib import Path

import hypothesis.strategies as st
import pyarrow as pa
import pyarrow.csv
import pytest
from hypothesis import given, settings

import sfumato as sf
from sfumato.attacks.adversary.trial import Trial
from sfumato.comparison.live import LiveTable
from sfumato.errors import PolicyError, SfumatoError
from sfumato.models import DistinctLDiversity, KAnonymity, TCloseness
from sfumato.policy import Policy

METHODS = ["full-domain", "regional", "mondrian", "top-down", "bottom-up", "mdav"]

AGES = {
    "role": "quasi-identifier",
    "hierarchy": {"kind": "intervals", "widths": [5, 10, 20]},
}
ZIPS = {"role": "quasi-identifier", "hierarchy": {"kind": "masking"}}
KNOWN: dict[str, object] = {"age": AGES, "zip": ZIPS, "sex": "quasi-identifier"}


def policy(
    columns: Mapping[str, object] = KNOWN,
    *,
    method: str = "full-domain",
    k: int = 2,
    **more: object,
) -> Policy:
    return Policy(
        columns={**columns, "ill": "sensitive"},
        models=[KAnonymity(k), DistinctLDiversity("ill", 2)],
        method=method,
        suppression=0.2,
        **more,
    )


def people(rows: list[tuple[object, ...]]) -> pa.Table:
    names = ["age", "zip", "sex", "ill"]
    types = [pa.int64(), pa.string(), pa.string(), pa.string()]
    columns = zip(*rows, strict=True)
    arrays = [pa.array(values, kind) for values, kind in zip(columns, types, strict=True)]
    return pa.table(arrays, names=names)


SOME = people(
    [
        (20 + 3 * i % 37, f"100{i % 7}{i % 3}", "fm"[i % 2], ("flu", "gout", "hiv", "cold")[i % 4])
        for i in range(60)
    ]
)


def require_published(data: object, rules: Policy, seen: Trial) -> None:
    """Hold a look against the release that is made of it."""
    try:
        release = sf.anonymize(data, rules, seed=0)
    except SfumatoError as error:
        said = str(error)
    else:
        said = None
    assert seen.reason == said
    assert (seen.verdict == "impossible") == (said is not None)
    if said is None:
        require_figures(rules, release, seen)


def require_figures(rules: Policy, release: sf.Release, seen: Trial) -> None:
    table = release.table
    assert seen.published == table.num_rows
    assert seen.suppressed == release.manifest.rows.suppressed
    assert seen.rows == seen.published + seen.suppressed
    private = release.manifest.private
    assert private is not None
    assert seen.loss == pytest.approx(private.losses[rules.loss.name])
    stars = {
        name: [None if v is None else str(v) for v in table[name].to_pylist()].count("*")
        for name in rules.quasi_identifiers
    }
    assert seen.stars == sum(stars.values())
    assert seen.hidden == pytest.approx(
        sum(stars.values()) / max(table.num_rows * len(table.column_names), 1)
    )
    for column in seen.columns:
        assert column.hidden == pytest.approx(stars[column.name] / max(table.num_rows, 1))
        if column.name in release.levels:
            assert column.level == release.levels[column.name]
    assert seen.classes == table.group_by(list(rules.quasi_identifiers)).aggregate([]).num_rows


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("method", METHODS)
def test_a_look_says_what_is_published(method: str) -> None:
    rules = policy(method=method)
    require_published(SOME, rules, LiveTable.open(SOME, rules).look(rules))


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("method", METHODS)
def test_a_look_says_what_is_published_of_weights(method: str) -> None:
    data = SOME.append_column("weight", pa.array([1.5 + i % 9 for i in range(60)]))
    rules = policy({**KNOWN, "weight": "weight"}, method=method)
    require_published(data, rules, LiveTable.open(data, rules).look(rules))


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("method", METHODS)
def test_a_look_says_what_is_published_of_people_with_several_rows(method: str) -> None:
    data = SOME.append_column("who", pa.array([f"p{i // 2 * 7 % 30}" for i in range(60)]))
    ages = pa.array([20 + 3 * (i // 2) % 37 for i in range(60)])
    data = data.set_column(0, "age", ages)
    rules = Policy(
        columns={
            "who": "identifier",
            "age": AGES,
            "zip": "plain",
            "sex": "plain",
            "ill": "sensitive",
        },
        person="who",
        models=[KAnonymity(3), DistinctLDiversity("ill", 2)],
        method=method,
        suppression=0.2,
    )
    seen = LiveTable.open(data, rules).look(rules)
    require_published(data, rules, seen)
    assert seen.of == 30


@pytest.mark.parametrize("method", METHODS)
def test_a_look_says_what_is_published_of_dates(method: str) -> None:
    days = [f"{1 + i % 28:02}.{1 + i % 12:02}.{1950 + i * 7 % 40}" for i in range(60)]
    admitted = pa.array([f"2020-{1 + i % 12:02}-{1 + i % 27:02}" for i in range(60)])
    data = SOME.append_column("born", pa.array(days)).append_column("admitted", admitted)
    dates = {"role": "quasi-identifier", "hierarchy": {"kind": "dates"}, "dates": "day-first"}
    rules = policy({"sex": "quasi-identifier", "born": dates, "zip": ZIPS}, method=method)
    live = LiveTable.open(data, rules)
    require_published(data, rules, live.look(rules))
    derived = policy(
        {
            "sex": "quasi-identifier",
            "years": AGES,
            "born": {"role": "dropped", "dates": "day-first"},
        },
        method=method,
        derive=[{"kind": "age", "of": "born", "at": "admitted", "into": "years"}],
    )
    require_published(data, derived, live.look(derived))


def test_a_look_says_what_is_published_of_a_sample_of_a_population(tmp_path: Path) -> None:
    everyone = pa.concat_tables([SOME, SOME, SOME.slice(0, 20)])
    pa.csv.write_csv(everyone.select(["age", "zip", "sex"]), tmp_path / "everyone.csv")
    rules = Policy(
        columns={**KNOWN, "ill": "sensitive"},
        models=[{"model": "k-map", "k": 5}],
        population=str(tmp_path / "everyone.csv"),
        suppression=0.2,
    )
    require_published(SOME, rules, LiveTable.open(SOME, rules).look(rules))


def test_a_look_says_what_is_published_beside_sets() -> None:
    items = pa.array([";".join(sorted({f"a{i % 3}", f"b{i % 2}"})) for i in range(60)])
    data = SOME.append_column("items", items)
    rules = Policy(
        columns={**KNOWN, "ill": "plain", "items": {"role": "set", "separator": ";"}},
        models=[KAnonymity(2), {"model": "km-anonymity", "k": 2, "m": 1}],
        suppression=0.2,
    )
    seen = LiveTable.open(data, rules).look(rules)
    require_published(data, rules, seen)
    assert any("items" in note for note in seen.notes)


cells = st.tuples(
    st.one_of(st.none(), st.integers(18, 60)),
    st.sampled_from(["10001", "10002", "10012", "20001", None]),
    st.sampled_from(["f", "m"]),
    st.sampled_from(["flu", "gout", "hiv", "Flu ", None]),
)


@settings(max_examples=40, deadline=None)
@given(
    rows=st.lists(cells, min_size=1, max_size=25),
    method=st.sampled_from(METHODS),
    k=st.integers(2, 4),
    missing=st.sampled_from(["own-value", "suppress"]),
)
def test_a_look_says_what_is_published_of_any_table(
    rows: list[tuple[object, ...]], method: str, k: int, missing: str
) -> None:
    data = people(rows)
    rules = policy(method=method, k=k, missing=missing)
    require_published(data, rules, LiveTable.open(data, rules).look(rules))


changes = st.sampled_from(
    [
        policy(k=3),
        policy(method="mondrian"),
        policy(method="mondrian", k=5),
        policy({"age": AGES, "zip": "dropped", "sex": "quasi-identifier"}),
        policy({"age": "quasi-identifier", "zip": ZIPS, "sex": "dropped"}),
        policy({"age": AGES | {"levels": [2, 3]}, "zip": ZIPS, "sex": "sensitive"}),
        policy({"age": {"role": "quasi-identifier", "hierarchy": "auto"}, "zip": ZIPS,
                "sex": "plain"}),
        policy(k=99),
        policy().replace(models=[KAnonymity(2), TCloseness("ill", 0.4)]),
    ]
)  # fmt: skip


@pytest.mark.usefixtures("patience")
@settings(max_examples=30, deadline=None)
@given(asked=st.lists(changes, min_size=1, max_size=6))
def test_what_was_asked_before_changes_no_answer(asked: list[Policy]) -> None:
    live = LiveTable.open(SOME)
    for rules in asked:
        assert live.look(rules) == LiveTable.open(SOME, rules).look(rules)


class StopWish(Exception):  # noqa: N818 - it is no error
    """Raised to stop a look."""


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("method", METHODS)
def test_a_look_that_was_stopped_leaves_everything_usable(method: str) -> None:
    rules = policy(method=method)
    expected = LiveTable.open(SOME, rules).look(rules)
    calls = 0

    def count(stage: str, done: int, total: int | None) -> None:
        nonlocal calls
        calls += 1

    LiveTable.open(SOME).look(rules, progress=count)
    for at in range(calls):
        live, left = LiveTable.open(SOME), at

        def stop(stage: str, done: int, total: int | None) -> None:
            nonlocal left
            left -= 1
            if left < 0:
                raise StopWish

        with pytest.raises(StopWish):
            live.look(rules, progress=stop)
        assert live.look(rules) == expected


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("method", METHODS)
def test_a_quick_look_at_a_small_table_is_exact(method: str) -> None:
    live, rules = LiveTable.open(SOME), policy(method=method)
    quick = live.look(rules, quick=True)
    # A busy machine may stop a search of levels, and says so.
    assert quick.exact or quick.checked
    assert not quick.exact or quick == live.look(rules)


def test_a_quick_look_at_many_rows_says_that_it_is_an_estimate(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sfumato.comparison.live._MANY", 10)
    monkeypatch.setattr("sfumato.comparison.live._DRAWN", 30)
    live, rules = LiveTable.open(SOME), policy(method="mondrian")
    quick = live.look(rules, quick=True)
    assert quick.sample == 30
    assert "30 drawn rows" in quick.estimate
    assert quick.rows == quick.published + quick.suppressed == 60
    exact = live.look(rules)
    assert exact.exact
    assert exact == LiveTable.open(SOME, rules).look(rules)
    assert live.look(rules, quick=True) == exact


def test_a_policy_that_cannot_be_read_is_refused_with_what_is_wrong() -> None:
    with pytest.raises(PolicyError, match="quasi-identifier"):
        LiveTable.open(SOME).look({"columns": {"age": "quasi"}, "models": []})


@pytest.mark.usefixtures("patience")
def test_exploring_says_what_comparing_says() -> None:
    rules, vary = policy(), {"k": [2, 4], "method": ["full-domain", "mondrian"]}
    expected = sf.compare(SOME, rules, vary=vary, parallel=1)
    found = LiveTable.open(SOME, rules).explore(rules, vary=vary, seconds=None)
    assert found == expected
    assert found.points[0].policy.models[0] == KAnonymity(2)


@pytest.mark.usefixtures("patience")
def test_exploring_varies_what_a_policy_has() -> None:
    live, rules = LiveTable.open(SOME), policy()
    found = live.explore(rules)
    assert len(found) == 9
    point = next(each for each in found if each.possible)
    seen = live.look(point.policy)
    assert (seen.suppressed, seen.loss) == (point.suppressed, pytest.approx(point.loss))


def test_exploring_can_be_stopped() -> None:
    live, rules = LiveTable.open(SOME), policy()

    def stop(stage: str, done: int, total: int | None) -> None:
        if stage == "partition":
            raise StopWish

    with pytest.raises(StopWish):
        live.explore(rules, progress=stop)
    assert live.explore(rules, vary={"k": [2]}).points[0].possible


@pytest.mark.parametrize("most", [1, 3000])
def test_one_level_less_costs_what_its_own_policy_says(most: int) -> None:
    live, rules = LiveTable.open(SOME), policy()
    found = live.lattice(rules, most=most)
    assert (found.lattice is None) == (most == 1)
    seen = live.look(rules)
    assert found.loss == pytest.approx(seen.loss)
    assert found.levels == tuple(column.level for column in seen.columns)
    at = dict(zip(found.columns, found.levels, strict=True))
    for step in found.steps:
        if step.finer is None:
            continue
        levels = at | {step.column: step.finer}
        columns = {
            name: rule.replace(levels=[levels[name], levels[name]]) if name in levels else rule
            for name, rule in rules.columns.items()
        }
        there = live.look(rules.replace(columns=columns))
        assert there.possible == step.valid, step
        if step.valid:
            assert (step.loss, step.suppressed) == (pytest.approx(there.loss), there.suppressed)
        else:
            assert step.reason


def test_what_a_promise_costs_is_what_comes_without_it() -> None:
    live, rules = LiveTable.open(SOME), policy(k=4)
    diverse, whole = live.cost_of_models(rules)[1], live.look(rules)
    assert diverse.promise == "distinct-l-diversity of ill with l=2"
    assert diverse.whole == whole
    assert diverse.without == live.look(rules.replace(models=[KAnonymity(4)]))
    assert diverse.binds == (diverse.without.loss < whole.loss - 1e-9)


@settings(max_examples=25, deadline=None)
@given(rows=st.lists(cells, min_size=1, max_size=25))
def test_facts_of_a_column_are_those_of_its_rows(rows: list[tuple[object, ...]]) -> None:
    data, names = people(rows), ["age", "zip", "sex"]
    live = LiveTable.open(data)
    for at, name in enumerate(["age", "zip", "sex", "ill"]):
        found = live.column_facts(name, policy())
        mine = [row[at] for row in rows]
        known = [value for value in mine if value is not None]
        assert found.distinct == len({*known})
        assert found.missing == pytest.approx(mine.count(None) / len(rows))
        assert sum(bar.rows for bar in found.histogram) + found.others == len(known)
        assert found.alone == pytest.approx(sum(known.count(v) == 1 for v in known) / len(rows))
        whole = [row[:3] if name in names else row for row in rows]
        assert found.together == pytest.approx(sum(whole.count(r) == 1 for r in whole) / len(rows))
        assert found.svg
