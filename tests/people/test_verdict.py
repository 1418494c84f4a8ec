"""Verdicts on releases of people with several rows, and of households."""

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.attacks import ATTACKS
from sfumato.errors import ParameterError, PolicyError

ILL = ["flu", "gout", "hiv", "none"]


def panel(people=300, waves=4, seed=0):
    """People who are seen up to four times, with what they have at the time."""
    rng = np.random.default_rng(seed)
    who = np.repeat(np.arange(people), rng.integers(1, waves + 1, people))
    return pa.table(
        {
            "id": who,
            "home": who // 3,
            "sex": np.array(["f", "m"])[who % 2],
            "age": 20 + 10 * rng.integers(0, 4, len(who)),
            "ill": rng.choice(ILL, len(who)),
        }
    )


def policy_of(**settings):
    columns = {
        "id": "identifier",
        "home": "dropped",
        "sex": "quasi-identifier",
        "age": "quasi-identifier",
        "ill": "sensitive",
    }
    models = [sf.models.KAnonymity(5)]
    return sf.Policy(
        **{"columns": columns, "models": models, "person": "id", "suppression": "20%", **settings}
    )


@pytest.mark.usefixtures("patience")
def test_every_attack_counts_the_people_of_a_release(tmp_path):
    table, policy = panel(), policy_of(household="home")
    file = tmp_path / "people.parquet"
    release = sf.anonymize(table, policy, output=tmp_path / "release", people_file=file)
    found = sf.verify(tmp_path / "release", policy, people_file=file, data=table)
    tried = {outcome.attack for outcome in found.attacks if outcome.tried}
    assert {"linking", "homogeneity", "household", "membership", "skewness"} <= tried
    assert {outcome.of for outcome in found.attacks if outcome.tried} == {300}
    assert found.attack("household").settings["of_households"] == 100
    # As the release that was just made says itself.
    assert sf.verify(release, policy, attacks=["linking"]).attack("linking").of == 300


def test_what_is_not_defined_for_people_leaves_care(tmp_path):
    table, policy = panel(), policy_of()
    release = sf.anonymize(table, policy)
    found = sf.verify(release, policy, data=table, attacks=list(ATTACKS))
    assert not found.attack("minimality").tried
    assert any("minimality was not tried" in why for why in found.why) or found.answer == "no"
    assert found.answer != "yes"


def test_a_person_alone_in_a_class_is_found_however_many_rows_they_have():
    rows = [(n, "f", 20, ill) for n, ill in zip(range(8), ILL * 2, strict=True)]
    rows += [(9, "m", 30, ill) for ill in ILL * 2]
    table = pa.table(dict(zip(["id", "sex", "age", "ill"], zip(*rows, strict=True), strict=True)))
    by_rows = sf.verify(table, quasi_identifiers=["sex", "age"], sensitive=["ill"])
    assert by_rows.attack("linking").people == 0
    columns = {"id": "identifier", "sex": "quasi-identifier", "age": "plain", "ill": "sensitive"}
    models = [sf.models.AverageRisk(risk=0.9)]
    policy = sf.Policy(columns=columns, models=models, person="id")
    found = sf.verify(sf.anonymize(table, policy), policy)
    outcome = found.attack("linking")
    assert (outcome.people, outcome.of) == (1, 9)
    assert found.answer == "no"


def test_households_with_one_row_per_person_are_judged_too():
    table = panel(waves=1)
    release = sf.anonymize(table, policy_of(household="home"))
    assert "household" in release.people.column_names
    assert "household" not in release.table.column_names
    assert not {*release.people["household"].to_pylist()} & {*table["home"].to_pylist()}
    found = sf.verify(release, policy_of(household="home"))
    assert found.attack("household").of == 300
    # Models that count rows only still do.
    share = sf.models.KEAnonymity("ill", k=2, e=1)
    numbers = table.set_column(4, "ill", pa.array(np.arange(len(table)) % 50))
    rows = sf.anonymize(numbers, policy_of(household="home", models=[share]))
    assert rows.people is None
    assert any("household" in note for note in rows.unprotected)


