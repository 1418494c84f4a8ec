"""A release as an adversary sees it: which rows are looked into, and what is promised of them."""

import json
import shutil
from contextlib import suppress
from copy import deepcopy
from datetime import date
from importlib import import_module
from itertools import product

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.attacks import BackgroundKnowledge, ProbabilisticInference
from sfumato.attacks.adversary.target import target_of
from sfumato.errors import ParameterError, SfumatoError
from sfumato.harm import HarmRule
from sfumato.policy import Suppression
from sfumato.releases.opening import open_release

ROLES = {"quasi_identifiers": ["age"], "sensitive": ["ill"]}
STARRED = {
    "age": ["30", "30", "40", "40", "*", "*"],
    "ill": ["flu", "gout", "flu", "hiv", "hiv", "hiv"],
}


def policy_of(*models, hierarchy="star", **settings):
    columns = {"age": {"role": "quasi-identifier", "hierarchy": hierarchy}, "ill": "sensitive"}
    return sf.Policy(columns=columns, models=models or [sf.models.KAnonymity(2)], **settings)


def test_rows_of_stars_in_any_file_are_a_class():
    target = target_of(open_release(pa.table(STARRED), **ROLES))
    assert (target.classes.total, target.counts.total) == (6, 6)
    assert [target.who(at)["age"] for at in range(3)] == ["30", "40", "*"]
    found = sf.verify(pa.table(STARRED), **ROLES)
    homogeneity = found.attack("homogeneity")
    assert (homogeneity.of, homogeneity.prior, homogeneity.posterior) == (6, 0.5, 1.0)
    assert homogeneity.worst[0].who == {"age": "*"}
    # Who is neither 30 nor 40 is one of the two.
    belief = sf.explain(pa.table(STARRED), {"age": "51"}, **ROLES)
    assert (belief.places[0].labels, belief.belief().certain) == ({"age": "*"}, "hiv")
    note = "2 more rows say nothing but * of whose they are. They are of people who fit no other"
    assert note in str(sf.explain(pa.table(STARRED), {"age": "30"}, **ROLES))


def test_a_file_is_judged_like_the_release_it_was():
    """Thirteen rows of another tool, three of them stars with hiv."""
    ages = ["20-39"] * 4 + ["40-59"] * 6 + ["*"] * 3
    sexes = ["*"] * 4 + ["f"] * 3 + ["m"] * 3 + ["*"] * 3
    ills = ["flu", "gout", "asthma", "flu", "lupus", "cancer", "gout", "flu", "gout", "ulcer"]
    table = pa.table({"age": ages, "sex": sexes, "ill": [*ills, "hiv", "hiv", "hiv"]})
    found = sf.verify(table, quasi_identifiers=["age", "sex"], sensitive=["ill"])
    assert found.answer == "no"
    assert found.attack("homogeneity").worst[0].who == {"age": "*", "sex": "*"}


def test_rows_of_stars_that_say_nothing_else_are_left_out():
    empty = {**STARRED, "ill": ["flu", "gout", "flu", "hiv", None, None]}
    assert target_of(open_release(pa.table(empty), **ROLES)).classes.total == 4
    # Beside one that says something they are rows of the same class.
    some = {**STARRED, "ill": ["flu", "gout", "flu", "hiv", None, "hiv"]}
    assert target_of(open_release(pa.table(some), **ROLES)).classes.sizes.tolist() == [2, 2, 2]


def test_a_file_of_ours_with_rows_of_stars_is_judged_like_the_release():
    table = pa.table({"age": ["30"] * 3 + ["51"], "ill": ["a", "b", "c", "d"]})
    policy = policy_of(sf.models.KAnonymity(3), suppression=Suppression(limit=1, rows="star"))
    release = sf.anonymize(table, policy)
    found = sf.verify(release.table, policy)
    assert (found.holds, found["k-anonymity"].found, found["starred rows"].found) == (
        True,
        {"k": 3},
        1,
    )
    # A row of stars that says something is a class, and too small a one.
    told = [ill or "d" for ill in release.table["ill"].to_pylist()]
    shown = pa.table({"age": release.table["age"], "ill": told})
    assert sf.verify(shown, policy)["k-anonymity"].found == {"k": 1}


