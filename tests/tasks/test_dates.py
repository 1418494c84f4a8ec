"""Dates in any order through whole tasks: the same people, the same release."""

import random
import re
from datetime import date, timedelta

import pandas as pd
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import InputError, SfumatoError

WAYS = {
    "iso": "%Y-%m-%d",
    "german": "%d.%m.%Y",
    "us": "%m/%d/%Y",
    "named": "%d %b %Y",
    "compact": "%Y%m%d",
    "slashes": "%Y/%m/%d",
}


def people(form: str | None, n: int = 400) -> pa.Table:
    draw = random.Random(5)
    born = [date(1930, 1, 1) + timedelta(days=draw.randrange(20_000)) for _ in range(n)]
    texts = (
        [None if i % 17 == 0 else day.strftime(form) for i, day in enumerate(born)]
        if form
        else [None if i % 17 == 0 else day for i, day in enumerate(born)]
    )
    return pa.table(
        {
            "born": texts,
            "sex": [draw.choice("fm") for _ in range(n)],
            "ill": [draw.choice(["flu", "gout", "hiv"]) for _ in range(n)],
        }
    )


def policy(**born: object) -> sf.Policy:
    rule = {"role": "quasi-identifier", "hierarchy": {"kind": "dates"}, **born}
    return sf.Policy(
        columns={"born": rule, "sex": "quasi-identifier", "ill": "sensitive"},
        models=[{"model": "k-anonymity", "k": 3}],
        suppression="5%",
    )


def csv_of(release_folder) -> bytes:
    return (release_folder / "data.csv").read_bytes()


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("levels", [None, [0, 0], [3, 4]])
def test_files_in_every_spelling_give_the_same_release(tmp_path, levels):
    asked = policy() if levels is None else policy(levels=levels)
    if levels == [0, 0]:
        asked = asked.replace(suppression=1.0)
    written = {}
    for name, form in WAYS.items():
        file = tmp_path / f"{name}.csv"
        people(form).to_pandas().to_csv(file, index=False)
        sf.anonymize(file, asked, output=tmp_path / name, seed=3)
        written[name] = csv_of(tmp_path / name)
    assert len({*written.values()}) == 1, written


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("method", ["full-domain", "bottom-up", "top-down", "mondrian", "mdav"])
def test_tables_in_memory_give_the_same_labels(method):
    made = [
        sf.anonymize(table, policy(), method=method, seed=3).table["born"]
        for form in ("%Y-%m-%d", "%d.%m.%Y")
        for table in (people(form), people(form).to_pandas())
    ]
    texts = [
        ["" if pd.isna(v) else str(v) for v in column] for column in (pd.Series(m) for m in made)
    ]
    assert all(each == texts[0] for each in texts[1:])


def test_two_spellings_of_one_day_are_one_value():
    table = pa.table(
        {"born": ["13.01.1937", "1937-01-13", "13 Jan 1937", "13/1/1937"], "n": [1] * 4}
    )
    release = sf.anonymize(
        table,
        {
            "columns": {
                "born": {"role": "quasi-identifier", "hierarchy": {"kind": "dates"}},
                "n": "plain",
            },
            "models": [{"model": "k-anonymity", "k": 4}],
        },
        seed=1,
    )
    assert release.table["born"].to_pylist() == ["1937-01-13"] * 4


def test_a_sensitive_or_plain_column_of_dates_is_normalised_where_the_policy_says_so():
    table = people("%d.%m.%Y").append_column("seen", people("%m/%d/%Y")["born"])
    asked = policy(dates="day-first")
    asked = asked.replace(
        columns={**asked.columns, "seen": {"role": "plain", "dates": "month-first"}}
    )
    release = sf.anonymize(table, asked, seed=1)
    assert {*release.table["seen"].to_pylist()} == {*people("%Y-%m-%d")["born"].to_pylist()}


def test_dates_of_arrow_and_pandas_work_as_before():
    plain = sf.anonymize(people(None), policy(), seed=3).table["born"].to_pylist()
    assert plain == sf.anonymize(people("%d.%m.%Y"), policy(), seed=3).table["born"].to_pylist()


def test_an_ambiguous_column_is_refused_with_both_readings_and_a_policy_settles_it():
    table = pa.table(
        {
            "born": ["01.02.1937", "03.04.1938", "01.02.1937"],
            "sex": ["f", "m", "f"],
            "ill": ["flu", "flu", "gout"],
        }
    )
    with pytest.raises(
        InputError, match=r"read in two ways.*1937-02-01; month first.*dates: day-first"
    ):
        sf.anonymize(table, policy())
    for order, expected in (
        ("day-first", "1937-02-01"),
        ("month-first", "1937-01-02"),
        ("dd.mm.yyyy", "1937-02-01"),
        ("%m.%d.%Y", "1937-01-02"),
    ):
        asked = policy(dates=order, levels=[0, 0]).replace(
            models=[{"model": "k-anonymity", "k": 2}], suppression=1
        )
        assert expected in sf.anonymize(table, asked).table["born"].to_pylist()


def test_bad_dates_are_named_with_their_rows():
    table = pa.table(
        {"born": ["13.01.1937"] * 5 + ["soon"] * 2, "sex": ["f"] * 7, "ill": ["flu"] * 7}
    )
    for asked in (policy(), policy(dates="day-first")):
        with pytest.raises(InputError, match=r"'born' does not hold dates.* in 2 rows: 'soon'"):
            sf.anonymize(table, asked)


