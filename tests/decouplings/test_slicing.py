"""Slicing: what is published, that it can be verified, and what is refused."""

import json
from collections import Counter, defaultdict
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.counts import FrequencySet
from sfumato.decouplings import Slicing
from sfumato.decouplings.slices import Columns, SubTuples, beliefs, cut_into_buckets, find_exposed
from sfumato.errors import InfeasibleError, InputError, ParameterError, UnknownColumnError
from sfumato.tables import open_table
from tests.adult import LEVELS
from tests.decouplings.slices import literal
from tests.decouplings.tables import table

NAMES = ["age", "sex", "zip", "ill"]
ROLES = {"quasi_identifiers": NAMES[:3], "sensitive": ["ill"]}
ROWS = [
    (age, sex, zip_, ill)
    for age in ("30", "40", "50")
    for sex in "fm"
    for zip_ in ("x", "y")
    for ill in ("flu", "gout", "hiv")
]
PEOPLE = st.lists(
    st.tuples(
        st.sampled_from("abc"),
        st.sampled_from("fm"),
        st.sampled_from(["x", "y", None]),
        st.sampled_from(["flu", "gout", "hiv", "cold", None]),
    ),
    min_size=2,
    max_size=40,
)
METHODS = st.sampled_from(
    [
        Slicing(l=2),
        Slicing(l=2, most=1),
        Slicing(l=2, most=2, overlap=0.0),
        Slicing(l=3, overlap=0.3),
        Slicing(l=2, columns=["age+sex", "sex+zip", "ill"]),
        Slicing(l=2, columns=[["age"], ["sex", "zip"], ["ill"]]),
        Slicing(l=2, slices=2),
        Slicing(l=2, slices=4, measure="cramers-v"),
        Slicing(l=2, slices=2, overlap=0.2, measure="mutual-information"),
        Slicing(l=1.5, form="entropy"),
        Slicing(l=3, form="entropy", most=2, overlap=0.1),
        Slicing(l=2.5, form="entropy", columns=["age+sex", "sex+zip", "zip+ill"]),
        Slicing(l=2, form="recursive", c=4),
        Slicing(l=3, form="recursive", c=1.5, slices=3),
        Slicing(l=2, form="recursive", c=1, columns=["age", "sex", "zip+ill"]),
    ]
)


def diverse(method, values):
    """Judge counts of known values word by word."""
    told = {"l": method.l} | ({} if method.c is None else {"c": method.c})
    shares = [Fraction(people, values.total()) for people in values.values()]
    return bool(shares) and getattr(literal, method.form)(shares, **told)


def known_of(values):
    return Counter({value: n for value, n in values.items() if value is not None})


def sliced(rows, method, **more):
    return sf.decouple(table(rows, NAMES), method, **ROLES, **more)


def columns_of(release):
    return [file.columns for file in release.manifest.files]


def published(release):
    """Per slice and bucket, how many people have each sub-tuple."""
    found = []
    for file in release.manifest.files:
        buckets = defaultdict(Counter)
        for row in release.tables[file.name].to_pylist():
            key = tuple(row[name] for name in file.columns)
            assert key not in buckets[row["bucket"]]
            buckets[row["bucket"]][key] = row["count"]
        found.append(buckets)
    return found


