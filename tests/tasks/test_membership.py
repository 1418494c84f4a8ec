"""Membership side by side: every kind of release against rows held to it one by one."""

import json
from collections import Counter
from fractions import Fraction
from itertools import product

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.counts import FrequencySet
from sfumato.decouplings.base import GroupedTables
from sfumato.errors import InputError, ParameterError, UnknownColumnError, UnknownNameError
from tests.tasks.by_hand import anatomised, sliced, table_of

NAMES = ["age", "sex", "ill"]
QI = NAMES[:2]
ROLES = {"quasi_identifiers": QI, "sensitive": ["ill"]}
ROWS = st.lists(
    st.tuples(
        st.sampled_from([21, 24, 29, 30]),
        st.sampled_from(["f", "m", None]),
        st.sampled_from(["flu", "gout"]),
    ),
    min_size=1,
    max_size=12,
)
SLICES = [
    [["age"], ["sex"], ["ill"]],
    [["age", "sex"], ["ill"]],
    [["age"], ["sex", "ill"]],
    [["age", "sex"], ["sex", "ill"]],
]
TENS = {21: "20-29", 24: "20-29", 29: "20-29", 30: "30-39"}
UNDER = {"20-29": {21, 24, 29}, "30-39": {30}, "2*": {21, 24, 29}, "*": {21, 24, 29, 30}}


def textbook(rows, matches):
    """Groups of real rows and of fakes, and the share of fakes without one, in fractions."""
    people = [row[:2] for row in rows]
    n = len(people)
    marginals = [Counter(column) for column in zip(*people, strict=True)]
    total = out = seen = Fraction(0)
    for row in product(*marginals):
        if row not in people:
            weight = Fraction(marginals[0][row[0]] * marginals[1][row[1]], n * n)
            total, seen = total + weight, seen + weight * matches(row)
            out += weight * (matches(row) == 0)
    real = Fraction(sum(matches(row) for row in people), n)
    return (real, None, None) if not total else (real, seen / total, out / total)


def assert_literal(found, rows, matches):
    real, fake, out = textbook(rows, matches)
    assert found.exact
    assert found.people == len(rows)
    assert found.groups == pytest.approx(float(real))
    assert found.fake_groups == (None if fake is None else pytest.approx(float(fake)))
    assert found.ruled_out == (None if out is None else pytest.approx(float(out)))


def in_buckets(rows, buckets, pieces):
    """Count the buckets in which each piece of a row stands."""

    def matches(row):
        found = 0
        for bucket in set(buckets):
            inside = [r for r, b in zip(rows, buckets, strict=True) if b == bucket]
            found += all(any(all(r[i] == row[i] for i in at) for r in inside) for at in pieces)
        return found

    return matches


@given(ROWS, st.sampled_from(SLICES), st.data())
def test_decoupled_releases_of_every_kind_side_by_side(rows, slices, data):
    buckets = [data.draw(st.integers(1, 3)) for _ in rows]
    counts = FrequencySet.from_rows(NAMES, rows)
    releases = {
        "slices": sliced(NAMES, "ill", rows, buckets, slices),
        "buckets": anatomised(NAMES, "ill", rows, buckets),
        "broken": GroupedTables.of(counts, QI, ["ill"]),
    }
    found = sf.tools.membership(table_of(NAMES, rows), releases)
    held = [[QI.index(name) for name in names if name in QI] for names in slices]
    pieces = [at for at in held if at]
    assert_literal(found["slices"], rows, in_buckets(rows, buckets, pieces))
    assert_literal(found["buckets"], rows, in_buckets(rows, buckets, [[0, 1]]))
    assert_literal(found["broken"], rows, lambda row: int(row in [r[:2] for r in rows]))
    assert len({(each.people, each.fakes) for each in found.results.values()}) == 1


@given(ROWS, st.data())
def test_generalised_tables_whole_and_row_by_row(rows, data):
    local = []
    for age, sex, ill in rows:
        label = data.draw(st.sampled_from([age, *(u for u in UNDER if age in UNDER[u])]))
        local.append((str(label), sex, ill))
    whole = [(TENS[age], sex, ill) for age, sex, ill in rows]
    releases = {"whole": table_of(NAMES, whole), "local": table_of(NAMES, local)}
    found = sf.tools.membership(FrequencySet.from_rows(NAMES, rows), releases, **ROLES)
    for name, shown in (("whole", whole), ("local", local)):
        classes = {row[:2] for row in shown}
        # A missing value stands for the missing one, which here somebody has if it is shown.
        assert_literal(
            found[name],
            rows,
            lambda row, classes=classes: sum(
                row[0] in UNDER.get(age, {int(age) if age.isdigit() else 0}) and row[1] == sex
                for age, sex in classes
            ),
        )


@given(ROWS, st.data())
def test_labels_that_overlap_in_buckets(rows, data):
    buckets = [data.draw(st.integers(1, 3)) for _ in rows]
    shown = []
    for age, sex, ill in rows:
        labels = [str(age), *(label for label in UNDER if age in UNDER[label])]
        shown.append((data.draw(st.sampled_from(labels)), sex, ill))

    def matches(row):
        found = 0
        for bucket in set(buckets):
            inside = [r for r, b in zip(shown, buckets, strict=True) if b == bucket]
            ages = any(row[0] in UNDER.get(r[0], {r[0]}) or str(row[0]) == r[0] for r in inside)
            found += ages and any(r[1] == row[1] for r in inside)
        return found

    release = sliced(NAMES, "ill", shown, buckets, SLICES[0])
    assert_literal(sf.tools.membership(table_of(NAMES, rows), release), rows, matches)


