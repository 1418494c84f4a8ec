"""A synthetic release is one like any other, and says no more than it may."""

import json
from dataclasses import replace

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import InputError, MissingExtraError, ParameterError, PolicyError
from sfumato.files.reading import listening
from sfumato.synthesis.budget import PrivacyBudget
from sfumato.tasks import synthesize as task
from tests.synthesis.stubs import POLICY, people


@pytest.fixture
def made(without_noise, tmp_path):
    return sf.synthesize(people(), POLICY, epsilon=0.3, output=tmp_path / "made", format="csv")


@pytest.mark.usefixtures("patience")
def test_it_is_a_release_like_any_other(made):
    assert made.verdict.holds
    names = {path.name for path in made.folder.iterdir()}
    assert {"data.csv", "manifest.json", "README.md", "codebook.csv", "evidence.json"} <= names
    assert sf.read_release(made.folder).shape == (400, 3)
    assert sf.check_evidence(made.folder).checks
    assert sf.utility(people(), made, policy=POLICY)
    report = sf.report(made).to_markdown()
    assert "differential privacy for each person of at most 1 row: epsilon 0.3" in report
    assert "a belief of 10 % becomes" in report or "10 % at most" in report
    assert "no row is a person's: a mechanism drew them" in report
    for untrue in ("each is one person", "no other person looks like", "look alike", "400 people"):
        assert untrue not in report.replace("of 400 people are at risk", ""), untrue
    readme = (made.folder / "README.md").read_text(encoding="utf-8")
    assert "No row is a person's" in readme
    assert "generalised" not in readme
    assert "synthetic rows" in str(made)


def test_a_larger_budget_is_riskier_and_a_change(without_noise):
    old, new = (sf.synthesize(people(), POLICY, epsilon=each) for each in (0.3, 0.5))
    found = sf.diff(old, new)
    assert {each.name for each in found.riskier} == {
        "whether a person is in the table: most that 10 % becomes",
        "a value of a person who is known to be in it: most that 10 % becomes",
    }
    assert "epsilon 0.3" in str(found)
    assert not sf.diff(new, old).riskier
    assert sf.diff(new, new).same


def test_its_maker_has_a_yes_and_others_an_assumption(made):
    found = sf.verify(made)
    assert found.answer == "yes"
    assert found.beliefs
    assert "at most" in str(found)
    opened = sf.verify(made.folder)
    assert opened.answer == "with care"
    [assumed] = [each for each in opened.assumptions if each.kind == "mechanism"]
    assert assumed.open
    assert assumed.people is not None
    assert sf.verify(made.folder, POLICY).answer == "with care"
    assert json.dumps(opened.to_dict())


def test_a_loose_budget_is_no_yes_and_a_void_one_counts_for_nothing(without_noise):
    loose = sf.verify(sf.synthesize(people(), POLICY, epsilon=1.5))
    assert loose.answer == "with care"
    assert "smaller epsilon" in loose.why[0]
    void = sf.verify(sf.synthesize(people(), POLICY, epsilon=50))
    assert void.attacks  # its rows are judged as people's
    assert not void.beliefs


def lie(folder, change):
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text(encoding="utf-8"))
    change(manifest)
    path.write_text(json.dumps(manifest), encoding="utf-8")
    (folder / "evidence.json").unlink()


@pytest.mark.parametrize(
    ("change", "check"),
    [
        (lambda m: m["synthetic"].update(epsilon=0.1), "privacy budget"),
        (lambda m: m["synthetic"]["measurements"][0].update(scale=0.5), "privacy budget"),
        (lambda m: m["synthetic"]["measurements"][0].update(spent=0.0001), "privacy budget"),
        (lambda m: m["synthetic"].update(selection=0.1), "privacy budget"),
        (lambda m: m["synthetic"].update(contributions=3), "privacy budget"),
        (lambda m: m["synthetic"]["domain"].pop("ill"), "domain"),
        (lambda m: m["synthetic"]["domain"]["ill"].update(values=["flu"]), "domain"),
        (lambda m: m["synthetic"]["domain"]["age"].update(to="40"), "domain"),
        (lambda m: m["synthetic"]["domain"].update(pay={"values": ["a"]}), "domain"),
        (lambda m: m["synthetic"]["domain"].update(ill={}), "domain"),
        (lambda m: m["synthetic"].update(noise="none"), "synthetic"),
        (lambda m: m["synthetic"].update(epsilon="1"), "manifest"),
        (lambda m: m["synthetic"].update(measurements=[]), "synthetic"),
        (lambda m: m["synthetic"].update(rho=0.1), "synthetic"),
        (lambda m: m["synthetic"]["measurements"].pop(), "domain"),
    ],
)
def test_a_lie_in_the_manifest_is_found(made, change, check):
    lie(made.folder, change)
    found = sf.verify(made.folder)
    assert found.answer == "no"
    assert [each.name for each in found.checks if each.status == "broken"] == [check]