def test_who_fits_no_class_of_a_release_of_ours_is_among_the_suppressed():
    table = pa.table({"age": ["30", "30", "41"], "ill": ["a", "b", "b"]})
    policy = policy_of(suppression=Suppression(limit=1, rows="star"))
    release = sf.anonymize(table, policy)
    found = sf.explain(release, {"age": "41"})
    assert (found.places[0].labels, found.places[0].people) == ({"age": "*"}, 1)
    assert found.belief().silent


def test_dependencies_go_by_the_same_beliefs():
    rows = {
        "age": ["30"] * 20 + ["*"] * 20,
        "work": ["state", "private"] * 20,
        "wed": ["single", "married"] * 10 + ["single"] * 20,
    }
    roles = {"quasi_identifiers": ["age"], "sensitive": ["work", "wed"]}
    found = sf.verify(pa.table(rows), **roles).attack("dependency", "wed")
    worst = {case.believed: case.prior for case in found.worst}
    assert worst["wed = married"] == 0.25
    assert worst["wed = single"] == 0.75


def test_if_nobody_is_shown_everybody_is_looked_at():
    table = pa.table({**STARRED, "age": ["*"] * 6})
    assert target_of(open_release(table, **ROLES)).classes.total == 6


@pytest.mark.parametrize("kind", ["remove", "star"])
def test_a_class_of_stars_in_a_release_of_ours_is_a_class(kind):
    table = pa.table({"age": ["30", "30", "41", "52", "63"], "ill": list("ababb")})
    policy = policy_of(suppression=Suppression(limit=0, rows=kind), method="top-down")
    release = sf.anonymize(table, policy)
    assert sorted(release.table["age"].to_pylist()) == ["*", "*", "*", "30", "30"]
    target = target_of(open_release(release))
    assert sorted(target.classes.sizes.tolist()) == [2, 3]
    if kind == "remove":
        # Whoever is 30 may be in either class.
        found = sf.explain(release, {"age": "30"})
        assert sorted(place.people for place in found.places) == [2, 3]
        assert not found.notes


def test_suppressed_stars_of_a_release_are_left_out():
    table = pa.table({"age": ["30", "30", "41"], "ill": ["a", "b", "b"]})
    policy = policy_of(suppression=Suppression(limit=1, rows="star"))
    release = sf.anonymize(table, policy)
    assert release.table["age"].to_pylist().count("*") == 1
    target = target_of(open_release(release))
    assert (target.classes.sizes.tolist(), target.counts.total) == ([2], 2)


def people(n):
    return pa.table({"age": ["30"] * n + ["40"] * n})


def test_a_release_for_people_nobody_knows_of_is_told_and_not_judged_by_the_prosecutor(tmp_path):
    pc.write_csv(people(3), tmp_path / "people.csv")
    policy = policy_of(sf.models.KMap(3), population=str(tmp_path / "people.csv"))
    release = sf.anonymize(pa.table({"age": ["30", "40"], "ill": ["flu", "flu"]}), policy)
    assert sorted(release.table["age"].to_pylist()) == ["30", "40"]
    found = sf.verify(release, policy)
    prosecutor, journalist = (each for each in found.attacks if each.attack == "linking")
    assert (prosecutor.people, prosecutor.judged) == (2, False)
    assert prosecutor.note.startswith(
        "told and not judged: k-map protects people of whom no adversary"
    )
    # The population is a list: three fit each row.
    assert (journalist.people, journalist.judged) == (0, True)
    assert journalist.posterior == pytest.approx(1 / 3)
    assert found.holds


