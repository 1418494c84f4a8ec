"""Drafts: the policy always loads, always yields a verified release, and says why."""

import json

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato import samples
from sfumato.drafting.in_short import shorten_reason
from sfumato.errors import InputError, UnknownNameError
from sfumato.hierarchy import (
    Automatic,
    Frequent,
    Intervals,
    KnownTree,
    Masking,
    OrderedCategories,
    Suppress,
)
from sfumato.hierarchy.language import languages
from sfumato.models import AlphaKAnonymity, KAnonymity
from sfumato.policy import Policy
from sfumato.schema import Role

ODD = [
    "größe", "名前", "👩‍⚕️", "net income", "a: b", "a # b", "#", "*", "*age", "&x", "!tag", "- x",
    "? x", "'", '"', "{a}", "[a", "a\nb", "\n", "\t", " ", " a ", "yes", "no", "null", "~", "1",
    "1.0", "1e5", "0x1F", "2020-01-31", "true", "<<", "=", "%", "@", "`", "|", ">", ",", "x" * 3000,
    "models", "columns", "a", "b", "\x85", "\u2028", "\ufeff", "\\", "---", "...", "a\\nb",
]  # fmt: skip
NAMES = st.sampled_from([*ODD, "age", "zip", "disease", "salary", "name", "notes"]) | st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=8
)
CELLS = st.sampled_from(
    [
        st.none(),
        st.integers(-5, 5),
        st.integers(-(2**62), 2**62),
        st.floats(allow_infinity=False, width=32),
        st.booleans(),
        st.dates(),
        st.datetimes(),
        st.decimals(-99, 99, places=2),
        st.sampled_from(["f", "m", "no", "1.50", "01", "*", "", " "]),
        st.text(st.characters(exclude_categories=["Cs"]), max_size=6),
        st.from_regex(r"[0-9]{5}", fullmatch=True),
        st.sampled_from(ODD),
    ]
)


@st.composite
def tables(draw) -> pa.Table:
    names = draw(st.lists(NAMES, min_size=1, max_size=6, unique=True))
    rows = draw(st.integers(1, 30))
    columns = {}
    for name in names:
        cells = st.none() | draw(CELLS) if draw(st.booleans()) else draw(CELLS)
        columns[name] = pa.array(draw(st.lists(cells, min_size=rows, max_size=rows)))
    return pa.table(columns)


def released(table, drafted):
    """Check what every draft promises, and give the release."""
    assert Policy.from_yaml(drafted.text) == drafted.policy
    release = sf.anonymize(table, drafted.policy, seed=1)
    assert release.verdict.holds
    return release


@pytest.mark.usefixtures("patience")
@settings(max_examples=60)
@given(tables())
@example(pa.table({"age": [1]}))
@example(pa.table({"name": ["Ann"]}))
@example(pa.table({"disease": ["flu", "hiv"]}))
@example(pa.table({"disease": ["f", " "]}))
@example(pa.table({"x": pa.nulls(4, pa.string())}))
@example(pa.table({"x": pa.nulls(4)}))
@example(pa.table({"disease": pa.nulls(4, pa.string()), "age": [1, 2, 3, 4]}))
@example(pa.table({"0": [None] * 10 + ["x"] * 2 + [f"a{n}b" for n in range(18)], "1": [1] * 30}))
def test_any_table_gets_a_policy_that_works(table):
    drafted = sf.draft(table)
    assert list(drafted.roles) == table.column_names == list(drafted.reasons)
    published = released(table, drafted).table.column_names
    hidden = {Role.IDENTIFIER, Role.DROPPED}
    assert published == [name for name in table.column_names if drafted.roles[name] not in hidden]


@pytest.mark.parametrize("name", ODD)
def test_odd_names_survive(name):
    table = pa.table({name: [1, 2, 3, 4, 5, 6], "condition": list("xyxyxy")})
    drafted = sf.draft(table)
    assert drafted.roles["condition"] is Role.SENSITIVE
    assert name in released(table, drafted).table.column_names