@pytest.mark.usefixtures("patience")
@given(rows=PEOPLE, method=METHODS)
def test_slices_hold_everybody_and_nobody_is_told_apart(rows, method):
    try:
        release = sliced(rows, method)
    except InfeasibleError:
        [beside] = [c for c in method.columns or [("ill",)] if "ill" in c]
        alike = defaultdict(Counter)
        for row in rows:
            alike[literal.sub(row, NAMES, [n for n in beside if n != "ill"])][row[-1]] += 1
        assert not all(diverse(method, known_of(values)) for values in alike.values())
        return
    assert release.verdict.holds
    assert sf.verify(release).verdict.holds
    slices = published(release)
    for names, buckets in zip(columns_of(release), slices, strict=True):
        everybody = sum(buckets.values(), Counter())
        assert everybody == Counter(literal.sub(row, NAMES, names) for row in rows)
        assert {b: c.total() for b, c in buckets.items()} == {
            b: c.total() for b, c in slices[0].items()
        }
    # Whoever is alike in what is known beside the sensitive value has diverse ones.
    [at] = [i for i, names in enumerate(columns_of(release)) if "ill" in names]
    assert columns_of(release)[at][-1] == "ill"
    for bucket in slices[at].values():
        alike = defaultdict(Counter)
        for (*known, ill), people in bucket.items():
            alike[tuple(known)][ill] += people
        assert all(diverse(method, known_of(values)) for values in alike.values())
    if method.slices is not None:
        assert len(slices) == method.slices


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("form", ["csv", "parquet", "feather"])
def test_a_folder_is_written_and_verified(tmp_path, form):
    release = sliced(ROWS, Slicing(l=3, most=2), output=tmp_path / "slices", format=form)
    assert sf.verify(tmp_path / "slices").verdict.holds
    assert release.manifest.kind == "slicing"
    manifest = json.loads((tmp_path / "slices" / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["models"] == [
        {
            "model": "probabilistic-l-diversity",
            "column": "ill",
            "l": 3,
            "measured": {"l": 3.0},
        }
    ]
    text = (tmp_path / "slices" / "README.md").read_text(encoding="utf-8")
    assert "36 people in 12 buckets" in text
    assert all(file["name"] in text for file in manifest["files"])


@pytest.mark.parametrize(
    ("method", "model", "readme"),
    [
        (
            Slicing(l=3, form="entropy"),
            {"model": "entropy-l-diversity", "l": 3, "measured": {"l": pytest.approx(3)}},
            "as hard to guess as\n  3 equally likely ones",
        ),
        (
            Slicing(l=2.5, form="entropy"),
            {"model": "entropy-l-diversity", "l": 2.5, "measured": {"l": pytest.approx(3)}},
            "as hard to guess as\n  2.5 equally likely ones",
        ),
        (
            Slicing(l=3, form="recursive", c=1.5),
            {"model": "recursive-cl-diversity", "c": 1.5, "l": 3, "measured": {"c": 1}},
            "less than 1.5 times as likely as\n  all but the 2 likeliest together",
        ),
    ],
)
def test_a_form_is_promised_as_the_model_that_it_is(tmp_path, method, model, readme):
    release = sliced(ROWS, method, output=tmp_path / "slices", format="csv")
    assert release.manifest.to_dict()["models"] == [{"column": "ill", **model}]
    assert model["model"] in sf.models.MODELS
    assert readme in (tmp_path / "slices" / "README.md").read_text(encoding="utf-8")
    assert sf.verify(tmp_path / "slices").verdict[model["model"]].status == "holds"


def test_two_values_of_which_one_is_frequent_are_sliced_recursively():
    rows = [(str(i // 8), "fm"[i % 2], "x", "flu" if i % 4 else "hiv") for i in range(64)]
    with pytest.raises(InfeasibleError, match="48 of 64 people"):
        sliced(rows, Slicing(l=2))
    release = sliced(rows, Slicing(l=2, form="recursive", c=4))
    assert release.verdict.holds
    assert release.manifest.classes.count > 1
    with pytest.raises(InfeasibleError, match=r"48 of 64 .* 3 times the 16 .* take a c above 3"):
        sliced(rows, Slicing(l=2, form="recursive", c=3))


def test_what_is_correlated_is_published_together_and_overlaps_add_to_it():
    rows = [(a, a, z, ill) for a in "pqr" for z in "xy" for ill in ("flu", "gout", "hiv")]
    assert any({"age", "sex"} <= set(c) for c in columns_of(sliced(rows, Slicing(l=3, most=2))))
    alone = sliced(rows, Slicing(l=3, most=1))
    assert {len(column) for column in columns_of(alone)} == {1}
    more = sliced(rows, Slicing(l=3, most=1, overlap=0.5))
    assert any({"age", "sex"} <= set(column) for column in columns_of(more))


def test_labels_are_drawn_and_a_seed_fixes_them():
    one, other = (published(sliced(ROWS, Slicing(l=3)))[0].keys() for _ in range(2))
    assert one != other
    again = [sliced(ROWS, Slicing(l=3), seed=4) for _ in range(2)]
    assert [each.to_pylist() for each in again[0].tables.values()] == [
        each.to_pylist() for each in again[1].tables.values()
    ]
    assert any("not for publication" in warning for warning in again[0].warnings)


def test_names_of_columns_may_be_anything():
    rows = [("a", "x", ill) for ill in ("flu", "gout")] * 2
    names = ["bucket", "Count", 'the "ill"']
    columns = {name: [row[i] for row in rows] for i, name in enumerate(names)}
    release = sf.decouple(
        pa.table(columns), Slicing(l=2), quasi_identifiers=names[:2], sensitive=names[2:]
    )
    assert release.manifest.group == "bucket_2"
    assert release.manifest.count == "count_2"
    assert release.verdict.holds


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"l": 1}, "l must be an integer of at least 2"),
        ({"l": 2.5}, "l must be an integer"),
        ({"l": 2, "most": 0}, "most must be an integer of at least 1"),
        ({"l": 2, "overlap": 1.5}, "overlap must be a number"),
        ({"l": 2, "form": "distinct"}, "form must be one of 'probabilistic', 'entropy', 'rec"),
        ({"l": 2, "form": "p-alpha"}, "alpha must be given for form='p-alpha'"),
        ({"l": 2, "form": "p-alpha", "alpha": 1}, "categories must be given"),
        ({"l": 2, "alpha": 1}, "alpha must be left out"),
        (
            {"l": 3, "form": "enhanced-p-alpha", "alpha": 1, "categories": [["a"], ["b"]]},
            "l must be at most 2",
        ),
        ({"l": 2, "aim": "speed"}, "aim must be one of 'correlations', 'membership'"),
        ({"l": 2, "aim": "membership", "slices": 3}, "slices must be left out"),
        ({"l": 2, "aim": "membership", "columns": ["age", "ill"]}, "aim must be left out"),
        ({"l": 2, "cuts": "loose"}, "cuts must be one of 'strict', 'relaxed'"),
        ({"l": 2, "check": "worlds"}, "check must be left out.*every person matches one bucket"),
        (
            {
                "l": 2,
                "form": "p-alpha",
                "alpha": 1,
                "categories": [["a"], ["b"]],
                "cuts": "relaxed",
                "check": "worlds",
            },
            "check must be 'buckets'.*counts the values",
        ),
        ({"l": 1, "form": "entropy"}, "l must be a number above 1"),
        ({"l": 2.5, "form": "recursive", "c": 2}, "l must be an integer"),
        ({"l": 1, "form": "recursive", "c": 2}, "l must be an integer of at least 2"),
        ({"l": 2, "form": "recursive"}, "c must be given for form='recursive'"),
        ({"l": 2, "form": "recursive", "c": 0}, "c must be a number above 0"),
        ({"l": 2, "c": 2}, "c must be left out.*form='probabilistic' has no c"),
        ({"l": 2, "form": "entropy", "c": 2}, "c must be left out"),
        ({"l": 2, "measure": "r"}, "measure must be one of 'phi-square', 'cramers-v', 'mutual-in"),
        ({"l": 2, "slices": 1}, "slices must be an integer of at least 2.*whole rows"),
        ({"l": 2, "slices": 2, "most": 2}, "most must be left out.*slices are given"),
        ({"l": 2, "slices": 2, "columns": ["age", "ill"]}, "slices must be left out"),
        ({"l": 2, "measure": "cramers-v", "columns": ["age", "ill"]}, "measure must be left out"),
        ({"l": 2, "columns": "age+ill"}, "columns must be a list of columns"),
        ({"l": 2, "columns": [1, 2]}, "columns must be a list of columns"),
        ({"l": 2, "columns": ["age", "ill"], "most": 2}, "most must be left out"),
        ({"l": 2, "columns": ["age", "ill"], "overlap": 0.5}, "overlap must be left out"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings, said):
    with pytest.raises(ParameterError, match=said):
        Slicing(**settings)


@pytest.mark.parametrize(
    ("columns", "error", "said"),
    [
        (["age+sex+zip+ill"], ParameterError, "with one column whole rows are published"),
        (["age+sex", "ill"], ParameterError, "in no column: 'zip'"),
        (["age+sex+ill", "zip+ill"], ParameterError, "tie the rows of both together"),
        (["age+sex", "zipp", "ill"], UnknownColumnError, "Did you mean 'zip'"),
    ],
)
def test_columns_that_cannot_be_are_refused(columns, error, said):
    with pytest.raises(error, match=said):
        sliced(ROWS, Slicing(l=2, columns=columns))


@pytest.mark.parametrize(
    ("l", "rows", "said"),
    [
        (4, ROWS, "'ill' has only 3 different values, fewer than 4. .* an l of at most 3"),
        (3, [*ROWS, ROWS[0]], "13 of 37 people .* the same, more than 1 in 3. .* at most 2"),
        (2, [("a", "b", "c", ill) for ill in ("flu", "flu", "hiv")], "2 of 3 people"),
        (2, [("a", "b", "c", None)] * 2, "no person has a known 'ill'"),
    ],
)
def test_an_l_that_cannot_be_is_refused(l, rows, said):
    with pytest.raises(InfeasibleError, match=said):
        sliced(rows, Slicing(l=l))


def test_columns_that_give_values_away_are_refused_with_what_to_try():
    rows = [("a", "f", "x", "flu"), ("a", "f", "y", "gout")] * 2
    with pytest.raises(InfeasibleError, match="put less beside the sensitive column"):
        sliced(rows, Slicing(l=2, columns=["age+sex", "zip+ill"]))
    assert sliced(rows, Slicing(l=2)).verdict.holds


def test_more_slices_than_attributes_are_refused():
    assert len(sliced(ROWS, Slicing(l=2, slices=4)).tables) == 4
    with pytest.raises(ParameterError, match="slices must be an integer from 2 to 4, got 5: there"):
        sliced(ROWS, Slicing(l=2, slices=5))


SECRETS = {"quasi_identifiers": ["age", "sex"], "sensitive": ["zip", "ill"]}
MANY = [
    (str(rng[0]), "fm"[rng[1]], "xyz"[rng[2]], ("flu", "gout", "hiv", "cold")[rng[3]])
    for rng in np.random.default_rng(2).integers(0, [9, 2, 3, 4], (300, 4)).tolist()
]


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"overlap": 0.0},
        {"slices": 3},
        {"most": 1},
        {"cuts": "relaxed"},
        {"columns": ["age", "sex+zip", "ill"]},
        {"columns": ["age", "sex", "zip+ill"]},
        {"columns": ["age+zip", "sex+ill", "age+sex"]},
        {"aim": "membership"},
        {"form": "entropy"},
        {"form": "recursive", "c": 3},
    ],
)
def test_several_sensitive_columns_are_each_diverse_even_to_those_who_know_the_others(settings):
    method = Slicing(l=2, **settings)
    release = sf.decouple(table(MANY, NAMES), method, **SECRETS)
    assert release.verdict.holds
    assert [model.column for model in release.manifest.models] == ["zip", "ill"]
    if "columns" not in settings:
        assert not any({"zip", "ill"} <= set(column) for column in columns_of(release))
    for names, buckets in zip(columns_of(release), published(release), strict=True):
        for secret in {"zip", "ill"} & set(names):
            at = names.index(secret)
            for bucket in buckets.values():
                alike = defaultdict(Counter)
                for key, people in bucket.items():
                    alike[key[:at] + key[at + 1 :]][key[at]] += people
                assert all(diverse(method, known_of(values)) for values in alike.values())
    found = sf.verify(release, data=table(MANY, NAMES))
    assert {"zip", "ill"} <= {outcome.column for outcome in found.attacks}
    assert sum(outcome.attack == "membership" for outcome in found.attacks) == 1


