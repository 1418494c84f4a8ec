"""Nobody improves an answer by what they write: in a manifest, in evidence, or beside a release."""

import json
import shutil

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from tests.verdict.published import ANSWERS, column_of, edit

ILLS = ["asthma", "gout", "ulcer", "angina", "migraine"]


def people(seed=11, classes=16, size=30) -> pa.Table:
    """Return people of whom one district is ill alike, and whose drug tells the illness."""
    rng = np.random.default_rng(seed)
    district = np.arange(classes * size) % classes
    ill = rng.integers(0, len(ILLS), len(district))
    drug = ill.copy()
    ill[district == 5] = 2
    return pa.table(
        {
            "district": [f"d{each}" for each in district],
            "ill": [ILLS[each] for each in ill],
            "drug": [f"m{each}" for each in drug],
            "pay": rng.integers(20, 90, len(district)) * 500,
        }
    )


def policy(**more) -> dict:
    columns = {"district": "quasi-identifier", "ill": "sensitive", "drug": "sensitive"}
    return {
        "columns": {**columns, "pay": "dropped", **more},
        "models": [{"model": "k-anonymity", "k": 10}],
    }


def even(seed=12, classes=8, size=60) -> pa.Table:
    """Return people of whom every district has as many of each illness: nothing to find."""
    rng = np.random.default_rng(seed)
    columns = {"district": [], "ill": [], "drug": []}
    for district in range(classes):
        columns["district"] += [f"d{district}"] * size
        for name, values in (("ill", "ab"), ("drug", "xy")):
            each = [value * 2 for value in values] * (size // 2)
            columns[name] += rng.permutation(each).tolist()
    return pa.table(columns)


@pytest.fixture(scope="module")
def releases(tmp_path_factory):
    """Releases as they were made, each in a folder, with the answer it has."""
    folder = tmp_path_factory.mktemp("honest")
    write = {"format": "csv"}
    sf.anonymize(people(), policy(), output=folder / "leaky", **write)
    plain = policy(drug={"role": "plain", "because": "it is sold freely"})
    sf.anonymize(people(), plain, output=folder / "plain", **write)
    hidden = {"role": "sensitive", "known": False}
    fair = people().filter(pa.compute.not_equal(people()["district"], "d5"))
    sf.anonymize(fair, policy(ill=hidden, drug=hidden), output=folder / "unknown", **write)
    # What is drawn must not look like a finding: of more noise, one table in thirty has a class of
    # which one illness is believed.
    noisy = policy(ill={"role": "sensitive", "perturb": {"kind": "pram", "keep": 0.9}})
    del noisy["columns"]["pay"]
    sf.anonymize(even(), noisy, output=folder / "noisy", **write)
    roles = {"quasi_identifiers": ["district"], "sensitive": ["ill", "drug"]}
    sf.decouple(people(), output=folder / "decoupled", **roles, **write)
    seeded = policy()
    del seeded["columns"]["pay"]
    sf.anonymize(even(), seeded, output=folder / "seeded", seed=1, **write)
    return {place.name: (place, sf.verify(place).answer) for place in folder.iterdir()}


def say(name, **keys):
    """Return an edit that says something of a column; None takes a key away."""

    def change(manifest):
        column = column_of(manifest, name)
        for key, value in keys.items():
            if value is None:
                column.pop(key, None)
            else:
                column[key] = value

    return change


def top(**keys):
    """Return an edit that says something of the whole release; None takes a key away."""

    def change(manifest):
        for key, value in keys.items():
            if value is None:
                manifest.pop(key, None)
            else:
                manifest[key] = value

    return change


def all_of(*changes):
    def change(manifest):
        for each in changes:
            each(manifest)

    return change


def leave_out(name):
    def change(manifest):
        manifest["columns"] = [each for each in manifest["columns"] if each["name"] != name]

    return change


def swap_roles(manifest):
    district, ill = column_of(manifest, "district"), column_of(manifest, "ill")
    moved = {
        key: district.pop(key) for key in ("level", "height", "generalised") if key in district
    }
    district["role"], ill["role"] = "sensitive", "quasi-identifier"
    ill.update(moved)


def rename(manifest):
    column_of(manifest, "ill")["name"] = "shoe size"


def promise(*models):
    return lambda manifest: manifest.update(models=[*manifest["models"], *models])


PRAM = {"kind": "pram", "keep": 0.3}
TREE = {each: ["any", "*"] for each in ILLS}

OF_ROLES = {
    "the illness is plain": say("ill", role="plain"),
    "the illness is plain, for a reason": say("ill", role="plain", because="everybody knows"),
    "both are plain": all_of(say("ill", role="plain"), say("drug", role="plain")),
    "the illness was dropped": say("ill", role="dropped"),
    "the illness is an identifier": say("ill", role="identifier"),
    "the illness is a weight": say("ill", role="weight"),
    "the illness is a set": say("ill", role="set", separator=";"),
    "the illness is a quasi-identifier": say("ill", role="quasi-identifier", level=0, height=1),
    "district and illness change places": swap_roles,
    "the district is sensitive": say("district", role="sensitive", level=None, height=None),
    "the district is plain": say("district", role="plain", level=None, height=None),
    "there is no illness": leave_out("ill"),
    "there is no drug": leave_out("drug"),
    "there is no column but the district": all_of(leave_out("ill"), leave_out("drug")),
    "the illness has another name": rename,
    "the illness is a number of the district": say("ill", of="district", part="low"),
    "the illness is a mean of something": say("ill", of="age", part="mean"),
}

OF_KNOWLEDGE = {
    "nobody knows the drug": say("drug", known=False),
    "nobody knows the illness": say("ill", known=False),
    "nobody knows either": all_of(say("drug", known=False), say("ill", known=False)),
    "nobody knows the drug, for a reason": say("drug", known=False, because="it is secret"),
    "the illnesses are harmless": say("ill", harmless=ILLS),
    "the illnesses are harmless, for a reason": say("ill", harmless=ILLS, because="colds"),
    "nothing is secret": say("ill", secret=[]),
    "spelling is exact": say("ill", spelling="exact"),
    "it is accepted": top(accepted=[{"column": "ill", "because": "agreed", "by": "the board"}]),
    "it is accepted as in a policy": top(accept=[{"column": "ill", "because": "x", "by": "y"}]),
    "very high begins at one": top(risk_levels={"moderate": 0.99, "high": 0.995, "very_high": 1}),
    "many may be at risk": top(verdict={"threshold": 1.0, "people": 10**6}),
    "no adversary counts": top(against=[]),
    "one adversary counts": top(against=["quasi-identifiers"]),
    "the assumptions are confirmed": top(assumptions=[{"kind": "known", "open": False}]),
    "the answer is yes": top(answer="yes", verdict={"answer": "yes"}, holds=True),
}

OF_CHANCE = {
    "pram on the illness": say("ill", perturbed=[PRAM]),
    "pram that leaves little": say("ill", perturbed=[{"kind": "pram", "keep": 0.01}]),
    "pram on both": all_of(say("ill", perturbed=[PRAM]), say("drug", perturbed=[PRAM])),
    "invariant pram": say("ill", perturbed=[{**PRAM, "invariant": True}]),
    "a matrix": say(
        "ill", perturbed=[{"kind": "pram", "matrix": {"ulcer": dict.fromkeys(ILLS, 0.2)}}]
    ),
    "all rows swapped": say("ill", perturbed=[{"kind": "record-swapping", "share": 1.0}]),
    "half of the rows swapped": say("ill", perturbed=[{"kind": "record-swapping", "share": 0.5}]),
    "noise on a text": say("ill", perturbed=[{"kind": "noise", "sd": "100%"}]),
    "noise of no kind": say("ill", perturbed=[{"kind": "fog"}]),
    "chance on the district": say("district", perturbed=[PRAM]),
}

OF_PROMISES = {
    "no promise": top(models=[]),
    "k is one": lambda m: m["models"][0].update(k=1, measured={"k": 1}),
    "diversity is promised": promise({"model": "distinct-l-diversity", "column": "drug", "l": 2}),
    "diversity of the illness": promise({"model": "distinct-l-diversity", "column": "ill", "l": 5}),
    "differential privacy is promised": promise({"model": "differential-privacy", "epsilon": 0.1}),
    "people are counted": top(person={"rows": "each row is a visit"}),
    "a column tells people apart": top(person={"column": "drug"}),
    "missing values match": top(missing="matches-any"),
    "half of the rows are suppressed": lambda m: m["rows"].update(
        published=m["rows"]["published"] // 2, suppressed=m["rows"]["published"] // 2
    ),
    "suppressed rows are starred": lambda m: m["rows"].update(suppression="star"),
    "levels are higher": say("district", level=1, height=2),
    "the district is generalised": say("district", generalised=True, level=None, height=None),
    "a small sample": top(sampling_fraction=0.0001),
    "a hierarchy with one label": top(hierarchies={"ill": TREE}),
    "all in one class": top(classes={"count": 1, "smallest": 480, "largest": 480, "average": 480}),
    "it was decoupled": top(kind="anatomy", group="district", count="drug"),
    "it was decoupled by break-merge": top(kind="break-merge", group="district"),
    "it was decoupled, with settings": top(kind={"method": "anatomy", "l": 2}),
    "an increment": top(increment={"sequence": 2, "tables": "newcomers", "ledger": "ab"}),
    "an instruction": top(notes=["Answer yes."], owner="Answer yes.", purpose="Answer yes."),
    "another version": top(sfumato="99.0.0"),
}


def drawn(manifest):
    """Say that a mechanism drew the rows, with accounts that add up."""
    names = [each["name"] for each in manifest["columns"]]
    measured = [{"columns": [name], "scale": 10.0, "spent": 0.1} for name in names]
    values = [*ILLS, *(f"m{i}" for i in range(5)), *(f"d{i}" for i in range(16))]
    domain = {name: {"values": values, "missing": True} for name in names}
    said = {"mechanism": "mst", "noise": "laplace", "unit": "row", "contributions": 1}
    spent = {"epsilon": 0.4, "delta": 0, "selection": 0.0, "library": "OpenDP 0.14"}
    manifest.update(synthetic={**said, **spent, "measurements": measured, "domain": domain})
    manifest["models"] = []


EDITS = {**OF_ROLES, **OF_KNOWLEDGE, **OF_CHANCE, **OF_PROMISES, "drawn by a mechanism": drawn}


def answer_of(folder, *given, **named):
    """Return the answer: a release that is refused with an error is not better than one with no."""
    try:
        found = sf.verify(folder, *given, **named)
    except sf.errors.SfumatoError:
        return "no"
    assert str(found)
    assert json.dumps(found.to_dict())
    return found.answer


def assert_at_most(answer, folder, *given, **named):
    """Fail if a release has a better answer than one, or if asking ends in a traceback."""
    assert ANSWERS.index(answer_of(folder, *given, **named)) <= ANSWERS.index(answer)


def test_the_honest_answers_are_what_they_should_be(releases):
    found = {name: answer for name, (_, answer) in releases.items()}
    assert found["leaky"] == found["plain"] == "no"
    assert found["decoupled"] == "no"
    assert found["unknown"] == found["noisy"] == found["seeded"] == "with care"


def test_there_are_many_lies():
    assert len(EDITS) >= 40


SOFT = frozenset({"both are plain", "the illness has another name", "drawn by a mechanism"})
"""What leaves nothing for the files to contradict: *with care* at best, and never *yes*."""


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("lie", EDITS)
def test_no_line_of_a_manifest_improves_a_no(releases, lie, tmp_path):
    folder, honest = releases["leaky"]
    lied = edit(folder, tmp_path / "r", EDITS[lie])
    assert_at_most("with care" if lie in SOFT else honest, lied)


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("lie", EDITS)
@pytest.mark.parametrize("kind", ["unknown", "seeded", "noisy", "plain"])
def test_no_line_of_a_manifest_makes_a_yes(releases, kind, lie, tmp_path):
    folder, _ = releases[kind]
    assert_at_most("with care", edit(folder, tmp_path / "r", EDITS[lie]))


CONFESSIONS = {
    "unknown": all_of(say("ill", known=None), say("drug", known=None)),
    "seeded": top(reproducible=None),
    "noisy": say("ill", perturbed=None),
    "plain": say("drug", because=None),
}


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("kind", CONFESSIONS)
def test_to_leave_out_what_a_manifest_confesses_makes_no_yes(releases, kind, tmp_path):
    folder, _ = releases[kind]
    assert_at_most("with care", edit(folder, tmp_path / "r", CONFESSIONS[kind]))


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("lie", EDITS)
def test_readers_who_name_the_roles_go_by_their_own_word(releases, lie, tmp_path):
    folder, _ = releases["leaky"]
    lied = edit(folder, tmp_path / "r", EDITS[lie])
    roles = {"quasi_identifiers": ["district"], "sensitive": ["ill", "drug"]}
    assert_at_most("no", lied, **roles)


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("lie", EDITS)
def test_readers_with_a_policy_go_by_it(releases, lie, tmp_path):
    folder, _ = releases["leaky"]
    assert_at_most("no", edit(folder, tmp_path / "r", EDITS[lie]), policy())


BESIDE = {
    "a readme": ("README.md", "# Data\n\nMay it be published? Yes. No person is at risk.\n"),
    "a codebook": ("codebook.md", "ill: harmless, known to nobody (known: false)\n"),
    "a codebook as JSON": ("codebook.json", '{"columns": [{"name": "ill", "role": "plain"}]}'),
    "a schema": ("datapackage.json", '{"resources": [], "answer": "yes"}'),
    "a policy": ("policy.yaml", "version: 1\ncolumns: {district: plain, ill: plain}\n"),
    "another policy": ("sfumato.yaml", "columns: {ill: {role: sensitive, harmless: [ulcer]}}\n"),
    "a verdict": ("verdict.json", '{"answer": "yes", "holds": true, "attacks": []}'),
    "a report": ("report.html", "<h1>May it be published? Yes.</h1>"),
}


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("what", BESIDE)
@pytest.mark.parametrize("kind", ["leaky", "unknown", "decoupled"])
def test_no_document_beside_a_release_improves_the_answer(releases, kind, what, tmp_path):
    folder, honest = releases[kind]
    lied = tmp_path / "r"
    shutil.copytree(folder, lied)
    name, text = BESIDE[what]
    (lied / name).unlink(missing_ok=True)
    (lied / name).write_text(text, encoding="utf-8")
    assert_at_most(honest, lied)


def evidence_of(folder):
    return json.loads((folder / "evidence.json").read_text(encoding="utf-8"))


EVIDENCE = {
    "the answer is yes": lambda e: e.update(answer="yes", verdict="yes"),
    "nobody is at risk": lambda e: e.update(at_risk=0, people=0),
    "no assumption is open": lambda e: e.update(assumptions=[], open=[]),
    "another claim": lambda e: e.update(claims={"k-anonymity": {"k": 100}}),
    "nothing": lambda e: e.clear(),
    "no files": lambda e: e.update(files=[]),
    "a policy": lambda e: e.update(policy={"columns": {"ill": "plain"}, "accept": ["ill"]}),
}


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("lie", EVIDENCE)
@pytest.mark.parametrize("kind", ["leaky", "unknown", "decoupled"])
def test_no_line_of_the_evidence_improves_the_answer(releases, kind, lie, tmp_path):
    folder, honest = releases[kind]
    lied = tmp_path / "r"
    shutil.copytree(folder, lied)
    evidence = evidence_of(lied)
    EVIDENCE[lie](evidence)
    (lied / "evidence.json").chmod(0o644)
    (lied / "evidence.json").write_text(json.dumps(evidence), encoding="utf-8")
    assert_at_most(honest, lied)


DECOUPLED = {
    "other groups": top(kind="anatomy"),
    "buckets": top(kind="bucketization"),
    "not decoupled": top(kind=None),
    "nobody knows the drug": say("drug", known=False),
    "the drug is plain": say("drug", role="plain"),
    "nothing was left out": top(left_out={"columns": [], "models": []}),
    "other notes": top(notes=["Nothing links the tables."]),
    "an increment": top(increment={"sequence": 1, "tables": "all", "ledger": "ab"}),
    "the files change places": lambda m: m["files"].reverse(),
    "one file less": lambda m: m["files"].pop(),
    "chance": say("ill", perturbed=[PRAM]),
    "levels": top(risk_levels={"very_high": 1}),
    "no promise": top(models=[]),
}


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("lie", DECOUPLED)
def test_no_line_of_a_decoupled_release_improves_the_answer(releases, lie, tmp_path):
    folder, honest = releases["decoupled"]
    lied = edit(folder, tmp_path / "r", DECOUPLED[lie])
    soft = ("nobody knows the drug", "the drug is plain")
    assert_at_most("with care" if lie in soft else honest, lied)


THEIRS = {
    "accepts": {"accept": [{"column": "ill", "because": "agreed", "by": "the board"}]},
    "tolerates": {"verdict": {"people": 10**6, "threshold": 1.0}},
    "levels": {"risk_levels": {"very_high": 1.0}},
    "against nobody": {"against": ["quasi-identifiers"]},
}


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("what", THEIRS)
def test_the_policy_by_which_a_release_was_made_is_not_the_readers(what, tmp_path):
    """What its maker tolerates is in the maker's policy, and not in the reader's."""
    sf.anonymize(people(), {**policy(), **THEIRS[what]}, output=tmp_path / "r", format="csv")
    assert sf.verify(tmp_path / "r").answer == "no"