@pytest.mark.parametrize("name", [name for name in ODD if "age" not in name])
def test_odd_names_survive_as_sensitive_columns_too(name):
    table = pa.table({"age": [1, 2, 3, 4, 5, 6], f"disease {name}": list("xyxyxy")})
    drafted = sf.draft(table)
    # Of what half of all have, a belief below 0.875 harms no one.
    assert drafted.policy.models[1] == AlphaKAnonymity(f"disease {name}", 0.87, 5)
    released(table, drafted)


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("name", samples.names())
def test_the_printed_tables_get_policies_that_work(name):
    drafted = sf.draft(samples.path(name))
    roles = drafted.roles
    assert roles["zipcode"] is Role.QUASI_IDENTIFIER
    assert roles.get("name", Role.IDENTIFIER) is Role.IDENTIFIER
    secret = {"condition", "disease", "salary"} & set(roles)
    assert {column for column, role in roles.items() if role is Role.SENSITIVE} == secret
    released(samples.path(name), drafted)


@pytest.mark.usefixtures("patience")
def test_invented_patients_get_the_roles_a_person_would_give_them():
    table = samples.synthetic(500, seed=3)
    drafted = sf.draft(table)
    assert drafted.policy.with_role(Role.IDENTIFIER) == ("patient_id", "name")
    assert drafted.policy.sensitive == ("diagnosis", "outcome", "salary", "insurance")
    assert {*drafted.policy.quasi_identifiers, *drafted.price.left_out} == {
        "birth_date", "age", "sex", "postcode", "nationality", "marital_status", "education",
        "occupation", "admitted",
    }  # fmt: skip
    assert drafted.policy.method.name == "mondrian"
    assert sf.anonymize(table, drafted.policy).verdict.holds


def test_adult_gets_a_policy_that_works(adult):
    file = adult / "adult.csv"
    drafted = sf.draft(file)
    assert drafted.policy.sensitive == ("salary-class",)
    assert len(drafted.policy.quasi_identifiers) == 8
    assert "72 distinct values" in drafted.reasons["age"]
    assert sf.anonymize(file, drafted.policy).verdict.holds


@pytest.mark.usefixtures("patience")
def test_two_hundred_columns_are_no_trouble():
    rng = np.random.default_rng(2)
    table = pa.table({f"city {i}": rng.integers(0, 3, 100) for i in range(200)})
    drafted = sf.draft(table)
    assert list(drafted.roles) == table.column_names
    assert sf.anonymize(table, drafted.policy).verdict.holds


@pytest.mark.usefixtures("patience")
def test_hierarchies_are_written_out_where_one_line_holds_them():
    table = pa.table(
        {
            "age": list(range(18, 78)),
            "zip": [f"{i:05}" for i in range(100, 160)],
            "sex": ["f", "m"] * 30,
            "country": ["France", "Chad", "Peru", "NO"] * 15,
        }
    )
    drafted = sf.draft(table)
    hierarchies = {name: rule.hierarchy for name, rule in drafted.policy.columns.items()}
    assert isinstance(hierarchies["age"], Intervals | Automatic)
    assert isinstance(hierarchies["zip"], Masking)
    assert hierarchies["sex"] == Suppress()
    assert hierarchies["country"] == KnownTree("countries")
    assert drafted.text.count("\n") < 20
    released(table, drafted)


def test_the_order_of_categories_is_that_of_the_table():
    import pandas as pd

    values = ["b", "a", "c", "d"] * 10
    steps = pd.Categorical(values, categories=["c", "a", "b", "d"], ordered=True)
    drafted = sf.draft(pd.DataFrame({"rank": steps, "sex": ["f", "m"] * 20, "age": range(40)}))
    assert drafted.policy.columns["rank"].hierarchy == OrderedCategories(["c", "a", "b", "d"])


def test_a_role_that_is_said_takes_the_place_of_a_guess():
    table = pa.table({"age": list(range(20, 60)), "x7": [1, 2] * 20})
    drafted = sf.draft(table, roles={"x7": "plain"})
    assert drafted.roles["x7"] is Role.PLAIN
    assert "x7" not in drafted.uncertain
    with pytest.raises(UnknownNameError, match="Did you mean 'sensitive'"):
        sf.draft(table, roles={"x7": "sensitiv"})