@pytest.mark.usefixtures("patience")
def test_what_several_values_are_promised_together_is_written_down(tmp_path):
    sf.decouple(table(MANY, NAMES), Slicing(l=2), **SECRETS, output=tmp_path / "s", format="csv")
    text = (tmp_path / "s" / "README.md").read_text(encoding="utf-8")
    assert "for those who know a person's values of the\n  others too" in text
    assert "So 2 values together have a probability of at most 1/4." in text
    assert sf.verify(tmp_path / "s").verdict.holds


def test_with_two_secrets_in_one_slice_each_counts_as_known_for_the_other():
    rows = [(str(i), "f", "xyz"[i % 3], ("flu", "gout", "hiv")[i % 3]) for i in range(9)]
    with pytest.raises(InfeasibleError, match="put less beside"):
        sf.decouple(table(rows, NAMES), Slicing(l=2, columns=["age", "sex", "zip+ill"]), **SECRETS)
    assert sf.decouple(table(rows, NAMES), Slicing(l=2), **SECRETS).verdict.holds


@pytest.mark.parametrize("more", [{"cuts": "relaxed", "check": "worlds"}, {"slices": 2}])
def test_what_needs_one_sensitive_column_says_so(more):
    with pytest.raises(ParameterError, match=r"one column|an integer from 3 to 4"):
        sf.decouple(table(MANY, NAMES), Slicing(l=2, **more), **SECRETS)