def test_a_list_wins_over_the_population():
    policy = policy_of(sf.models.KMap(2), population="everybody.csv")
    table = pa.table({"age": ["30", "40"], "ill": ["flu", "flu"]})
    found = sf.verify(table, policy, population=people(2), outside=people(1))
    assert [each.posterior for each in found.attacks if each.attack == "linking"] == [1.0, 1.0]
    assert not found.holds
    assert sf.verify(table, policy, population=people(2)).holds


def test_categories_of_promises_say_what_is_alike():
    rows = {"age": ["30"] * 3 + ["40"] * 3, "ill": ["hiv", "cancer", "hiv", "flu", "gout", "hiv"]}
    model = sf.models.PAlphaSensitiveKAnonymity(
        "ill", p=2, alpha=0, k=3, categories=[["hiv", "cancer"], ["flu", "gout"]]
    )
    policy = policy_of(model)
    for what in (pa.table(rows), sf.anonymize(pa.table(rows), policy)):
        [found] = [e for e in sf.verify(what, policy).attacks if e.attack == "similarity"]
        # Two in three of all are of that kind: that a class is so throughout was to be guessed.
        assert (found.moderate, found.posterior, found.prior) == (3, 1.0, pytest.approx(4 / 6))
        assert "is one of 'hiv', 'cancer'" in found.worst[0].believed
    held = sf.verify(sf.anonymize(pa.table(rows), policy)).attack("similarity")
    assert held.moderate == 3


def test_one_row_is_its_persons():
    found = sf.verify(pa.table({"age": ["30"], "ill": ["flu"]}), **ROLES)
    assert (found.attack("linking").people, found.attack("linking").prior) == (1, 0.0)
    assert not found.holds


def test_a_list_of_one_person_is_a_list():
    table = pa.table({"age": ["[30, 40[", "[40, 50[", "[40, 50["], "ill": ["flu", "flu", "gout"]})
    bob = pa.table({"name": ["Bob"], "age": [31]})
    _, journalist = (
        each for each in sf.verify(table, **ROLES, outside=bob).attacks if each.attack == "linking"
    )
    assert (journalist.people, journalist.posterior) == (1, 1.0)
    assert journalist.worst[0].believed == "the row is of Bob, 31"


def test_a_missing_label_may_be_anybodys_of_a_list():
    table = pa.table({"age": [None, "30"], "zip": ["1", "2"], "ill": ["flu", "gout"]})
    people = pa.table({"age": ["30", "31", "40"], "zip": ["1", "2", "2"]})
    roles = {"quasi_identifiers": ["age", "zip"], "sensitive": ["ill"]}
    _, journalist = (
        each
        for each in sf.verify(table, **roles, outside=people).attacks
        if each.attack == "linking"
    )
    assert journalist.worst[0].who == {"age": None, "zip": "1"}
    assert journalist.people == 1


@pytest.mark.parametrize("categorical", [True, False])
def test_intervals_of_pandas_are_labels(categorical):
    pd = import_module("pandas")
    ages = pd.cut([21, 22, 33, 34, float("nan")], [20, 30, 40])
    frame = pd.DataFrame({"age": ages, "ill": ["flu", "gout", "hiv", "hiv", "flu"]})
    if not categorical:
        frame["age"] = pd.arrays.IntervalArray(list(frame["age"].astype(object)))
    found = sf.verify(frame, **ROLES, data=pd.DataFrame({"age": [21, 22, 33, 34]}))
    [case] = [c for c in found.attack("homogeneity").worst if c.people == 2 and c.posterior == 1]
    assert case.who["age"] in ("(30, 40]", "(30.0, 40.0]")
    assert found.attack("membership").worst[0].people == 4
    assert sf.explain(frame, {"age": 33}, **ROLES).belief().certain == "hiv"