@pytest.mark.usefixtures("patience")
def test_a_price_is_what_the_release_costs():
    table = samples.synthetic(400, seed=5).select(["age", "sex", "diagnosis"])
    drafted = sf.draft(table)
    release = released(table, drafted)
    assert drafted.price.loss == pytest.approx(release.loss, abs=0.02)
    stars = sum(release.table[name].to_pylist().count("*") for name in ("age", "sex"))
    assert drafted.price.hidden == pytest.approx(stars / (3 * 400), abs=0.02)
    assert {each.name for each in drafted.price.columns} == {"age", "sex"}


def test_hierarchies_are_written_down_and_name_no_value_of_few_rows():
    towns = [f"town {a}{b}" for a in "abcdefghij" for b in "klmnopqrst"]
    drafted = sf.draft(pa.table({"city": towns * 3}))
    assert drafted.policy.columns["city"].hierarchy == Suppress()
    drafted = sf.draft(pa.table({"city": towns * 6 + ["hamlet"] * 4}))
    named = drafted.policy.columns["city"].hierarchy.keep[0]
    assert {*named} < {*towns}
    assert "kind: auto" not in drafted.text
    released(pa.table({"city": towns}), drafted)


@pytest.mark.usefixtures("patience")
def test_ranges_of_more_values_than_one_would_look_at_are_written_down_too():
    table = pa.table({"height": 99 + np.arange(30_000) / 300, "sex": ["f", "m"] * 15_000})
    drafted = sf.draft(table)
    ranges = drafted.policy.columns["height"].hierarchy
    assert isinstance(ranges, Intervals)
    # What is beyond the ends is in open ranges: no extreme of a person stands in the policy.
    assert 99 < ranges.lower < ranges.upper < 199
    assert "kind: auto" not in drafted.text


def test_columns_of_lists_are_sets_and_those_of_structs_are_dropped():
    home = [{"street": "a"}] * 3
    table = pa.table({"age": [1, 1, 1], "visits": [[1], [2], [3, 4]], "home": home})
    drafted = sf.draft(table)
    assert drafted.roles["visits"] is Role.SET
    assert drafted.roles["home"] is Role.DROPPED
    assert released(table, drafted).table.column_names == ["age", "visits"]


def test_what_a_policy_needs_for_a_table_of_names_is_published_as_a_star():
    table = pa.table({"name": ["Ann", "Bob", "Cy"], "disease": ["flu", "hiv", "flu"]})
    drafted = sf.draft(table)
    assert drafted.roles == {"name": Role.QUASI_IDENTIFIER, "disease": Role.SENSITIVE}
    assert "published as * only" in drafted.reasons["name"]
    assert released(table, drafted).table["name"].to_pylist() == ["*"] * 3


@pytest.mark.parametrize(("rows", "k"), [(1, 2), (2, 2), (3, 3), (60, 5)])
def test_no_more_is_asked_for_than_the_table_can_give(rows, k):
    table = pa.table({"age": [30] * rows, "disease": [f"d{i % 9}" for i in range(rows)]})
    drafted = sf.draft(table)
    # Of what half of all have, a belief below 0.875 harms no one.
    alpha = 0.87 if rows == 2 else 0.74
    wanted = [KAnonymity(k)] + ([AlphaKAnonymity("disease", alpha, k)] if rows > 1 else [])
    assert list(drafted.policy.models) == wanted
    assert released(table, drafted).suppressed == (1 if rows == 1 else 0)


def test_a_sensitive_column_with_one_value_cannot_be_made_diverse():
    table = pa.table({"age": [30] * 6, "disease": ["flu", None] * 3})
    drafted = sf.draft(table)
    assert drafted.policy.models == (KAnonymity(5),)
    released(table, drafted)