def test_columns_counted_together_were_chosen_and_that_costs(made):
    def change(manifest):
        said = manifest["synthetic"]
        first = said["measurements"][0]
        both = {**first, "columns": ["sex", "age"]}
        said.update(epsilon=said["epsilon"] + first["spent"])
        said["measurements"].append(both)

    lie(made.folder, change)
    found = {each.name: each for each in sf.verify(made.folder).checks}
    assert "nothing is said to be spent" in found["privacy budget"].detail


@pytest.mark.usefixtures("synthetic", "patience")
def test_a_delta_that_leaves_somebody_out_is_no_yes(without_noise):
    """Who publishes each person's row with probability delta keeps a promise of that delta."""
    for delta, answer in ((1e-9, "yes"), (1e-4, "with care")):
        found = sf.verify(sf.synthesize(people(), POLICY, epsilon=0.1, delta=delta))
        assert found.answer == answer
        assert found.beliefs
    assert "(delta 0.0001)" in str(found)
    assert "for each of about 400 nothing is promised, which is up to 4 %" in found.why[0]
    void = sf.verify(sf.synthesize(people(2000), POLICY, epsilon=0.1, delta=9e-4))
    assert void.attacks  # its rows are judged as people's
    assert not void.beliefs


@pytest.mark.usefixtures("patience")
def test_a_claim_of_synthetic_rows_helps_no_table_of_people(made, tmp_path):
    """Rows of people, with a manifest that says a mechanism drew them: an open assumption."""
    real = sf.anonymize(people(), {**POLICY, "columns": _without_domains()}, output=tmp_path / "r")
    claimed = json.loads((made.folder / "manifest.json").read_text(encoding="utf-8"))
    honest = sf.verify(real.folder)
    lie(real.folder, lambda m: m.update(synthetic=claimed["synthetic"]))
    # Models are promised beside it, so it is judged by its rows as it was.
    assert sf.verify(real.folder).at_risk == honest.at_risk
    lie_again = json.loads((real.folder / "manifest.json").read_text(encoding="utf-8"))
    assert lie_again["synthetic"]
    found = sf.verify(real.folder)
    assert not found.beliefs


def _without_domains():
    return {"id": "identifier", "sex": "quasi-identifier", "age": "quasi-identifier"} | {
        "ill": "sensitive"
    }


def test_derived_columns_fit_what_they_are_derived_from(without_noise):
    rows = 300
    table = pa.table({"born": [f"19{50 + i % 50}-05-17" for i in range(rows)], "age": [1] * rows})
    policy = {
        "columns": {
            "born": {
                "role": "quasi-identifier",
                "domain": {"from": "1950-01-01", "to": "1999-12-31", "width": "3650d"},
            },
            "years": "quasi-identifier",
            "age": "dropped",
        },
        "derive": [{"kind": "age", "of": "born", "at": "2026-06-01", "into": "years"}],
        "models": [{"model": "k-anonymity", "k": 2}],
    }
    made = sf.synthesize(table, policy, epsilon=0.3)
    assert made.manifest.drawn.derived == ("years",)
    for row in made.table.to_pylist():
        if row["born"] is not None:
            year, month, day = map(int, str(row["born"]).split("-"))
            assert row["years"] == 2026 - year - ((month, day) > (6, 1))


