"""Verify: releases against their manifests and policies, plain tables against a policy."""

import json
from collections import Counter
from dataclasses import replace
from importlib import import_module

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.errors import InputError, ParameterError, PolicyError, UnknownColumnError
from tests.verifier.releases import edit_manifest, seal

AGES = [21, 24, 25, 29, 33, 38, 39, 31]
ILLS = ["flu", "gout", "flu", "hiv", "flu", "gout", "hiv", "flu"]
PEOPLE = {"name": list("ABCDEFGH"), "age": AGES, "ill": ILLS}
DECADES = {"kind": "intervals", "widths": [10]}


def policy_of(*models, **settings):
    columns = {
        "name": "identifier",
        "age": {"role": "quasi-identifier", "hierarchy": DECADES},
        "ill": "sensitive",
    }
    return sf.Policy(columns=columns, models=models or [sf.models.KAnonymity(4)], **settings)


@pytest.fixture
def released(tmp_path):
    sf.anonymize(pa.table(PEOPLE), policy_of(), output=tmp_path / "release", format="csv")
    return tmp_path / "release"


def failing(verdict):
    return [check.name for check in verdict.checks if check.status != "holds"]


def test_a_release_folder_holds(released):
    assert sf.verify(released).holds
    assert sf.verify(str(released), policy_of()).holds


@pytest.mark.parametrize("kind", ["arrow", "pandas", "polars"])
def test_a_release_in_memory_holds(kind):
    table = pa.table(PEOPLE)
    if kind == "polars":
        table = import_module("polars").from_arrow(table)
    if kind == "pandas":
        import_module("pandas")
        table = table.to_pandas()
    release = sf.anonymize(table, policy_of())
    assert sf.verify(release).holds
    assert sf.verify(release, policy_of()).holds


def test_a_release_on_disk_is_read_again(tmp_path):
    release = sf.anonymize(pa.table(PEOPLE), policy_of(), output=tmp_path / "release")
    data = tmp_path / "release" / "data.parquet"
    pq.write_table(pq.read_table(data).slice(1), data)
    verdict = sf.verify(release)
    assert {"sha256", "rows", "k-anonymity"} <= set(failing(verdict))


def test_a_changed_table_in_memory_is_found_out():
    release = sf.anonymize(pa.table(PEOPLE), policy_of())
    verdict = sf.verify(replace(release, table=release.table.slice(1)))
    assert failing(verdict) == ["rows", "figures", "k-anonymity"]


def test_a_manifest_that_promises_less_than_the_policy_breaks_it(released):
    def weaken(manifest):
        manifest["models"][0]["k"] = 2

    edit_manifest(released, weaken)
    seal(released)
    assert sf.verify(released).verdict.holds
    check = sf.verify(released, policy_of())["policy"]
    assert check.status == "broken"
    assert check.detail == "the release does not promise k-anonymity with k=4"


def test_a_release_that_promises_more_than_the_policy_keeps_it(released):
    assert sf.verify(released, policy_of(sf.models.KAnonymity(3)))["policy"].status == "holds"
    check = sf.verify(released, policy_of(sf.models.KAnonymity(5)))["policy"]
    assert check.status == "broken"