def test_intervals_of_pandas_stay_what_they_are_and_can_be_published():
    pd = import_module("pandas")
    frame = pd.DataFrame({"age": pd.cut([21, 22, 33, 34], [20, 30, 40]), "ill": list("abcd"), 7: 1})
    before = frame.copy()
    columns = {"age": "quasi-identifier", "ill": "sensitive", "7": "dropped"}
    policy = sf.Policy(columns=columns, models=[sf.models.KAnonymity(2)])
    release = sf.anonymize(frame, policy)
    assert sorted(release.table["age"]) == ["(20, 30]"] * 2 + ["(30, 40]"] * 2
    pd.testing.assert_frame_equal(frame, before)


def test_nearly_certain_is_not_written_as_certain():
    rows = {"age": ["30"] * 2500 + ["40"] * 2500, "ill": ["hiv"] * 2499 + ["flu"] * 2501}
    found = sf.verify(pa.table(rows), **ROLES).attack("probabilistic-inference")
    # Half of all have hiv, by a hair: of them it is very high, and comes first.
    assert found.worst[0].posterior == 0.9996
    assert str(found.worst[0]) == "age=30 (2\u202f500): ill = hiv, 50 % before, >99 % after"


def test_a_table_that_promises_nothing_breaks_nothing():
    table = pa.table({"age": ["30"] * 4, "ill": list("abcd")})
    found = sf.verify(table, **ROLES)
    assert str(found).splitlines() == [
        "May it be published? Yes. None of 4 people is at risk.",
        "People at risk, by what is known of them:",
        "  Who knows age: 0 of 4 people at risk",
        "Why:",
        "  Nothing is promised and no attack puts any person at risk",
    ]
    assert found.why == ("nothing is promised and no attack puts any person at risk",)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"sensitive": "ill"}, "sensitive must be a list of column names, got 'ill'"),
        ({"quasi_identifiers": 3}, "quasi_identifiers must be a list of column names, got 3"),
        (
            {"quasi_identifiers": [3]},
            r"quasi_identifiers must be a list of column names, got \[3\]",
        ),
        (
            {"policy": 3},
            "policy must be a policy, the path of a policy file, or a mapping .*, got 3",
        ),
        ({"attacks": [3]}, "no attack '?3"),
        ({"outside": pa.table({"x": [1]})}, r"outside must be a list with some of the columns"),
    ],
)
def test_requests_that_cannot_be_meant_are_answered(settings, words):
    with pytest.raises(SfumatoError, match=words):
        sf.verify(pa.table(STARRED), **{**ROLES, **settings})


def test_attacks_of_one_kind_are_told_apart():
    found = sf.verify(pa.table(STARRED), **ROLES, outside=people(1), attacks=["linking"])
    assert [each.title for each in found.attacks] == [
        "linking(view=prosecutor)",
        "linking(view=journalist)",
    ]


@pytest.mark.parametrize("attacks", [[], None, ()])
def test_no_attack_at_all_is_asked_for_by_false(attacks):
    with pytest.raises(ParameterError, match="attacks must be True, False, or a list of names"):
        sf.verify(pa.table(STARRED), **ROLES, attacks=attacks)


def test_rows_that_may_be_the_same_hide_each_other_from_a_list():
    rows = {"age": [None, "30", "30", None, "31"], "zip": ["1", "1", None, None, "1"]}
    columns = {"age": "quasi-identifier", "zip": "quasi-identifier"}
    policy = sf.Policy(columns=columns, models=[sf.models.KAnonymity(2)], missing="matches-any")
    listed = pa.table({"age": ["30", "31"], "zip": ["1", "1"]})
    found = sf.verify(pa.table(rows), policy, outside=listed, attacks=["linking"])
    _, journalist = found.attacks
    # One of the list fits 30 in zip 1, and so do four rows; 31 in zip 1 fits three. Both of the
    # list fit the row without an age, which two rows hide if its person has another age.
    assert journalist.posterior == 0.5
    assert journalist.people == 0