@pytest.mark.parametrize("method", ["full-domain", "regional", "mondrian", "top-down", "bottom-up"])
def test_every_method_keeps_who_lives_together(method):
    table = panel()
    release = sf.anonymize(table, policy_of(household="home", method=method))
    people = release.people.to_pylist()
    homes = {}
    for line in people:
        assert homes.setdefault(line["person"], line["household"]) == line["household"]
    assert sf.verify(release, attacks=["household"]).attack("household").tried


@pytest.mark.parametrize("method", ["full-domain", "mondrian"])
def test_policies_are_compared_by_people(method):
    table = panel(people=60, seed=3)
    policy = policy_of(household="home", method=method)
    found = sf.compare(table, policy, vary={"k": [2, 6]})
    for k in (2, 6):
        point = found[f"k={k}"]
        assert point.policy.household == "home"
        models = [sf.models.KAnonymity(k)]
        release = sf.anonymize(table, policy.replace(models=models), seed=0)
        classes = {}
        for line in release.people.to_pylist():
            classes.setdefault((line["sex"], line["age"]), set()).add(line["person"])
        sizes = [len(people) for people in classes.values()]
        assert point.smallest == min(sizes) >= k
        assert point.risks["prosecutor"] == 1 / min(sizes)
        assert point.risks["mean"] == pytest.approx(len(sizes) / sum(sizes))
        assert "household" in {outcome.attack for outcome in point.attacks}
        assert {outcome.of for outcome in point.attacks} == {
            len({line["person"] for line in release.people.to_pylist()})
        }


@pytest.mark.usefixtures("patience")
def test_a_report_counts_people_unless_it_is_public(tmp_path):
    table, policy, file = panel(), policy_of(household="home"), tmp_path / "people.csv"
    release = sf.anonymize(table, policy, output=tmp_path / "release", people_file=file)
    own = sf.report(tmp_path / "release", policy=policy, people_file=file).to_dict()
    assert "300" in str(own)
    assert "of 100 households" in str(sf.verify(release, policy).attack("household").note)
    for public in (sf.report(release, public=True), sf.report(tmp_path / "release", public=True)):
        assert "households have a member" not in public.to_markdown()
        assert "not recounted" in public.to_markdown()
    with pytest.raises(ParameterError, match="left out with public=True"):
        sf.report(release, people_file=file, public=True)


def test_what_is_explained_by_rows_says_so(tmp_path):
    file = tmp_path / "people.parquet"
    sf.anonymize(panel(), policy_of(), output=tmp_path / "release", people_file=file)
    asked = {"sex": "f", "age": 30}
    by_rows = sf.explain(tmp_path / "release", asked)
    assert "rows are counted here" in str(by_rows)
    by_people = sf.explain(tmp_path / "release", asked, people_file=file)
    assert by_people.of == 300 < by_rows.of
    assert "rows are counted here" not in str(by_people)


def test_attacks_on_a_table_count_people():
    rows = [(1, "f", "flu"), (1, "f", "flu"), (2, "f", "hiv"), (3, "m", "hiv")]
    table = pa.table(dict(zip(["id", "sex", "ill"], zip(*rows, strict=True), strict=True)))
    [found] = sf.tools.attack(table, ["sex"], [sf.attacks.Homogeneity("ill")], person="id")
    assert str(found) == "homogeneity(ill) exposes 1 of 3 people, in 1 of 2 classes"
    with pytest.raises(ParameterError, match="neither known nor attacked"):
        sf.tools.attack(table, ["sex"], [sf.attacks.Homogeneity("ill")], person="sex")