CATEGORIES = (("hiv",), ("gout",), ("flu",))
STRICTER = [
    (sf.models.RangeShare("ill", within=1, share=0.7), sf.models.RangeShare("ill", 0.5, 0.8)),
    (sf.models.KAnonymity(3), sf.models.KAnonymity(2)),
    (sf.models.DistinctLDiversity("ill", l=3), sf.models.DistinctLDiversity("ill", l=2)),
    (sf.models.ProbabilisticLDiversity("ill", l=2), sf.models.ProbabilisticLDiversity("ill", 1.5)),
    (sf.models.EntropyLDiversity("ill", l=2), sf.models.EntropyLDiversity("ill", l=1.5)),
    (
        sf.models.RecursiveCLDiversity("ill", c=3, l=3),
        sf.models.RecursiveCLDiversity("ill", c=4, l=2),
    ),
    (sf.models.TCloseness("ill", t=0.6), sf.models.TCloseness("ill", t=0.7)),
    (
        sf.models.AlphaKAnonymity("ill", alpha=0.6, k=3),
        sf.models.AlphaKAnonymity("ill", alpha=0.7, k=2, protected=("flu",)),
    ),
    (
        sf.models.PSensitiveKAnonymity("ill", p=3, k=3),
        sf.models.PSensitiveKAnonymity("ill", p=2, k=2),
    ),
    *(
        (kind("ill", 2, 1, 3, CATEGORIES), kind("ill", 1, 0.5, 2, CATEGORIES))
        for kind in (
            sf.models.PAlphaSensitiveKAnonymity,
            sf.models.EnhancedPAlphaSensitiveKAnonymity,
        )
    ),
    (
        sf.models.CategoryShare("ill", 0.4, categories=(("hiv",),)),
        sf.models.CategoryShare("ill", 0.5, categories=(("hiv",),)),
    ),
    (sf.models.KEAnonymity("ill", k=3, e=3), sf.models.KEAnonymity("ill", k=2, e=1)),
    (sf.models.BasicBetaLikeness("ill", beta=3), sf.models.BasicBetaLikeness("ill", beta=4)),
    (sf.models.EnhancedBetaLikeness("ill", beta=3), sf.models.EnhancedBetaLikeness("ill", beta=4)),
    (sf.models.DeltaDisclosure("ill", delta=2), sf.models.DeltaDisclosure("ill", delta=3)),
    (sf.models.MaximumRisk(0.3), sf.models.MaximumRisk(0.5)),
    (sf.models.AverageRisk(0.3), sf.models.AverageRisk(0.5)),
    (sf.models.SampleUniqueness(0.01), sf.models.SampleUniqueness(0.05)),
    (sf.models.KMap(3), sf.models.KMap(2)),
    (sf.models.EstimatedKMap(4, fraction=0.5), sf.models.EstimatedKMap(3, fraction=0.4)),
    (
        sf.models.WeightedKMap("ill", k=4, confidence=0.95),
        sf.models.WeightedKMap("ill", k=3, confidence=0.9),
    ),
    (sf.models.KmAnonymity(3, 2), sf.models.KmAnonymity(2, 1)),
    (sf.models.DeltaPresence(0.2, 0.6), sf.models.DeltaPresence(0.1, 0.7)),
]


def test_every_model_is_among_the_stricter_ones():
    assert {type(stricter).name for stricter, _ in STRICTER} == set(sf.models.MODELS)


@pytest.mark.parametrize(("stricter", "weaker"), STRICTER, ids=lambda model: model.name)
def test_a_stricter_release_keeps_the_weaker_policy_whatever_the_model(tmp_path, stricter, weaker):
    table = pa.table(
        {
            "age": [str(age) for age in range(10, 46)],
            "ill": [1, 2, 5] * 12 if stricter.needs_numbers else ["flu", "hiv", "gout"] * 12,
        }
    )
    people = tmp_path / "people.parquet"
    pq.write_table(pa.table({"age": [str(age) for age in range(10, 46)] * 2}), people)
    given = {"population": str(people)} if stricter.needs_population else {}
    columns = {
        "age": {"role": "quasi-identifier", "hierarchy": {"kind": "masking"}},
        "ill": "weight" if stricter.of_weights else "sensitive",
    }
    if stricter.protects_sets:
        table = table.append_column("items", pa.array([["a", "b"], ["a"], ["b"]] * 12))
        columns["items"] = "set"
    kept, asked = (
        sf.Policy(columns=columns, models=[model], **given) for model in (stricter, weaker)
    )
    release = sf.anonymize(table, kept)
    given = {"population": people} if stricter.needs_population else {}
    found = sf.verify(release, asked, **given)
    assert found["policy"].status == "holds"
    # The verifier recomputes both, by itself.
    judged = [check for check in found.verdict.checks if check.name == weaker.name]
    assert [check.status for check in judged] == ["holds", "holds"]
    assert judged[1].promised == json.loads(json.dumps(weaker.params()))
    broken = sf.verify(sf.anonymize(table, asked), kept)["policy"]
    assert broken.status == "broken"
    assert f"does not promise {stricter.name}" in broken.detail


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"missing": "matches-any"}, "missing is own-value in the release and matches-any"),
        ({"columns": {"age": "quasi-identifier", "ill": "plain"}}, "gives 'ill' another role"),
        (
            {"columns": {"age": "quasi-identifier", "ill": "sensitive", "pay": "plain"}},
            "publishes 'pay', the release does not",
        ),
    ],
)
def test_a_release_made_with_other_settings_does_not_keep_the_policy(released, settings, words):
    columns = {"age": "quasi-identifier", "ill": "sensitive"}
    policy = sf.Policy(**{"columns": columns, "models": [sf.models.KAnonymity(4)], **settings})
    verdict = sf.verify(released, policy)
    assert failing(verdict) == ["policy"]
    assert words in verdict["policy"].detail


