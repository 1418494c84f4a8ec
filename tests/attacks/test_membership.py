"""Membership: real and fake rows held against groups, one by one, and over all combinations."""

import json
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.attacks import Membership, Target, matching
from sfumato.counts import FrequencySet
from sfumato.errors import ParameterError
from sfumato.harm import HarmRule
from sfumato.tables import open_table
from sfumato.text import text_or_none
from tests.attacks.reading import matched, turned
from tests.verifier.anatomy_releases import NAMES, PRINTED_PEOPLE

RNG = np.random.default_rng(7)
CELLS = st.sampled_from(["a", "b", "c", None])
PEOPLE = st.lists(st.tuples(CELLS, CELLS, CELLS), min_size=1, max_size=12)
COLUMNS = ["x", "y", "z"]
PIECES = [[[0, 1, 2]], [[0, 1], [2]], [[0], [1], [2]], [[0, 1], [1, 2]]]
"""Columns that stand together: all, some, none, and one of them twice."""


def counted(rows, names=COLUMNS):
    return FrequencySet.from_rows(names, rows)


def decoded(counts, codes):
    return [
        tuple(column.values[code] for column, code in zip(counts.columns, row, strict=True))
        for row in codes.T.tolist()
    ]


def sliced(rows, buckets, pieces):
    """Publish each piece of every row with the row's bucket."""
    return [
        FrequencySet.from_rows(
            ["bucket", *(COLUMNS[c] for c in piece)],
            [(b, *(row[c] for c in piece)) for row, b in zip(rows, buckets, strict=True)],
        )
        for piece in pieces
    ]


def one_by_one(row, rows, buckets, pieces):
    """In how many buckets does every piece of the row stand?"""
    found = 0
    for bucket in set(buckets):
        members = [r for r, b in zip(rows, buckets, strict=True) if b == bucket]
        found += all(any(all(m[c] == row[c] for c in p) for m in members) for p in pieces)
    return found


@st.composite
def releases(draw):
    rows = draw(PEOPLE)
    buckets = draw(st.lists(st.integers(1, 4), min_size=len(rows), max_size=len(rows)))
    return rows, buckets, draw(st.sampled_from(PIECES))


def everything(people):
    """All recombinations, as codes."""
    sizes = [len(column.values) for column in people.columns]
    return np.array(list(product(*map(range, sizes))), dtype=np.int32).T