@pytest.mark.usefixtures("patience")
def test_releases_that_a_policy_made_are_read_with_its_hierarchies(tmp_path):
    whole = sf.Policy.load(sf.samples.synthetic_policy())
    names = ["age", "sex", "nationality", "diagnosis"]
    policy = sf.Policy(
        columns={name: whole.columns[name] for name in names},
        models=[sf.models.KAnonymity(5)],
        suppression={"limit": 0.05, "rows": "star"},
    )
    people = sf.samples.synthetic(500, seed=3).select(names)
    releases = {
        method: sf.anonymize(people, policy, method=method)
        for method in ("full-domain", "mondrian")
    }
    sf.decouple(releases["full-domain"], output=tmp_path / "broken")
    releases["folder"] = tmp_path / "broken"
    found = sf.tools.membership(people, releases, policy=policy, fakes=300)
    for method in ("full-domain", "mondrian"):
        # Those who were suppressed match the row of stars.
        assert found[method].matched == 500
        assert found[method].groups >= 1
        assert not found[method].exact
    # Decoupling leaves that row out, and with it the people who match nothing else.
    starred = releases["full-domain"].suppressed
    assert found["folder"].matched == 500 - starred
    assert found["folder"].groups == pytest.approx(found["full-domain"].groups - 1)
    assert "between" in str(found).splitlines()[1]
    exact = sf.tools.membership(people, people, policy=policy, fakes=300)
    assert (exact.groups, exact.ruled_out) == (1, 1)


def test_one_release_and_several_say_the_same_and_a_seed_repeats_it():
    people = sf.samples.synthetic(300, seed=1).select(["age", "sex", "nationality"])
    settings = {"quasi_identifiers": ["age", "sex", "nationality"], "fakes": 100}
    one = sf.tools.membership(people, people, seed=5, **settings)
    told = []
    several = sf.tools.membership(
        people,
        {"a": people, "b": people},
        seed=5,
        progress=lambda *step: told.append(step),
        **settings,
    )
    assert told == [("compare", 1, 2), ("compare", 2, 2)]
    assert one == several["a"] == several["b"]
    assert one.fakes != sf.tools.membership(people, people, seed=6, **settings).fakes


def test_results_are_plain_and_readable():
    table = table_of(NAMES, [(21, "f", "flu"), (24, "m", "gout")])
    found = sf.tools.membership(table, {"raw": table}, **ROLES)
    plain = json.loads(json.dumps(found.to_dict()))
    assert plain["releases"]["raw"]["ruled_out"] == 1
    assert plain["seed"] == 0
    assert (list(found), len(found), repr(found)) == (["raw"], 1, "<Presences of raw>")
    assert str(found).splitlines()[2].split() == ["raw", "2", "of", "2", "1", "0", "100", "%"]
    with pytest.raises(UnknownNameError, match="Did you mean 'raw'"):
        found["rwa"]
    alike = table_of(NAMES, [(21, "f", "flu")])
    # There is nobody who could be made up, and nothing is said about them.
    assert (
        str(sf.tools.membership(alike, {"raw": alike}, **ROLES)).splitlines()[2].split()[-2:]
        == ["–"] * 2
    )


@pytest.mark.parametrize(
    ("change", "error", "text"),
    [
        ({"releases": {}}, ParameterError, "a mapping of names to releases"),
        ({"fakes": 0}, ParameterError, "fakes must be an integer of at least 1"),
        ({"seed": -1}, ParameterError, "seed must be an integer of at least 0"),
        ({"confidence": 1}, ParameterError, "confidence must be"),
        ({"quasi_identifiers": []}, ParameterError, "the columns that others may know"),
        ({"quasi_identifiers": ["agee"]}, UnknownColumnError, "Did you mean 'age'"),
        ({"original": table_of(NAMES, [(99, "f", "flu")])}, InputError, "'21' of column 'age'"),
    ],
)
def test_what_makes_no_sense_is_refused(change, error, text):
    table = table_of(NAMES, [(21, "f", "flu"), (24, "m", "gout")])
    settings = {"original": table, "releases": table, **ROLES, **change}
    with pytest.raises(error, match=text):
        sf.tools.membership(**settings)
    if change.get("quasi_identifiers"):
        with pytest.raises(error, match=text):
            sf.tools.membership(
                table, GroupedTables.of(FrequencySet.from_rows(QI, [(1, 2)]), QI, []), **change
            )


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("ask", [sf.tools.membership, sf.utility])
def test_releases_without_a_column_that_is_compared_are_named(ask):
    people = pa.table({"age": [1, 2, 3, 4], "sex": ["f", "m"] * 2, "ill": ["a", "b"] * 2})
    roles = {"quasi_identifiers": ["age", "sex"], "sensitive": ["ill"]}
    both = {
        "with": sf.decouple(people, "break-merge", **roles),
        "without": sf.decouple(people.drop(["sex"]), quasi_identifiers=["age"], sensitive=["ill"]),
    }
    with pytest.raises(ParameterError, match=r"got 'without': it has no 'sex'\. Name columns"):
        ask(people, both)
    found = ask(people, both, quasi_identifiers=["age"], sensitive=["ill"])
    assert "without" in str(found)