@given(
    records=st.lists(
        st.tuples(
            st.sampled_from(["a", "b", None]),
            st.sampled_from(["c", "d", None]),
            st.sampled_from(["flu", "hiv", "gout", None]),
        ),
        min_size=1,
        max_size=12,
    )
)
def test_rows_with_gaps_are_attacked_where_they_are_worst(records):
    """An adversary who goes through all that the person of a row may have."""
    names = ("x", "y", "ill")
    table = pa.table(
        {n: pa.array([r[i] for r in records], pa.string()) for i, n in enumerate(names)}
    )
    columns = {"x": "quasi-identifier", "y": "quasi-identifier", "ill": "sensitive"}
    policy = sf.Policy(columns=columns, models=[sf.models.KAnonymity(2)], missing="matches-any")
    target = target_of(open_release(table, policy))
    known = [ill for *_, ill in records if ill is not None]
    priors = {ill: known.count(ill) / len(known) for ill in set(known)}
    guesses = ProbabilisticInference("ill").find(target)
    for at in range(len(target.classes)):
        row = tuple(target.who(at).values())
        cells = [[*"abcd", "elsewhere"] if cell is None else [cell] for cell in row]
        found = [
            [r for r in records if all(c in (None, k) for c, k in zip(r[:2], whole, strict=True))]
            for whole in product(*cells)
        ]
        assert target.classes.sizes[at] == min(map(len, found))
        assert target.classes.rows[at] == sum(r[:2] == row for r in records)
        harms = []
        for rows in found:
            ills = [ill for *_, ill in rows if ill is not None]
            for ill in set(ills):
                share = ills.count(ill) / len(ills)
                level = HarmRule().levels(np.array([priors[ill]]), np.array([share]))[0]
                harms.append((level, share))
        worst = max(harms, default=(0, 0.0))
        counts = target.classes.counts_of("ill").known
        mine = counts.class_id == at
        shares = counts.rows[mine] / max(counts.totals[at], 1)
        before = np.array(
            [priors[target.counts.column("ill").values[v]] for v in counts.value[mine]]
        )
        levels = HarmRule().levels(before, shares)
        picked = max(zip(levels, shares, strict=True), default=(0, 0.0))
        assert picked == (worst[0], pytest.approx(worst[1]))
        assert guesses.posterior[at] == pytest.approx(shares.max(initial=0.0))


def test_who_left_the_postcode_out_is_found_by_who_knows_it():
    """Two of 30 at 24064, two at 24065, and one who may live at 24099."""
    postcodes = ["24064", "24064", "24065", "24065", None]
    table = pa.table({"age": ["30"] * 5, "zip": postcodes, "ill": ["flu", "a", "b", "flu", "hiv"]})
    columns = {"age": "quasi-identifier", "zip": "quasi-identifier", "ill": "sensitive"}
    policy = sf.Policy(columns=columns, models=[sf.models.KAnonymity(3)], missing="matches-any")
    found = sf.verify(table, policy)
    assert (found.answer, found["k-anonymity"].found) == ("no", {"k": 1})
    assert found.attack("linking").worst[0].who == {"age": "30", "zip": None}
    release = sf.anonymize(table, policy)
    assert release.verdict["k-anonymity"].found == {"k": 5}


def test_rows_of_stars_do_not_hide_who_is_in_the_data():
    data = pa.table({"age": ["30", "31", "40"], "zip": ["1", "2", "3"]})
    shown = {"age": ["30", "31", "40"], "zip": ["1", "2", "3"], "ill": ["flu", "flu", "gout"]}
    starred = {name: [*values, "*" if name != "ill" else "flu"] for name, values in shown.items()}
    roles = {"quasi_identifiers": ["age", "zip"], "sensitive": ["ill"]}
    for rows in (shown, starred):
        found = sf.verify(pa.table(rows), **roles, data=data).attack("membership")
        assert (found.posterior, found.people) == (1.0, 3)