@pytest.mark.parametrize(
    "settings",
    [{}, {"overlap": 0.0}, {"slices": 3}, {"columns": ["age+sex", "sex+zip+ill"]}],
)
@pytest.mark.parametrize("cuts", ["strict", "relaxed"])
def test_without_sensitive_columns_buckets_have_as_many_people_as_are_asked_for(settings, cuts):
    release = sf.decouple(
        table(MANY, NAMES), Slicing(l=4, cuts=cuts, **settings), quasi_identifiers=NAMES
    )
    assert release.verdict.holds
    [model] = release.manifest.to_dict()["models"]
    assert model["model"] == "bucket-size"
    assert model["people"] == 4
    sizes = [counter.total() for counter in published(release)[0].values()]
    assert model["measured"]["people"] == min(sizes) >= 4
    assert len(sizes) > 30
    found = sf.verify(release, data=table(MANY, NAMES))
    assert found.verdict.holds
    assert {outcome.attack for outcome in found.attacks if outcome.tried} >= {"membership"}
    assert sf.estimate(release, {"age": "3"}).estimate == sum(row[0] == "3" for row in MANY)


def test_without_sensitive_columns_a_folder_says_what_is_promised(tmp_path):
    folder = tmp_path / "slices"
    sf.decouple(table(MANY, NAMES), Slicing(l=2), quasi_identifiers=NAMES, output=folder)
    assert sf.verify(folder).verdict.holds
    text = (folder / "README.md").read_text(encoding="utf-8")
    assert "No column is called sensitive" in text
    assert "Every bucket has at least 2 people" in text
    with pytest.raises(ParameterError, match="sensitive must be"):
        sf.explain(folder, {"age": "3"})