def test_what_rows_of_others_change_is_no_part_of_a_promise_for_rows_or_households(without_noise):
    """A first day that is removed moves all other days of that person."""
    seen = [f"2020-0{1 + i % 3}-05" for i in range(60)]
    table = pa.table({"pid": [i // 3 for i in range(60)], "seen": seen, "home": [1] * 60})
    columns = {
        "pid": "identifier",
        "seen": "dropped",
        "home": "dropped",
        "day": {"role": "quasi-identifier", "domain": {"from": 0, "to": 400, "cuts": [10]}},
    }
    step = {"kind": "relative", "of": "seen", "first": "seen", "into": "day", "person": "pid"}
    policy = {"columns": columns, "derive": [step], "models": [{"model": "k-anonymity", "k": 2}]}
    of_rows = {**policy, "person": {"rows": "each visit is a person's only one"}}
    of_homes = {**policy, "person": "pid", "household": "home"}
    for wrong, unit in ((of_rows, "person"), (of_homes, "household")):
        with pytest.raises(PolicyError, match=r"derive\[0\].*reads all rows of a 'pid' together"):
            sf.synthesize(table, wrong, epsilon=0.3, unit=unit)
    assert sf.synthesize(table, {**policy, "person": "pid"}, epsilon=0.3, contributions=3)


def test_that_rows_of_a_person_are_left_out_is_said(without_noise):
    told = []
    with listening(told.append):
        sf.synthesize(people(), POLICY, epsilon=0.3)
        assert not told
        sf.synthesize(pa.concat_tables([people()] * 2), POLICY, epsilon=0.3)
    assert "more rows than count of one person: 1 of each" in told[0]


@pytest.mark.parametrize(
    ("given", "error", "told"),
    [
        ({}, ParameterError, "epsilon must be given"),
        ({"epsilon": 0}, ParameterError, "above 0"),
        ({"epsilon": 1, "rho": 1}, ParameterError, "epsilon must be given"),
        ({"epsilon": 1, "delta": 0.5}, ParameterError, "delta"),
        ({"epsilon": float("nan")}, ParameterError, "epsilon"),
        ({"rho": 0.1}, ParameterError, "delta"),
        ({"epsilon": 1, "mechanism": "magic"}, ParameterError, "'mst' or 'aim'"),
        ({"epsilon": 1, "contributions": 0}, ParameterError, "contributions"),
        ({"epsilon": 1, "unit": "household"}, ParameterError, "who lives together"),
        ({"epsilon": 1e-9}, ParameterError, "would drown every count"),
        ({"epsilon": 1, "contributions": 10**9}, ParameterError, "would drown every count"),
        ({"epsilon": 10**400}, ParameterError, "at most 100"),
    ],
)
def test_bad_budgets_are_refused_and_nothing_is_written(
    without_noise, tmp_path, given, error, told
):
    with pytest.raises(error, match=told):
        sf.synthesize(people(), POLICY, output=tmp_path / "made", **given)
    assert not [*tmp_path.iterdir()]


def test_what_cannot_be_drawn_is_refused_before_anything_is_spent(monkeypatch, tmp_path):
    monkeypatch.setattr(task, "require_extra", lambda: None)
    monkeypatch.setattr(task, "fit", None)  # whoever calls it fails
    wide = {"from": 0, "to": 9_000, "width": 1}
    columns = POLICY["columns"]
    age, ill = columns["age"], columns["ill"]
    no_two = {**POLICY, "columns": {**columns, "age": {**age, "domain": wide}, "ill": ill}}
    no_two["columns"]["ill"] = {"role": "sensitive", "domain": wide}
    refused = {
        "no two columns may have more than": no_two,
        "has no cell for 1 value of the table: 'gout'": {
            **POLICY,
            "columns": {**columns, "ill": {**ill, "domain": ["flu", "cold"]}},
        },
        "has no public domain": {**POLICY, "columns": {**columns, "ill": "sensitive"}},
        "synthetic rows have no such column": {
            **POLICY,
            "columns": {**columns, "ill": {"role": "weight"}},
        },
    }
    for told, policy in refused.items():
        with pytest.raises((PolicyError, InputError), match=told):
            sf.synthesize(people(), policy, epsilon=1, output=tmp_path / "made")
    assert not [*tmp_path.iterdir()]


def test_without_the_extra_the_command_that_installs_it_is_told(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(MissingExtraError, match=r'pip install "sfumato\[synthetic\]"'):
        sf.synthesize(people(), POLICY, epsilon=1)


def test_rows_without_a_person_are_refused(without_noise):
    table = people(20)
    table = table.set_column(0, "id", pa.array([None, *range(19)]))
    with pytest.raises((PolicyError, InputError), match="id"):
        sf.synthesize(table, POLICY, epsilon=1)


def test_a_budget_that_is_pure_needs_no_library():
    assert PrivacyBudget.of(epsilon=1).pure
    assert replace(PrivacyBudget.of(epsilon=1), rho=0.5).spent == 0.5