@pytest.mark.parametrize("method", ["break-merge", {"method": "anatomy", "l": 2}, "bucketization"])
def test_roles_of_a_decoupled_release_are_its_own(method):
    rows = {"age": ["30"] * 4 + ["40"] * 4, "ill": list("abcdabcd")}
    release = sf.decouple(pa.table(rows), method, **ROLES)
    assert sf.verify(release, **ROLES).holds
    for wrong in ({"sensitive": []}, {"sensitive": ["age"]}):
        with pytest.raises(ParameterError, match="its roles decide how a table is decoupled"):
            sf.verify(release, **{**ROLES, **wrong})
    with pytest.raises(sf.SfumatoError, match="no column 'nope' in the published tables"):
        sf.verify(release, **{**ROLES, "quasi_identifiers": ["nope"]})


def test_a_list_is_no_use_where_buckets_hold_people_who_look_different():
    rows = {"age": ["30"] * 4 + ["40"] * 4, "ill": list("abcdabcd")}
    release = sf.decouple(pa.table(rows), {"method": "anatomy", "l": 2}, **ROLES)
    found = sf.verify(release, outside=pa.table({"age": ["30"]})).attack("linking")
    assert not found.tried
    with pytest.raises(SfumatoError, match="there is no file"):
        sf.verify(release, outside="nowhere.csv")


def test_settings_of_any_type_are_written_as_json():
    days = [date(2020, 1, 1), date(2020, 1, 2), date(2021, 1, 1), date(2021, 1, 2)]
    table = pa.table({"age": ["30", "30", "40", "40"], "ill": days})
    model = sf.models.PAlphaSensitiveKAnonymity(
        "ill", p=2, alpha=0, k=2, categories=[days[:2], days[2:]]
    )
    tried = ["similarity", BackgroundKnowledge("ill", known_not=[days[0]])]
    found = sf.verify(table, policy_of(model), attacks=tried)
    plain = json.loads(json.dumps(found.to_dict()))
    assert plain["attacks"][0]["settings"]["categories"][0] == ["2020-01-01", "2020-01-02"]
    assert plain["attacks"][1]["settings"]["known_not"] == ["2020-01-01"]


DULL = {"sfumato", "seed", "versions", "files"}
DIRTY = [None, "x", {"a": 1}, [[1]]]


def places(value, before=()):
    yield before
    if isinstance(value, dict | list):
        keys = list(value) if isinstance(value, dict) else range(len(value))
        for key in keys:
            yield from places(value[key], (*before, key))


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("dirt", DIRTY, ids=str)
def test_a_manifest_with_anything_in_it_is_judged_or_refused(tmp_path, dirt, some):
    table = pa.table({"age": ["30", "30", "40", "40"], "ill": ["hiv", "flu", "gout", "cancer"]})
    model = sf.models.PAlphaSensitiveKAnonymity(
        "ill", p=2, alpha=0, k=2, categories=[["hiv", "cancer"], ["flu", "gout"]]
    )
    good, bad = tmp_path / "good", tmp_path / "bad"
    sf.anonymize(table, policy_of(model), output=good)
    shutil.copytree(good, bad)
    manifest = json.loads((good / "manifest.json").read_text(encoding="utf-8"))
    every = [each for each in places(manifest) if each and each[0] not in DULL]
    # Each place meets one kind of dirt at least, and all of them in the full lane.
    step = some(4, of=1)
    for place in every[DIRTY.index(dirt) % step :: step]:
        changed = deepcopy(manifest)
        inside = changed
        for key in place[:-1]:
            inside = inside[key]
        inside[place[-1]] = dirt
        (bad / "manifest.json").write_text(json.dumps(changed), encoding="utf-8")
        for judge in (
            lambda: sf.verify(bad),
            lambda: sf.explain(bad, {"age": "30"}),
            lambda: sf.diff(good, bad),
        ):
            # Anything else would be a fault of ours.
            with suppress(SfumatoError):
                judge()