SECRECY = (("hiv",), ("gout", "cold"), ("flu",))


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize(
    ("form", "model"),
    [
        ("p-alpha", "p-alpha-sensitive-k-anonymity"),
        ("enhanced-p-alpha", "enhanced-p-alpha-sensitive-k-anonymity"),
    ],
)
@pytest.mark.parametrize("cuts", ["strict", "relaxed"])
def test_buckets_keep_what_is_asked_of_values_and_categories(form, model, cuts, tmp_path):
    method = Slicing(l=2, form=form, alpha=1.5, categories=SECRECY, cuts=cuts)
    folder = tmp_path / "slices"
    release = sf.decouple(table(MANY, NAMES), method, **ROLES, output=folder, format="csv")
    assert sf.verify(folder).verdict[model].status == "holds"
    assert release.manifest.models[0].model == model
    assert release.manifest.classes.count > 5
    assert "weigh 1.5 together" in (folder / "README.md").read_text(encoding="utf-8")
    slices = published(sf.decouple(table(MANY, NAMES), method, **ROLES))
    [at] = [i for i, names in enumerate(columns_of(release)) if "ill" in names]
    weight = {value: i / 2 for i, values in enumerate(SECRECY) for value in values}
    group = {value: i for i, values in enumerate(SECRECY) for value in values}
    for bucket in slices[at].values():
        alike = defaultdict(Counter)
        for (*known, ill), people in bucket.items():
            alike[tuple(known)][ill] += people
        for values in alike.values():
            kinds = {group[v] if form == "enhanced-p-alpha" else v for v in values}
            assert len(kinds) >= 2
            assert sum(weight[value] * n for value, n in values.items()) >= 1.5


def test_a_form_of_categories_that_cannot_be_says_why():
    method = Slicing(l=3, form="enhanced-p-alpha", alpha=1, categories=SECRECY)
    few = [row for row in MANY if row[-1] != "flu"]
    with pytest.raises(InfeasibleError, match=r"2 different categories .* an l of at most 2"):
        sliced(few, method)
    with pytest.raises(sf.errors.SfumatoError, match=r"no category.*'cold'|'cold'.*no category"):
        sliced(MANY, replace(method, categories=(("hiv",), ("gout", "flu")), l=2))
    with pytest.raises(ParameterError, match=r"one column.*about the values of one column"):
        sf.decouple(table(MANY, NAMES), method, **SECRETS)


def test_overlap_is_told_with_what_it_costs_in_membership():
    ills = ("flu", "gout", "hiv")
    rows = [(a, a, z, ills[i % 3]) for i, a in enumerate("pqrstu") for z in "xyz"]
    alone = sliced(rows, Slicing(l=3, most=1))
    [note] = [text for text in alone.warnings if "made-up" in text]
    assert "overlap" not in note
    more = sliced(rows, Slicing(l=3, most=1, overlap=0.5))
    [note] = [text for text in more.warnings if "made-up" in text]
    less, more = (int(part.split(" %")[0].split()[-1]) for part in note.split(";")[::-1])
    assert less + 10 < more


