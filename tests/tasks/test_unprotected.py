"""Columns that nothing protects: who is named by them, who becomes rare, and what is answered."""

from collections import Counter
from datetime import date, timedelta
from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.counts import FrequencySet
from sfumato.drafting.guess import identifying
from sfumato.drafting.unprotected import KnownColumns, search_sets
from sfumato.tables import open_table

RNG = np.random.default_rng(20)
N = 240
SEXES = ["f", "m"] * (N // 2)
ILLS = ["flu", "gout", "cough", "ulcer"] * (N // 4)
HARMLESS = {"age": ["[20, 50)"] * N, "ill": [ILLS[i // 2 % 4] for i in range(N)]}
"""One large class, and illnesses that nothing tells: alone they are published with a yes."""


def judged(**columns):
    table = pa.table({**HARMLESS, **columns})
    return sf.verify(table, quasi_identifiers=["age"], sensitive=["ill"])


def kinds(found):
    return {(each.kind, each.columns) for each in found.columns}


def spread(values, n=N):
    return [values[i % len(values)] for i in range(n)]


def days(first, last):
    start, end = date(first, 1, 1), date(last, 12, 31)
    return [start + timedelta(int(i)) for i in RNG.choice((end - start).days, N, replace=False)]


GIVEN = ["Ann", "Peter", "Rosa", "Wim", "Jorge", "Chloé", "Uwe", "Mia", "Igor", "Ngozi"]
FAMILY = ["Smith", "Öztürk", "García", "Lefèvre", "Okafor", "Weiß", "Rossi", "Kim", "Novák", "Ek",
          "Brandt", "Silva", "Mori", "Dahl", "Petit", "Costa", "Hahn", "Vega", "Lund", "Bell",
          "Frank", "Roy", "Diallo", "Haas"]  # fmt: skip
FULL_NAMES = [f"{given} {family}" for given in GIVEN for family in FAMILY]

NAMES_PEOPLE = {
    "full names": FULL_NAMES,
    "family name first": [f"{family}, {given}" for given in GIVEN for family in FAMILY],
    "given names": spread(["Anna", "Peter", "Maria", "Karl", "Susan", "Luis"]),
    "e-mail addresses": [f"user{i}@mail.example" for i in range(N)],
    "telephone numbers": [f"0171 {2345678 + 13 * i}" for i in range(N)],
    "American telephone numbers": [f"555-{100 + i}-{1000 + 7 * i}" for i in range(N)],
    "account numbers": [f"DE{10 + i % 80}5001051754073{24931 + i:05d}" for i in range(N)],
    "Spanish numbers": [f"{10_000_000 + 977 * i}{'TRWAGMYFPD'[i % 10]}" for i in range(N)],
    "British numbers": [f"QQ {10 + i % 80} {10 + i // 80} 56 C" for i in range(N)],
    "Danish numbers": [f"{10 + i % 18}0{1 + i % 9}{50 + i % 50}-{1000 + i}" for i in range(N)],
    "UUIDs": [f"123e4567-e89b-12d3-a456-4266141{i:05d}" for i in range(N)],
    "hashes": [f"{i * 7919:032x}" for i in range(N)],
    "URLs": [f"https://example.org/u/{i}" for i in range(N)],
    "handles": [f"@user_{i}" for i in range(N)],
    "a sequence": list(range(1, N + 1)),
    "a shuffled sequence as text": [str(i) for i in RNG.permutation(N) + 5000],
    "a sequence with gaps": [3 * i + i % 2 for i in range(N)],
    "numbers without repeats": RNG.choice(10**7, N, replace=False),
    "codes": [f"K{i:04d}/{i % 7}" for i in range(N)],
    "dates of birth": days(1921, 2004),
    "dates of birth, day first": [f"{d.day:02d}.{d.month:02d}.{d.year}" for d in days(1921, 2004)],
    "positions": [f"{48 + i / 1234:.5f}, {11 + i / 987:.5f}" for i in range(N)],
    "letters": [
        f"Her brother drives her to the {i}th visit, and she is worried about it" for i in range(N)
    ],
}


@pytest.mark.parametrize("what", NAMES_PEOPLE)
def test_what_names_people_is_refused_whatever_the_column_is_called(what):
    found = judged(x7=NAMES_PEOPLE[what])
    assert found.answer == "no"
    assert not found.holds
    assert ("identifier", ("x7",)) in kinds(found)
    assert any("'x7' names people" in why for why in found.why)


CALLED = {
    "Name": spread(FULL_NAMES[::7]),
    "nom": spread(["Petit", "Roux", "Lang", "Blin", "Caron", "Duval"]),
    "apellidos": spread(["Vega", "Soto", "Rey", "Mora", "Cano", "Prieto"]),
    "Nachname": spread(["Voss", "Thiel", "Kern", "Busch", "Sauer", "Pohl"]),
    "Patientennr": [7 * i + i % 3 for i in range(N)],
    "Versichertennummer": [f"{i * 31 % 997}x" for i in range(N)],
    "lfd_nr": list(range(N)),
    "patient_id": [i // 2 for i in range(N)],
    "numéro de dossier": [f"{i}" for i in RNG.permutation(10**5)[:N]],
    "matricule": [i * 11 for i in range(N)],
    "cédula": [i * 17 for i in range(N)],
    "Geburtsdatum": days(1990, 1994),
    "date_of_death": days(2019, 2020),
    "fecha de nacimiento": days(1950, 1960),
    "date de décès": [d.isoformat() for d in days(2019, 2020)],
    "birth": [f"{d:%Y%m%d}" for d in days(1950, 1960)],
    "lat": [48 + i / 1237 for i in range(N)],
    "Längengrad": [f"{8 + i / 977:.4f}" for i in range(N)],
}


@pytest.mark.parametrize("name", CALLED)
def test_what_a_name_says_in_four_languages_is_believed_if_the_values_bear_it_out(name):
    assert judged(**{name: CALLED[name]}).answer == "no"
    assert ("identifier", (name,)) in kinds(judged(**{name: CALLED[name]}))


NAMES_NOBODY = {
    "x7": RNG.normal(70, 12, N),
    "fnlwgt": RNG.integers(10_000, 900_000, N),
    "weight": RNG.integers(10_000, 900_000, N),
    "gewicht": RNG.gamma(2.0, 500.0, N),
    "creatinine": [f"{value:.2f}" for value in RNG.normal(1, 0.2, N)],
    "dose": [f"<{value:.3f}" if value < 1 else f"{value:.3f}" for value in RNG.normal(1, 0.2, N)],
    "price": [f"{value:,.2f} €" for value in RNG.normal(5000, 900, N)],
    "admitted": days(2019, 2020),
    "visited": days(2019, 2020),
    "year of birth": RNG.integers(1930, 2000, N),
    "phone": spread(["yes", "no"]),
    "mail": spread(["yes", "no", "unknown"]),
    "hospital name": spread([f"Hospital {i}" for i in range(40)]),
    "doctor_id": spread(list(range(40))),
    "user": spread(["new", "returning"]),
    "ward": spread(["A", "B", "C"]),
    "city": spread(["Florence", "Sydney", "Charlotte", "Paris", "Victoria"]),
    "treatment": spread(["Heart Surgery", "Hip Replacement", "Watchful Waiting"]),
    "month": spread([f"2020-{month:02d}-01" for month in range(1, 13)]),
}


@pytest.mark.parametrize("name", NAMES_NOBODY)
def test_what_names_nobody_is_no_identifier(name):
    found = judged(**{name: NAMES_NOBODY[name]})
    assert found.answer != "yes"
    assert not any(each.kind == "identifier" for each in found.columns)


def test_names_in_a_table_of_a_few_rows_are_seen_and_illnesses_are_no_names():
    few = {
        "who": ["Bob", "Carl", "Daisy", "Emily"],
        "what": ["Flu", "Heart Disease", "Gout", "Flu"],
    }
    domains = open_table(pa.table(few)).domains(["who", "what"])
    assert "names of people" in identifying(domains["who"])
    assert identifying(domains["what"]) is None


def test_the_raw_file_with_names_is_refused_though_only_two_columns_were_named():
    # The file of the review: id, name and date of birth beside sex and diagnosis.
    table = pa.table({
        "id": list(range(N)), "name": FULL_NAMES, "born": days(1930, 2000), "sex": SEXES,
        "diagnosis": ILLS,
    })  # fmt: skip
    found = sf.verify(table, quasi_identifiers=["sex"], sensitive=["diagnosis"])
    assert found.answer == "no"
    assert {each.columns for each in found.named} == {("id",), ("name",), ("born",)}


# How many people become rare, against counting by hand.

ROWS = st.lists(
    st.tuples(*(st.sampled_from("ab"), st.sampled_from([1, 2, None]), st.sampled_from("xyz"),
                st.integers(0, 6))),
    min_size=1, max_size=30,
)  # fmt: skip


def rare_by_hand(rows, qi, others, least):
    """Everybody in a small group of those who share everything known, and in a large class."""
    classes = Counter(tuple(row[at] for at in qi) for row in rows)
    groups = Counter(tuple(row[at] for at in (*qi, *others)) for row in rows)
    found = [
        groups[tuple(row[at] for at in (*qi, *others))]
        for row in rows
        if classes[tuple(row[at] for at in qi)] >= least
    ]
    return sum(size < least for size in found), sum(size == 1 for size in found)


@given(ROWS, st.integers(2, 5))
def test_the_people_who_become_rare_are_those_counted_by_hand(rows, least):
    counts = FrequencySet.from_rows(["q", "a", "b", "c"], rows)
    known = KnownColumns(counts, ["q"], ["a", "b", "c"], least)
    for size in (1, 2, 3):
        for subset in combinations(range(3), size):
            rare = known.rare(subset)
            by_hand = rare_by_hand(rows, [0], [at + 1 for at in subset], least)
            assert (rare.people, rare.alone) == by_hand


@given(ROWS)
def test_no_set_makes_more_people_rare_than_all_columns_together(rows):
    known = KnownColumns(FrequencySet.from_rows(["q", "a", "b", "c"], rows), ["q"], "abc", 3)
    searched = search_sets(known)
    assert not searched.left
    assert all(rare.people <= known.most for rare in searched.found.values())


def test_with_little_work_the_worst_sets_are_still_found_and_the_rest_is_named():
    wide = {f"c{i}": RNG.integers(0, 2, 300) for i in range(40)}
    # Two columns that tell little apart and everything together.
    place = RNG.permutation(300)
    wide |= {"row": place // 18, "seat": place % 18, "all": np.zeros(300, dtype=int)}
    names = list(wide)
    counts = open_table(pa.table(wide)).count(names)
    searched = search_sets(KnownColumns(counts, ["all"], names[:-1], 2), work=900 * 16_300)
    [worst] = searched.worst(2)[:1]
    assert {names[at] for at in worst} == {"row", "seat"}
    assert searched.found[worst].alone == 300
    assert 3 in searched.left


# A policy that says why, and everything that shows it.

MODELS = [{"model": "k-anonymity", "k": 5}]


def policy(**columns):
    return sf.Policy(
        columns={"age": "quasi-identifier", "ill": "sensitive", **columns}, models=MODELS
    )


TABLE = pa.table({**HARMLESS, "name": FULL_NAMES, "ward": spread(["A", "B", "C"])})


def test_a_column_of_which_many_people_share_every_value_is_no_finding():
    meant = {"role": "plain", "because": "on the door"}
    release = sf.anonymize(TABLE.drop_columns(["name"]), policy(ward=meant))
    assert release.unprotected == ()
    assert sf.verify(release).columns == ()


def test_names_that_are_called_plain_are_a_loud_warning_and_a_no(tmp_path):
    release = sf.anonymize(TABLE, policy(name="plain", ward="plain"), output=tmp_path / "out")
    assert any("'name' names people" in text for text in release.warnings)
    assert "Warning: 'name' names people" in str(release)
    found = sf.verify(tmp_path / "out")
    assert found.answer == "no"
    assert found.why[0].startswith("'name' names people")
    assert "role identifier" in found.why[0]


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize(
    "rule",
    [
        {"role": "plain", "because": "they gave written consent"},
        {"plain": {"because": "they gave  written\nconsent"}},
    ],
)
def test_what_is_meant_is_shown_as_accepted_with_the_reason_and_never_more_than_with_care(
    rule, tmp_path
):
    said = policy(name=rule, ward="plain")
    assert sf.Policy.from_yaml(said.to_yaml()) == said
    release = sf.anonymize(TABLE, said, output=tmp_path / "out")
    # The manifest repeats the reason, but accepts nothing in place of the reader.
    alone = sf.verify(tmp_path / "out")
    assert alone.answer == "no"
    assert "its manifest says: they gave written consent" in alone.why[0]
    assert "-p policy.yaml" in alone.why[0]
    # A name that is published is known, too: whoever knows it reads off what the person has.
    whole = sf.verify(tmp_path / "out", said)
    assert (whole.answer, whole.at_risk) == ("no", N)
    # Where the policy says that nobody knows more than the quasi-identifiers, the name is left.
    found = sf.verify(tmp_path / "out", said.replace(against=("quasi-identifiers",)))
    assert (found.answer, found.at_risk) == ("with care", 0)
    assert {each.because for each in found.columns} == {"they gave written consent"}
    assert all(each.accepted for each in found.columns)
    assert "accepted, because they gave written consent" in found.why[0]
    assert any("accepted, because" in text for text in release.warnings)


def test_a_reason_belongs_to_plain_columns_and_says_something():
    with pytest.raises(sf.errors.PolicyError, match="'because' means nothing for a column that is"):
        policy(name={"role": "identifier", "because": "it is a name"})
    with pytest.raises(sf.errors.PolicyError, match="must say why"):
        policy(name={"role": "plain", "because": "  "})


def test_a_column_that_singles_out_is_told_with_the_number_of_people():
    weights = TABLE.drop_columns(["name"]).append_column("wgt", pa.array(RNG.gamma(2, 9, N)))
    found = sf.verify(sf.anonymize(weights, policy(ward="plain", wgt="plain")))
    # Whoever knows a weight to the gram finds the row, and reads off what is secret.
    assert (found.answer, found.at_risk) == ("no", N)
    [alone] = [each for each in found.columns if each.columns == ("wgt",)]
    assert (alone.kind, alone.people, alone.of, alone.alone, alone.k) == (
        *("singles out", N, N, N, 1),
    )
    assert f"finds {N} of {N} people for certain" in str(alone)


def test_who_falls_below_the_promised_size_is_counted_too():
    # Every value is shared by three people: none is alone, and k is no longer 5.
    thirds = pa.table({**HARMLESS, "door": [i // 3 for i in range(N)]})
    found = sf.verify(sf.anonymize(thirds, policy(door="plain")))
    [few] = [each for each in found.columns if each.kind == "singles out"]
    assert (few.people, few.alone, few.least, few.k) == (N, 0, 5, 3)
    assert f"{N} of {N} people in groups of fewer than 5" in str(few)


def test_two_columns_that_single_out_only_together_are_found():
    place = RNG.permutation(N)
    seats = pa.table({**HARMLESS, "row": place // 16, "seat": place % 16})
    found = sf.verify(sf.anonymize(seats, policy(row="plain", seat="plain")))
    [pair] = [each for each in found.columns if len(each.columns) == 2]
    assert (pair.columns, pair.alone) == (("row", "seat"), N)


def test_a_column_without_a_role_is_listed_and_never_a_yes():
    found = judged(ward=spread(["A", "B", "C"]))
    assert found.answer == "with care"
    assert kinds(found) == {("no role", ("ward",))}
    assert "no role says what 'ward' is" in found.why[0]


def test_names_that_are_called_sensitive_are_published_as_they_are_and_refused():
    columns = {"age": "quasi-identifier", "ill": "sensitive", "name": "sensitive"}
    found = sf.verify(
        TABLE.drop_columns(["ward"]), {"columns": columns, "models": MODELS}, attacks=False
    )
    assert found.answer == "no"
    assert kinds(found) == {("identifier", ("name",))}
    # A figure of its own for everybody is what such a column is for.
    pays = pa.table({**HARMLESS, "x9": RNG.choice(10**6, N, replace=False)})
    roles = {**columns, "x9": "sensitive"}
    del roles["name"]
    found = sf.verify(pays, {"columns": roles, "models": MODELS}, attacks=False)
    assert not found.columns


def test_what_is_called_like_something_sensitive_is_not_silently_plain():
    found = sf.verify(pa.table({**HARMLESS, "hiv": spread(["yes", "no"])}), policy(hiv="plain"))
    assert found.answer == "with care"
    assert "'hiv' looks like health by its name, and nothing protects it" in found.why[0]


@pytest.mark.usefixtures("patience")
def test_every_form_of_the_answer_shows_the_columns(tmp_path):
    from sfumato.reports.verdicts import FORMATS, format_assessment

    release = sf.anonymize(TABLE, policy(name="plain", ward="plain"), output=tmp_path / "out")
    found = sf.verify(release)
    forms = {form: format_assessment(found, form) for form in FORMATS}
    for form, text in forms.items():
        assert "name" in text, form
        assert "identifier" in text, form
    assert '<testsuite name="columns"' in forms["junit"]
    assert '"ruleId": "column/identifier"' in forms["sarif"]
    assert '"columns": [' in forms["json"]
    page = sf.report(release).to_html()
    assert "What columns give away that nothing protects" in page
    # No value of a person stands in any of them.
    values = [value for value in FULL_NAMES if any(value in text for text in forms.values())]
    assert not values
    assert not any(value in page for value in FULL_NAMES)