SOUND = {"grave": ["hiv", "syphilis"], "light": ["flu", "cold"]}
MIXED = {"one": ["hiv", "flu"], "other": ["syphilis", "cold"]}


def in_tree(tree, **settings):
    ill = {"role": "sensitive", "hierarchy": {"kind": "taxonomy", "tree": tree}}
    close = sf.models.TCloseness("ill", t=0.3, distance="hierarchical")
    return sf.Policy(
        columns={"age": "quasi-identifier", "ill": ill},
        models=[sf.models.KAnonymity(4), close],
        **settings,
    )


@pytest.mark.usefixtures("patience")
def test_closeness_is_measured_in_the_hierarchy_of_the_policy(tmp_path):
    grave, light = ["hiv", "syphilis"] * 10, ["flu", "cold"] * 10
    table = pa.table({"age": [30] * 20 + [40] * 20, "ill": grave + light})
    sf.anonymize(table, in_tree(MIXED), output=tmp_path / "mixed")
    assert sf.verify(tmp_path / "mixed", in_tree(MIXED))["policy"].status == "holds"
    # Who is 30 has something grave, which a tree that mixes both calls close to all others.
    check = sf.verify(tmp_path / "mixed", in_tree(SOUND))["policy"]
    assert check.status == "broken"
    assert check.detail == "the hierarchy of 'ill' is not that of the policy"
    other = {"grave": ["hiv"], "light": ["flu", "cold"]}
    assert sf.verify(tmp_path / "mixed", in_tree(other))["policy"].status == "broken"


def test_spelling_makes_no_other_hierarchy(tmp_path):
    tree = {"Grave": ["HIV", "Heart failure"], "Light": ["Flu", "Common cold"]}
    table = pa.table({"age": [30] * 8, "ill": ["HIV", "Heart failure", "Flu", "Flu"] * 2})
    sf.anonymize(table, in_tree(tree), output=tmp_path / "r")
    assert sf.verify(tmp_path / "r", in_tree(tree))["policy"].status == "holds"


def test_numbers_in_a_manifest_are_written_as_usual(tmp_path):
    pay = {"role": "sensitive", "hierarchy": {"kind": "intervals", "widths": [500, 1000]}}
    close = sf.models.TCloseness("pay", t=0.6, distance="hierarchical")
    policy = sf.Policy(columns={"age": "quasi-identifier", "pay": pay}, models=[close])
    release = sf.anonymize(
        pa.table({"age": [30] * 8, "pay": [1000, 2000, 2500, 0] * 2}), policy, output=tmp_path / "r"
    )
    assert sorted(release.manifest.hierarchies["pay"]) == ["0", "1000", "2000", "2500"]
    assert sf.verify(tmp_path / "r", policy)["policy"].status == "holds"


def test_a_hierarchy_for_the_published_values_is_that_of_the_policy(tmp_path):
    table = pa.table(
        {"age": [30] * 8 + [99], "ill": ["hiv", "flu", "cold", "flu"] * 2 + ["syphilis"]}
    )
    policy = in_tree(SOUND, suppression=1)
    sf.anonymize(table, policy, output=tmp_path / "r")
    assert sf.verify(tmp_path / "r", policy)["policy"].status == "holds"


def test_more_suppressed_rows_than_the_policy_allows_break_it(tmp_path):
    table = pa.table({**PEOPLE, "age": [*AGES[:-1], 77]})
    sf.anonymize(table, policy_of(sf.models.KAnonymity(3), suppression=1), output=tmp_path / "r")
    verdict = sf.verify(tmp_path / "r", policy_of(sf.models.KAnonymity(3)))
    assert verdict["policy"].detail == "1 of 8 rows were suppressed, the policy allows 0"


def test_a_folder_without_a_manifest_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"there is no manifest.json in"):
        sf.verify(tmp_path, policy_of())


def test_a_manifest_that_is_no_json_is_broken(released):
    (released / "manifest.json").write_text("{", encoding="utf-8")
    assert failing(sf.verify(released, policy_of())) == ["manifest"]


def test_a_plain_table_needs_a_policy():
    with pytest.raises(ParameterError, match=r"policy must be a policy .* plain table promises no"):
        sf.verify(pa.table(PEOPLE), attacks=False)


def test_a_plain_table_without_a_policy_needs_roles_to_be_attacked():
    with pytest.raises(ParameterError, match=r"nothing says what the columns are"):
        sf.verify(pa.table(PEOPLE))