@given(releases(), st.integers(1, 6))
def test_groups_are_matched_as_if_one_by_one(release, at_once):
    rows, buckets, pieces = release
    people = counted(rows)
    groups = matched(people, sliced(rows, buckets, pieces), group="bucket")
    codes = everything(people)
    expected = [one_by_one(row, rows, buckets, pieces) for row in decoded(people, codes)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(matching, "_CANDIDATES", at_once)
        assert groups.matches(codes).tolist() == expected


def textbook(rows, matches):
    """The share of fake rows that match nothing, and their groups: over all combinations."""
    n = len(rows)
    marginals = [Counter(column) for column in zip(*rows, strict=True)]
    total = out = seen = Fraction(0)
    for row in product(*marginals):
        if row in rows:
            continue
        weight = Fraction(1)
        for marginal, value in zip(marginals, row, strict=True):
            weight *= Fraction(marginal[value], n)
        total += weight
        out += weight * (matches(row) == 0)
        seen += weight * matches(row)
    return None if not total else (out / total, seen / total)


@given(releases())
def test_the_figures_are_those_of_all_combinations(release):
    rows, buckets, pieces = release
    people = counted(rows)
    groups = matched(people, sliced(rows, buckets, pieces), group="bucket")
    found = Membership().run(people, groups, rng=RNG)
    matches = {row: one_by_one(row, rows, buckets, pieces) for row in rows}
    assert found.exact
    assert (found.people, found.matched) == (len(rows), len(rows))
    assert found.groups == pytest.approx(sum(matches[row] for row in rows) / len(rows))
    expected = textbook(rows, lambda row: one_by_one(row, rows, buckets, pieces))
    if expected is None:
        assert (found.ruled_out, found.interval, found.fake_groups) == (None, None, None)
        assert (found.fakes, found.advantage) == (0, None)
        assert "no combination that no person has" in str(found)
        return
    assert (found.ruled_out, found.fake_groups) == pytest.approx(tuple(map(float, expected)))
    assert found.interval == (found.ruled_out, found.ruled_out)
    assert found.advantage == pytest.approx(found.ruled_out)


@given(PEOPLE)
def test_exact_quasi_identifiers_rule_everybody_else_out(rows):
    people = counted(rows)
    found = Membership().run(people, matched(people, [people]), rng=RNG)
    assert found.groups == 1.0
    assert found.ruled_out in (None, 1.0)


@given(PEOPLE)
def test_one_label_for_everything_rules_nobody_out(rows):
    people = counted(rows)
    covers = {c.name: {"*": list(map(text_or_none, c.values))} for c in people.columns}
    groups = matched(people, [counted([("*", "*", "*")])], covers=covers)
    found = Membership().run(people, groups, rng=RNG)
    assert (found.matched, found.groups) == (len(rows), 1.0)
    assert found.ruled_out in (None, 0.0)


@given(releases())
def test_parting_columns_never_rules_out_more(release):
    rows, buckets, _ = release
    people = counted(rows)
    shares = []
    for pieces in PIECES[:3]:
        groups = matched(people, sliced(rows, buckets, pieces), group="bucket")
        shares.append(Membership().run(people, groups, rng=RNG).ruled_out)
    assume(None not in shares)
    assert shares == sorted(shares, reverse=True)


@given(releases(), st.integers(0, 2**32))
def test_a_sample_draws_fakes_only_and_its_interval_holds_its_share(release, seed):
    rows, buckets, pieces = release
    people = counted(rows)
    groups = matched(people, sliced(rows, buckets, pieces), group="bucket")
    n = len(everything(people)[0]) - 1
    assume(n >= 1)
    sample = Membership(fakes=n).run(people, groups, rng=np.random.default_rng(seed))
    assert not sample.exact
    assert sample.fakes <= n
    assume(sample.ruled_out is not None)
    low, high = sample.interval
    assert 0 <= low <= sample.ruled_out <= high <= 1
    # Whether a fake can be ruled out at all is known from all combinations.
    exact = Membership().run(people, groups, rng=RNG)
    if exact.ruled_out in (0, 1):
        assert sample.ruled_out == exact.ruled_out


@pytest.mark.usefixtures("patience")
def test_the_interval_holds_the_true_share_as_often_as_it_says():
    rng = np.random.default_rng(11)
    rows = [tuple(row) for row in rng.integers(0, 8, (60, 3)).tolist()]
    people = counted(rows)
    groups = matched(people, sliced(rows, [0] * 30 + [1] * 30, [[0, 1], [2]]), group="bucket")
    true = Membership().run(people, groups, rng=rng).ruled_out
    found = [Membership(fakes=200).run(people, groups, rng=rng).interval for _ in range(400)]
    assert 0.92 <= np.mean([low <= true <= high for low, high in found]) <= 0.98


def test_a_large_sample_is_near_and_its_interval_narrow():
    rng = np.random.default_rng(3)
    rows = [tuple(row) for row in rng.integers(0, 30, (500, 3)).tolist()]
    people = counted(rows)
    groups = matched(people, sliced(rows, [0] * 250 + [1] * 250, [[0, 1], [2]]), group="bucket")
    exact = Membership(fakes=27_000).run(people, groups, rng=rng)
    sample = Membership(fakes=20_000).run(people, groups, rng=rng)
    assert exact.exact
    assert not sample.exact
    assert sample.ruled_out == pytest.approx(exact.ruled_out, abs=0.02)
    assert sample.interval[1] - sample.interval[0] < 0.02
    assert "(between " in str(sample)
    again = Membership(fakes=200).run(people, groups, rng=np.random.default_rng(1))
    assert again == Membership(fakes=200).run(people, groups, rng=np.random.default_rng(1))


@pytest.mark.parametrize(
    ("hits", "n", "low", "high"),
    [
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_wilsons_interval_is_the_published_one(hits, n, low, high):
    # Newcombe, "Two-sided confidence intervals for the single proportion", 1998, method 3.
    found = Membership()._interval(hits / n, n, exact=False)
    assert found == (pytest.approx(low, abs=5e-5), pytest.approx(high, abs=5e-5))


def test_the_printed_buckets_tell_who_is_in_the_data():
    rows = [tuple(person[1:]) for person in PRINTED_PEOPLE]
    people = counted(rows, NAMES)
    published = counted([tuple(person) for person in PRINTED_PEOPLE], ["bucket", *NAMES])
    found = Membership().run(people, matched(people, [published], group="bucket"), rng=RNG)
    # Nine ZIP codes, nine ages, two sexes: 162 combinations, nine of them real.
    assert (found.people, found.groups, found.fakes) == (9, 1.0, 153)
    assert found.ruled_out == found.advantage == pytest.approx(1.0)


DATA = pa.table({"age": [31, 32, 41, 42, 43], "sex": list("fmfmf"), "ill": list("xyxyz")})
ROLES = {"quasi_identifiers": ["age", "sex"], "sensitive": ["ill"]}


def test_an_anatomised_release_rules_everybody_else_out(tmp_path):
    folder = sf.decouple(
        DATA, {"method": "anatomy", "l": 2}, output=tmp_path / "b", format="csv", **ROLES
    ).folder
    people = open_table(DATA).count(["age", "sex"])
    # A CSV file holds text: values are the same if they are written alike.
    published = open_table(folder / "qi.csv").count(["bucket", "age", "sex"])
    found = Membership().run(people, matched(people, [published], group="bucket"), rng=RNG)
    assert (found.matched, found.groups, found.fakes) == (5, 1.0, 5)
    assert found.ruled_out == 1.0


def test_a_broken_release_hides_those_who_have_the_labels_of_a_group():
    covers = {"age": turned({str(a): f"{a // 10}*" for a in (31, 32, 41, 42, 43)})}
    rough = DATA.set_column(0, "age", pa.array(["3*", "3*", "4*", "4*", "4*"]))
    release = sf.decouple(rough, **ROLES)
    people = open_table(DATA).count(["age", "sex"])
    published = open_table(release.tables["qi"]).count(["group", "age", "sex"])
    groups = matched(people, [published], group="group", covers=covers)
    found = Membership().run(people, groups, rng=RNG)
    # All four classes occur, so every recombination is in one.
    assert (found.ruled_out, found.fake_groups, found.advantage) == (0.0, 1.0, 0.0)


def test_people_who_were_suppressed_match_nothing():
    people = counted([("a",), ("a",), ("b",)], ["x"])
    groups = matched(people, [counted([("a",), ("a",)], ["x"])])
    found = Membership().run(people, groups, rng=RNG)
    assert (found.people, found.matched) == (3, 2)
    assert groups.matches(people.codes).tolist() == [1, 0]


def test_a_value_without_a_label_is_in_no_group():
    people = counted([("a",), ("b",), (None,)], ["x"])
    covers = {"x": {"*": ["a"], None: []}}
    groups = matched(people, [counted([("*",), (None,)], ["x"])], covers=covers)
    assert groups.matches(people.codes).tolist() == [1, 0, 0]


def test_the_result_is_plain_and_readable():
    people = counted([("a", "b"), ("c", "d")], ["x", "y"])
    found = Membership().run(people, matched(people, [people]), rng=RNG)
    plain = found.to_dict()
    assert json.loads(json.dumps(plain, allow_nan=False)) == plain
    assert plain["ruled_out"] == 1.0
    assert plain["attack"] == "membership"
    assert str(found) == (
        "membership: 2 of 2 people match a group, 1 on average; "
        "100 % of 2 fake rows match none and can be ruled out"
    )


def test_what_does_not_fit_is_refused():
    people, other = counted([("a", "b")], ["x", "y"]), counted([("a", "c")], ["x", "y"])
    with pytest.raises(ParameterError, match="tables must be tables of the columns"):
        matched(people, [counted([("a",)], ["x"])])
    with pytest.raises(ParameterError, match="group must be the column that links"):
        matched(people, [counted([("a",)], ["x"]), counted([("b",)], ["y"])])
    with pytest.raises(ParameterError, match="people must be the rows"):
        Membership().run(other, matched(people, [people]), rng=RNG)
    nobody = FrequencySet(people.columns, people.codes[:, :0], people.rows[:0])
    with pytest.raises(ParameterError, match="at least one row"):
        Membership().run(nobody, matched(people, [people]), rng=RNG)


@pytest.mark.parametrize("wrong", [{"fakes": 0}, {"fakes": 1.5}, {"confidence": 1}])
def test_settings_that_mean_nothing_are_refused(wrong):
    with pytest.raises(ParameterError):
        Membership(**wrong)


def attacked(people, published, **changes):
    """A release of some people, whose values may have become labels."""
    covers = {"x": {"ab": ["a", "b"]}} if "labels" in changes else None
    matcher = matched(people, [published], covers=covers)
    target = Target.of_table(published, tuple(published.names), ())
    return replace(target, people=people, matcher=matcher, promised=changes.get("promised", ()))


@given(PEOPLE, st.booleans())
def test_who_fits_is_believed_to_be_in_the_data(rows, promised):
    people = counted(rows)
    target = attacked(people, people, promised=("delta-presence",) if promised else ())
    [attack] = Membership.against(target, HarmRule())
    outcome = attack.on(target, HarmRule())
    presence = attack.run(people, target.matcher, rng=RNG)
    assert outcome.judged == promised
    if presence.ruled_out is None:
        assert (outcome.prior, outcome.posterior, outcome.people) == (0.5, 0.5, 0)
        assert "no fake rows" in outcome.note
    else:
        # Exact values: of the fake ones nobody fits, so whoever fits is in the data.
        assert (outcome.prior, outcome.posterior) == (0.5, 1.0)
        assert (outcome.people, outcome.of) == (len(rows), len(rows))
        assert outcome.holds == (not promised)
    assert json.loads(json.dumps(outcome.to_dict())) == outcome.to_dict()


def test_a_label_for_everybody_betrays_nobody_and_the_belief_lies_in_its_interval():
    people = counted([("a", "u"), ("b", "v"), ("c", "u")], ["x", "y"])
    published = counted([("ab", "u"), ("ab", "v"), ("c", "u")], ["x", "y"])
    target = attacked(people, published, labels=True)
    outcome = Membership().on(target, HarmRule())
    # (a, v), (b, u) fit and (c, v) does not; v is half as frequent as u.
    fits = Fraction(1 + 2, 1 + 2 + 1)
    assert outcome.posterior == pytest.approx(float(1 / (1 + fits)))
    assert (outcome.people, outcome.interval, outcome.seed) == (0, None, None)
    sampled = Membership(fakes=3, seed=5).on(target, HarmRule())
    low, high = sampled.interval
    assert low <= sampled.posterior <= high
    assert sampled.seed == 5
    assert sampled == Membership(fakes=3, seed=5).on(target, HarmRule())


def test_without_the_original_nobody_is_known_to_be_a_member():
    people = counted([("a", "u")], ["x", "y"])
    target = Target.of_table(people, ("x", "y"), ())
    assert Membership.against(target, HarmRule()) == []
    assert "the original table" in Membership.why_not(target)
    with pytest.raises(ParameterError, match="the original table"):
        Membership().on(target, HarmRule())