def test_every_column_has_its_reason_beside_it_or_above():
    drafted = sf.draft(samples.path("hospital"))
    lines = drafted.text.splitlines()
    for name, reason in drafted.reasons.items():
        position = next(i for i, line in enumerate(lines) if line.startswith(f"  {name}:"))
        first = max(i for i in range(position) if not lines[i].startswith("  #")) + 1
        above = " ".join(line.removeprefix("  # ") for line in lines[first:position])
        assert shorten_reason(reason) in (above, lines[position].partition("  # ")[2])


def test_values_that_are_secrets_or_harmless_are_proposed_with_a_reason():
    table = pa.table(
        {
            "age": [30, 41, 52, 63],
            "diagnosis": ["flu", "HIV", "no diagnosis", "lung cancer"],
            "hepatitis": [0, 1, 0, 0],
        }
    )
    drafted = sf.draft(table)
    diagnosis = drafted.policy.columns["diagnosis"]
    assert (diagnosis.secret, diagnosis.harmless) == (("HIV", "lung cancer"), ("no diagnosis",))
    assert "worse to be known" in drafted.reasons["diagnosis"]
    if drafted.roles["hepatitis"] == "sensitive":
        assert drafted.policy.columns["hepatitis"].harmless == ("0",)


def test_the_text_is_what_is_printed_and_the_rest_fits_json():
    drafted = sf.draft(samples.path("hospital"))
    assert str(drafted) == drafted.text
    assert repr(drafted) == "<Draft 1 identifier, 4 quasi-identifier, 1 sensitive>"
    plain = json.loads(json.dumps(drafted.to_dict()))
    assert plain["columns"]["name"]["role"] == "identifier"
    assert max(map(len, drafted.text.splitlines())) <= 119


@pytest.mark.usefixtures("patience")
def test_drafts_do_not_depend_on_the_kind_of_table(tmp_path):
    import pandas as pd

    table = samples.table("health")
    frame = pd.read_csv(samples.path("health"), dtype=str)
    assert sf.draft(table) == sf.draft(samples.path("health")) == sf.draft(frame)


def test_progress_is_told():
    told = []
    sf.draft(pa.table({"age": [1, 2, 3]}), progress=lambda *stage: told.append(stage))
    assert told[:2] == [("look", 3, 3), ("count", 3, 3)]
    assert told[2:] == [("price", n, None) for n in range(1, len(told) - 1)]


def test_an_empty_table_is_refused():
    with pytest.raises(InputError, match="no rows"):
        sf.draft(pa.table({"age": pa.array([], pa.int64())}))


def test_a_table_without_single_values_is_refused():
    with pytest.raises(InputError, match="no column holds one value per row"):
        sf.draft(pa.table({"visits": [[1], [2]]}))


@pytest.mark.parametrize(("language", "label"), [(None, "bis"), ("fr", "à"), ("en", "to")])
def test_labels_are_in_the_language_of_the_table_or_another(language, label):
    rng = np.random.default_rng(0)
    table = pa.table(
        {
            "Alter": rng.integers(18, 90, 300),
            "Geschlecht": rng.choice(["männlich", "weiblich"], 300),
            "Größe": rng.integers(150, 200, 300),
        }
    )
    drafted = sf.draft(table, language=language)
    shown = sf.anonymize(table, drafted.policy).table.to_pandas()["Alter"]
    assert any(f" {label} " in each for each in shown)