def test_what_is_not_there_is_named_before_the_policy_is_missed(tmp_path):
    with pytest.raises(InputError, match=r"there is no file .*patients\.csv"):
        sf.verify(tmp_path / "patients.csv")


def test_a_missing_policy_file_is_named(tmp_path):
    with pytest.raises(PolicyError, match=r"nowhere\.yaml"):
        sf.verify(pa.table(PEOPLE), tmp_path / "nowhere.yaml")


def test_a_plain_table_is_judged_as_it_stands(tmp_path):
    table = pa.table({"age": ["2*", "2*", "3*", "3*"], "ill": ["flu", "gout", "flu", "flu"]})
    path = tmp_path / "people.parquet"
    pq.write_table(table, path)
    two = policy_of(sf.models.KAnonymity(2))
    assert sf.verify(path, two).verdict.holds
    diverse = policy_of(sf.models.KAnonymity(2), sf.models.DistinctLDiversity("ill", l=2))
    verdict = sf.verify(path, diverse)
    assert failing(verdict) == ["distinct-l-diversity"]
    assert verdict["distinct-l-diversity"].worst == {"age": "3*"}


def test_columns_the_policy_does_not_name_do_not_matter():
    table = pa.table({"age": [30, 30], "ill": ["flu", "flu"], "ward": [1, 2]})
    assert sf.verify(table, policy_of(sf.models.KAnonymity(2))).holds


def test_identifiers_in_a_plain_table_break_it():
    table = pa.table({"name": ["A", "B"], "age": [30, 30]})
    check = sf.verify(table, policy_of(sf.models.KAnonymity(2)))["identifiers"]
    assert (check.status, "'name'" in check.detail) == ("broken", True)


def test_columns_to_be_dropped_break_a_plain_table():
    table = pa.table({"age": [30, 30], "ward": [1, 2]})
    policy = sf.Policy(
        columns={"age": "quasi-identifier"}, models=[sf.models.KAnonymity(2)], other="dropped"
    )
    assert failing(sf.verify(table, policy)) == ["dropped columns"]


@pytest.mark.parametrize("lacking", ["age", "ill"])
def test_a_table_without_what_the_models_look_at_is_refused(lacking):
    table = pa.table({"age": [30, 30], "ill": ["flu", "gout"], "agee": [1, 2]}).drop([lacking])
    policy = policy_of(sf.models.DistinctLDiversity("ill", l=2))
    with pytest.raises(UnknownColumnError, match=f"no column '{lacking}' in the table"):
        sf.verify(table, policy)


@given(
    rows=st.lists(
        st.tuples(st.sampled_from([20, 30, None]), st.sampled_from("fm")), min_size=1, max_size=12
    ),
    k=st.integers(2, 4),
)
def test_k_anonymity_of_any_table_is_the_textbooks(rows, k):
    ages, sexes = zip(*rows, strict=True)
    policy = sf.Policy(
        columns={"age": "quasi-identifier", "sex": "quasi-identifier"},
        models=[sf.models.KAnonymity(k)],
    )
    verdict = sf.verify(pa.table({"age": ages, "sex": sexes}), policy)
    assert verdict["k-anonymity"].found == {"k": min(Counter(rows).values())}
    assert verdict.holds == (min(Counter(rows).values()) >= k)


@pytest.mark.parametrize(
    ("rule", "broken"),
    [
        ("own-value", ["k-anonymity"]),
        ("matches-any", []),
        ("suppress", ["missing values", "k-anonymity"]),
    ],
)
def test_missing_values_of_a_plain_table_mean_what_the_policy_says(rule, broken):
    # The one of 30 may be any of the three; the others may have ages that no row has.
    table = pa.table({"age": [30, None, None], "ill": ["flu", "gout", "hiv"]})
    verdict = sf.verify(table, policy_of(sf.models.KAnonymity(2), missing=rule))
    assert failing(verdict) == broken


def test_distances_in_a_plain_table_come_from_the_policys_hierarchy():
    tree = {"stomach": ["ulcer", "gastritis"], "lung": ["flu", "asthma"]}
    policy = sf.Policy(
        columns={
            "age": "quasi-identifier",
            "ill": {"role": "sensitive", "hierarchy": {"kind": "taxonomy", "tree": tree}},
        },
        models=[sf.models.TCloseness("ill", t=0.5, distance="hierarchical")],
    )
    # Within a branch the distance is 1/2, and half of each class's rows move that far.
    near = pa.table({"age": [20, 20, 30, 30], "ill": ["ulcer", "flu", "gastritis", "asthma"]})
    # Across branches it is 1: half of the rows move from stomach to lung.
    far = pa.table({"age": [20, 20, 30, 30], "ill": ["ulcer", "gastritis", "flu", "asthma"]})
    assert sf.verify(near, policy)["t-closeness"].found == {"t": 0.25}
    assert sf.verify(far, policy)["t-closeness"].found == {"t": 0.5}