def test_who_lives_together_is_not_published():
    columns = dict.fromkeys(["sex", "age"], "quasi-identifier") | {"ill": "sensitive"}
    published = {**columns, "id": "identifier", "home": "plain"}
    with pytest.raises(PolicyError, match=r"says who lives together, and it is published: 100 of"):
        sf.anonymize(panel(), policy_of(columns=published, household="home"))


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"household": "hom"}, "'hom' is not under columns. Did you mean 'home'"),
        ({"household": "ill"}, "'ill' is sensitive: what says who lives together is"),
        ({"household": "id"}, "'id' identifies people"),
        (
            {"household": "home", "person": None},
            "name the column that identifies them, as in person:",
        ),
    ],
)
def test_a_wrong_household_is_refused(settings, text):
    with pytest.raises(PolicyError, match=text):
        policy_of(**settings)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_people_without_a_household_live_alone_in_every_format(tmp_path, ending):
    table = panel()
    homes = [None if home % 5 == 0 else home for home in table["home"].to_pylist()]
    table = table.set_column(1, "home", pa.array(homes))
    file = tmp_path / f"people.{ending}"
    policy = policy_of(household="home")
    sf.anonymize(table, policy, output=tmp_path / "release", people_file=file, seed=1)
    found = sf.verify(tmp_path / "release", policy, people_file=file, attacks=["household"])
    assert found.attack("household").settings["of_households"] == 80
    assert found.attack("household").of == 300


@pytest.mark.usefixtures("patience")
def test_utility_says_how_many_people_are_left_and_that_the_rest_are_rows(tmp_path):
    rows = [(n, "f", 20, "flu") for n in range(6)] * 2 + [(9, "m", 30, "gout")] * 3
    names = ["id", "sex", "age", "ill"]
    table = pa.table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))
    exact = {"role": "quasi-identifier", "levels": [0, 0]}
    columns = {"id": "identifier", "ill": "sensitive", "sex": exact, "age": exact}
    policy = policy_of(columns=columns, suppression="50%")
    file = tmp_path / "people.parquet"
    release = sf.anonymize(table, policy, output=tmp_path / "release", people_file=file)
    for found in (
        sf.utility(table, release, policy=policy, queries=20),
        sf.utility(table, tmp_path / "release", policy=policy, queries=20, people_file=file),
    ):
        assert (found.rows, found.published) == (15, 12)
        assert (found.people.people, found.people.published) == (7, 6)
        assert "6 of 7 people published" in str(found)
    blind = sf.utility(table, {"one": tmp_path / "release"}, policy=policy, queries=20)
    assert blind["one"].people.published is None
    assert "takes the people file" in str(blind)
    both = {"one": release, "two": release}
    assert " people " in str(sf.utility(table, both, policy=policy, queries=20))
    with pytest.raises(ParameterError, match="that of one release"):
        sf.utility(table, both, policy=policy, people_file=file)


def test_whom_plain_columns_single_out_is_not_known_by_rows():
    who = np.repeat(np.arange(60), 5)
    columns = {"id": who, "sex": np.array(["f", "m"])[who % 2], "village": who // 2}
    table = pa.table({**columns, "ill": np.resize(ILL, len(who))})
    roles = {"id": "identifier", "sex": "quasi-identifier", "ill": "sensitive"}
    models = [sf.models.KAnonymity(5)]
    policy = sf.Policy(columns={**roles, "village": "plain"}, models=models, person="id")
    # Everyone is the only one of their sex and village, with five rows.
    release = sf.anonymize(table, policy)
    assert any("may all be of one person" in warning for warning in release.warnings)
    found = sf.verify(release, policy)
    assert found.answer == "with care"
    assert any("rows were counted, of which people have several" in why for why in found.why)


def test_what_is_advised_can_be_followed():
    rng = np.random.default_rng(0)
    who = np.repeat(np.arange(200), 2)
    pay = np.where(
        who % 4 == 0, 1000 + rng.integers(0, 5, len(who)), rng.integers(0, 900, len(who))
    )
    table = pa.table({"id": who, "sex": np.array(list("fmmm"))[who % 4], "pay": pay})
    columns = {"id": "identifier", "sex": "quasi-identifier", "pay": "sensitive"}
    models = [sf.models.KAnonymity(5)]
    found = sf.verify(table, sf.Policy(columns=columns, models=models, person="id"))
    outcome = found.attack("similarity")
    assert outcome.people
    assert "category-share" in outcome.advice
    assert "k-e-anonymity" not in outcome.advice