def test_a_policy_to_start_from_keeps_its_language():
    rng = np.random.default_rng(0)
    table = pa.table({name: rng.integers(18, 90, 60) for name in ("Alter", "Größe", "Gewicht")})
    roles = dict.fromkeys(["Alter", "Gewicht"], "quasi-identifier")
    first = sf.draft(table, roles=roles, language="fr")
    more = sf.draft(table, roles={"Größe": "quasi-identifier"}, from_policy=first.policy)
    assert more.policy.columns["Größe"].hierarchy.language == "fr"
    told = sf.draft(table, roles=roles, from_policy=first.policy, language="it")
    assert told.policy.columns["Alter"].hierarchy.language == "it"


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("code", languages())
def test_labels_of_every_language_are_read_again_and_stay(code, tmp_path):
    def month(seed, jobs):
        rng = np.random.default_rng(seed)
        return pa.table(
            {
                "age": rng.integers(18, 90, 60),
                "job": rng.choice(jobs, 60),
                "marital": rng.choice(["single", "married", "divorced", "widowed"], 60),
                "illness": rng.choice(["flu", "gout"], 60),
            }
        )

    jobs = ["cook", "nurse", "clerk", "judge", "smith"]
    first, later = month(0, jobs), month(1, [*jobs, "pilot"])
    written = {
        "age": Intervals(widths=[5, 20], lower=20, upper=80, join=True),
        "job": Frequent([["cook", "nurse", "clerk"], ["cook", "nurse"]], together=True),
        "marital": KnownTree("marital-status"),
    }
    known = {name: {"role": "quasi-identifier"} for name in written}
    for name, builder in written.items():
        known[name]["hierarchy"] = builder.in_language(code)
    policy = Policy(
        columns={**known, "illness": "sensitive"}, models=[KAnonymity(4)], method="mondrian"
    )
    sf.anonymize(first, policy, output=tmp_path / "release")
    found = sf.verify(tmp_path / "release", policy, data=first)
    assert all(check.status != "broken" for check in found.checks)
    made = sf.anonymize(later, policy)
    assert all(check.status != "broken" for check in sf.verify(made, policy, attacks=False).checks)
    # A value that is new is among the others, by the label that they have in this language.
    others = policy.columns["job"].hierarchy.build("job", jobs).labels[1][-1]
    assert policy.columns["job"].hierarchy.build("job", ["pilot"]).labels[1] == (others,)


def test_a_language_without_words_is_refused():
    with pytest.raises(UnknownNameError, match="deutsch"):
        sf.draft(pa.table({"age": [1, 2]}), language="deutsch")


def test_a_code_for_no_value_is_in_no_model():
    rng = np.random.default_rng(1)
    table = pa.table(
        {
            "age": rng.integers(18, 90, 300),
            "smoker": rng.choice(["Y", "N", "?"], 300, p=[0.2, 0.65, 0.15]),
        }
    )
    drafted = sf.draft(table)
    assert drafted.policy.columns["smoker"].missing_codes == ("?",)
    models = [model for model in drafted.policy.models if "smoker" in model.columns]
    assert models
    assert not any("?" in str(model) for model in models)


@pytest.mark.usefixtures("patience")
def test_what_the_verdict_advises_is_promised_where_nothing_else_is_left():
    rng = np.random.default_rng(5)
    n, people = 600, 150
    who = rng.integers(0, people, n)
    table = pa.table(
        {
            "patient_id": who + 10_000,
            "birth_year": rng.integers(1940, 2005, people)[who],
            "gender": rng.choice(["F", "M"], people)[who],
            "district": rng.choice([f"D{i:02d}" for i in range(12)], people)[who],
            "smoker": rng.choice(["Y", "N", None], n, p=[0.2, 0.68, 0.12]),
        }
    )
    drafted = sf.draft(table)
    assert drafted.price is not None
    assert drafted.price.answer in ("yes", "with care")
    assert sf.verify(sf.anonymize(table, drafted.policy)).answer != "no"


@pytest.mark.usefixtures("patience")
def test_what_undoes_the_labels_of_others_is_generalised_too():
    rng = np.random.default_rng(5)
    village = rng.integers(0, 60, 1_500)
    # It goes up and down from village to village; nearly no two of them have the same distances.
    distance = 12 + 10 * np.sin(village) + 0.0001 * rng.integers(0, 40, 1_500)
    distance[rng.random(1_500) < 0.01] = 5
    columns = {
        "village": village,
        "age": rng.integers(18, 80, 1_500),
        "distvct": distance.round(5),
        "ill": rng.choice(["no", "flu", "gout"], 1_500),
    }
    drafted = sf.draft(pa.table(columns))
    assert drafted.roles["distvct"] is Role.QUASI_IDENTIFIER
    assert "would undo" in drafted.reasons["distvct"]
    assert drafted.price.answer not in ("", "no")