def test_with_membership_in_mind_fewer_made_up_people_are_ruled_out():
    rng = np.random.default_rng(4)
    rows = [
        (str(a), str(a // 2), "xy"[rng.integers(2)], ("flu", "gout", "hiv")[rng.integers(3)])
        for a in rng.integers(0, 8, 400)
    ]
    ruled_out = {
        aim: sf.tools.membership(table(rows, NAMES), sliced(rows, Slicing(l=2, aim=aim))).ruled_out
        for aim in ("correlations", "membership")
    }
    assert ruled_out["membership"] < ruled_out["correlations"]


def test_what_needs_groups_of_people_who_look_alike_says_so(tmp_path):
    release = sliced(ROWS, Slicing(l=2), output=tmp_path / "slices", format="csv")
    for what in (release, release.folder):
        with pytest.raises(InputError, match="by 'slicing'"):
            sf.breach(what)


def test_models_of_the_table_are_not_promised_any_more():
    policy = sf.Policy(
        columns=dict.fromkeys(NAMES[:3], "quasi-identifier") | {"ill": "sensitive"},
        models=[sf.models.KAnonymity(2)],
    )
    release = sf.decouple(table(ROWS, NAMES), Slicing(l=2), policy=policy)
    assert any("k-anonymity" in warning for warning in release.warnings)
    assert [model.model for model in release.manifest.models] == ["probabilistic-l-diversity"]


def test_a_method_is_a_value():
    assert Slicing(l=2, columns=[["age"], "zip + ill"]).columns == (("age",), ("zip", "ill"))
    assert Slicing(l=2, columns=["age", "ill"]) == Slicing(l=2, columns=[["age"], ["ill"]])
    counts = FrequencySet.from_rows(NAMES, ROWS)
    parts = Slicing.example().run(counts, NAMES[:3], ["ill"], rng=np.random.default_rng(1))
    assert parts.grouped.total == len(ROWS)


def test_tables_in_memory_are_not_believed_more_than_files():
    release = sliced(ROWS, Slicing(l=3))
    files = tuple(replace(file, table="qi") for file in release.manifest.files)
    verdict = sf.verify(replace(release, manifest=replace(release.manifest, files=files)))
    assert [check.name for check in verdict.checks] == ["manifest"]
    assert not verdict.holds


@pytest.mark.parametrize(
    "method",
    [
        Slicing(l=3),
        Slicing(l=2, most=2, overlap=0.1),
        Slicing(l=3.5, form="entropy", slices=3),
        Slicing(l=3, form="recursive", c=2, measure="mutual-information"),
    ],
)
def test_the_census_is_sliced_and_nobody_in_it_is_exposed(method, adult):
    counts = open_table(adult / "adult.csv").count(list(LEVELS))
    names = [name for name in LEVELS if name != "occupation"]
    parts = method.run(counts, names, ["occupation"], rng=np.random.default_rng(1))
    columns = Columns(tuple(part.columns for part in parts.tables), ("occupation",))
    [laid] = SubTuples.of(counts, columns)
    bucket = cut_into_buckets([laid], [counts.codes_of(name) for name in names], method.diversity)
    assert len(parts.grouped) == bucket.max() + 1 > 1000
    assert not len(find_exposed(laid, bucket, method.diversity))
    if method.form == "probabilistic":
        assert beliefs(laid, bucket).max() * method.l <= 1 + 1e-12


def test_what_the_slices_promise_in_the_same_words_is_not_told_as_left_out():
    policy = sf.Policy(
        columns={"age": "quasi-identifier", "zip": "quasi-identifier", "ill": "sensitive"},
        models=[sf.models.ProbabilisticLDiversity("ill", l=2), sf.models.KAnonymity(2)],
        decouple={"method": "slicing", "l": 2},
    )
    ill = ["flu", "gout", "hiv", "ulcer"] * 4
    table = pa.table({"age": ["3", "4"] * 8, "zip": ["1", "1", "2", "2"] * 4, "ill": ill})
    release = sf.decouple(table, policy=policy)
    assert release.manifest.left_out.models == ("k-anonymity with k=2",)