# Two of the people below are in their twenties and two in their thirties.
SAMPLE = {"age": [21, 25, 33, 38], "ill": ["flu", "gout", "flu", "hiv"]}


def population_policy(path, *models):
    return sf.Policy(
        columns={"age": {"role": "quasi-identifier", "hierarchy": DECADES}, "ill": "sensitive"},
        models=models,
        population=str(path),
    )


@pytest.fixture
def people(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("age\n" + "".join(f"{age}\n" for age in [21, 25, 26, 29, 33, 38, 39]))
    return path


@pytest.fixture
def mapped(tmp_path, people):
    policy = population_policy(people, sf.models.KMap(3))
    release = sf.anonymize(pa.table(SAMPLE), policy, output=tmp_path / "mapped")
    # No age has three people, so decades it must be: four people and three.
    assert release.levels == {"age": 1}
    return release


def test_k_map_of_a_folder_is_found_with_policy_and_population(mapped, people):
    policy = population_policy(people, sf.models.KMap(3))
    verdict = sf.verify(mapped.folder, policy)
    assert verdict.holds
    assert verdict["k-map"].found == {"k": 3}


def test_without_the_population_k_map_stays_unchecked(mapped):
    check = sf.verify(mapped.folder)["k-map"]
    assert (check.status, "population" in check.detail) == ("unchecked", True)


def test_another_population_is_counted_anew(mapped, people):
    policy = population_policy(people, sf.models.KMap(3))
    smaller = pa.table({"age": [21, 25, 26, 29, 33, 38]})
    verdict = sf.verify(mapped, policy, population=smaller)
    assert verdict["k-map"].found == {"k": 2}
    assert failing(verdict) == ["k-map"]


def test_delta_presence_in_memory_is_found_with_the_population(people):
    policy = population_policy(people, sf.models.DeltaPresence(minimum=0.4, maximum=0.7))
    release = sf.anonymize(pa.table(SAMPLE), policy)
    found = sf.verify(release, policy)["delta-presence"].found
    # Two of four in their twenties, two of three in their thirties.
    assert found == {"minimum": 0.5, "maximum": pytest.approx(2 / 3)}


def test_a_population_without_the_policy_is_refused(mapped, people):
    with pytest.raises(ParameterError, match=r"policy must be the policy of the release"):
        sf.verify(mapped.folder, population=people)


def test_a_population_of_other_values_is_refused(tmp_path, people):
    masked = {"age": {"role": "quasi-identifier", "hierarchy": {"kind": "masking"}}}
    policy = sf.Policy(
        columns=masked, models=[sf.models.KMap(3)], population=str(people), other="plain"
    )
    release = sf.anonymize(pa.table(SAMPLE), policy, output=tmp_path / "masked")
    with pytest.raises(InputError, match=r"'age' has 3 levels .* and 2 in the release"):
        sf.verify(release, policy, population=pa.table({"age": ["021", "025"]}))


def test_a_plain_table_is_compared_with_the_population_as_it_is(people):
    policy = population_policy(people, sf.models.KMap(2))
    assert sf.verify(pa.table(SAMPLE), policy)["k-map"].found == {"k": 1}


def test_the_verdict_is_plain_data(released):
    plain = json.loads(json.dumps(sf.verify(released, policy_of()).to_dict()))
    assert plain["holds"] is True
    assert plain["checks"][-1] == {
        "name": "policy",
        "status": "holds",
        "promised": None,
        "found": None,
        "detail": "not to be seen in the files: how it was made, how many rows were removed",
    }


@pytest.mark.parametrize("known", [None, [], ()], ids=repr)
def test_a_table_without_quasi_identifiers_is_not_judged(known, tmp_path):
    """No class is too small if everybody is in one: any table would pass."""
    table = pa.table({"code": [f"{i:04}" for i in range(40)], "ill": ["flu", "gout"] * 20})
    with pytest.raises(ParameterError, match=r"at least one, got .*--qi age,zip"):
        sf.verify(table, quasi_identifiers=known, sensitive=["ill"])


def test_roles_that_are_named_for_a_release_have_a_quasi_identifier_too(released):
    with pytest.raises(ParameterError, match="at least one"):
        sf.verify(released, quasi_identifiers=[])