def test_two_digit_years_are_refused_unless_told():
    table = people("%d.%m.%y")
    with pytest.raises(InputError, match=r"years of two digits in \d+ rows.*pivot: 30"):
        sf.anonymize(table, policy())
    told = sf.anonymize(table, policy(dates={"order": "day-first", "pivot": 10}), seed=3)
    clean = sf.anonymize(people("%Y-%m-%d"), policy(), seed=3)
    assert told.table == clean.table


@pytest.mark.usefixtures("patience")
def test_names_alone_are_enough_to_read_dates():
    asked = {"quasi_identifiers": ["born", "sex"], "sensitive": ["ill"], "k": 3, "plain": ()}
    one, other = (sf.anonymize(people(form), seed=3, **asked) for form in ("%Y-%m-%d", "%d.%m.%Y"))
    assert one.table == other.table
    with pytest.raises(SfumatoError, match="two ways"):
        sf.anonymize(
            pa.table({"born": ["01.02.1937", "03.04.1938", "05.06.1939"] * 3}),
            quasi_identifiers=["born"],
        )


def test_partial_dates_keep_what_is_known_of_them():
    born = ["1937", "01.1937", "13.01.1937", "14.02.1937", "1938-05-01", "1938"] * 2
    table = pa.table({"born": born, "sex": ["f"] * 12, "ill": ["flu"] * 12})
    labels = {
        level: {
            *sf.anonymize(
                table,
                policy(
                    levels=[level, level],
                    hierarchy={"kind": "dates", "levels": ["month", "quarter", "year"]},
                ).replace(models=[{"model": "k-anonymity", "k": 2}]),
            )
            .table["born"]
            .to_pylist()
        }
        for level in range(4)
    }
    assert labels == {
        0: {"1937", "1937-01", "1937-01-13", "1937-02-14", "1938-05-01", "1938"},
        1: {"1937", "1937-01", "1937-02", "1938-05", "1938"},
        2: {"1937", "1937 Q1", "1938 Q2", "1938"},
        3: {"1937", "1938"},
    }


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize(
    ("form", "said"),
    [
        ("%d.%m.%Y", "day-first"),
        ("%m/%d/%Y", "month-first"),
        ("%Y-%m-%d", None),
        ("%d.%m.%y", None),
    ],
)
def test_a_draft_has_a_hierarchy_of_dates_with_the_order_that_was_found(form, said):
    drafted = sf.draft(people(form))
    rule = drafted.policy.columns["born"]
    assert rule.hierarchy.name == "dates"
    assert (None if rule.dates is None else str(rule.dates)) == said
    if form == "%d.%m.%y":
        assert "pivot: 30" in drafted.text.replace("\n  # ", " ")
    else:
        release = sf.anonymize(people(form), drafted.policy, seed=3)
        assert not any("." in str(label) for label in release.table["born"].to_pylist())


@pytest.mark.usefixtures("patience")
def test_the_original_is_read_like_the_release_by_attacks_and_utility():
    german, iso = people("%d.%m.%Y"), people("%Y-%m-%d")
    release = sf.anonymize(german, policy(), seed=3)
    judged = [sf.verify(release, data=table, policy=policy()) for table in (german, iso)]
    assert (
        judged[0].to_dict()["outcomes"] == judged[1].to_dict()["outcomes"]
        if ("outcomes" in judged[0].to_dict())
        else str(judged[0]) == str(judged[1])
    )
    found = [
        sf.utility(table, release, policy=policy(), seed=1).to_dict() for table in (german, iso)
    ]
    assert found[0] == found[1]


@pytest.mark.usefixtures("patience")
def test_lattices_comparisons_and_inspections_see_the_same(tmp_path):
    german, iso = people("%d.%m.%Y"), people("%Y-%m-%d")
    assert repr(sf.tools.lattice(german, policy())) == repr(sf.tools.lattice(iso, policy()))
    assert repr(sf.inspect(german, policy=policy())) == repr(sf.inspect(iso, policy=policy()))
    one, other = (sf.compare(table, policy(), vary={"k": [2, 5]}) for table in (german, iso))
    assert [p.risks for p in one.points] == [p.risks for p in other.points]


@pytest.mark.usefixtures("patience")
def test_a_population_may_have_its_dates_in_any_form(tmp_path):
    forms = {"iso": "%Y-%m-%d", "german": "%d.%m.%Y", "words": "%d %b %Y"}
    files = {name: tmp_path / f"{name}.csv" for name in forms}
    for name, form in forms.items():
        pd.concat([people(form).to_pandas()] * 2).to_csv(files[name], index=False)
    german = tmp_path / "data.csv"
    people("%d.%m.%Y").to_pandas().to_csv(german, index=False)
    presence = {"model": "delta-presence", "minimum": 0, "maximum": 0.9}
    settings = {
        **policy().to_plain(),
        "models": [{"model": "k-anonymity", "k": 3}, presence],
    }
    told = set()
    for file in files.values():
        asked = {**settings, "population": str(file)}
        output = tmp_path / f"release of {file.stem}"
        release = sf.anonymize(german, asked, seed=3, output=output)
        assert release.verdict.holds
        # Later too, from the files alone and the population as it is.
        assert sf.verify(output, asked, attacks=False).verdict.holds
        told.add(release.manifest.to_json())
        compared = sf.compare(german, asked, vary={"k": [2, 5]})
        assert all(point.possible for point in compared.points)
    assert len(told) == 1
    unclear = tmp_path / "unclear.csv"
    text = files["german"].read_text()
    unclear.write_text(re.sub(r"\b(1[3-9]|2\d|3[01])\.(?=\d\d\.)", "11.", text))
    with pytest.raises(InputError, match="can be read in two ways") as refused:
        sf.anonymize(german, {**settings, "population": str(unclear)})
    assert "11." not in str(refused.value)
