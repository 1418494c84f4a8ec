"""The bar is the reader's: of what a manifest says, only roles change an answer, and are told."""

import copy
import json
import random
import shutil

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import SfumatoError
from tests.tasks.damage import damaged, manifest_of

COLUMNS = {"age": "quasi-identifier", "zip": "quasi-identifier", "ill": "sensitive"}
KEEP = [sf.models.KAnonymity(5)]
TEMPTING = [
    *(None, True, 0, 1, 0.99, 10**6, "public", "plain", "sensitive", "quasi-identifier"),
    *("star", "matches-any", "suppress", "hiv", [], {}, {"rows": "meant"}, ["hiv"]),
]
SAID = {"because": "it is known", "harmless": ["hiv"], "secret": []}
CLAIMS = {
    "risk_levels": {"moderate": 0.98, "high": 0.99, "very_high": 1.0},
    "verdict": {"threshold": 1.0, "people": 100},
    "accepted": [{"attack": "homogeneity", "columns": ["ill"], "because": "known", "by": "me"}],
    "accept": [{"column": "ill", "because": "known", "by": "me"}],
    "person": {"rows": "a row is a visit"},
    "harmless": ["hiv"],
    "secret": ["flu"],
    "spelling": "exact",
    "missing": "matches-any",
    "reproducible": False,
    "kind": None,
    "notes": ["nobody is at risk"],
}


def people(**more) -> pa.Table:
    """A table in which nineteen of twenty people of thirty have hiv."""
    ills = ["hiv"] * 19 + ["flu"] + ["flu", "gout", "ulcer", "ache"] * 5
    table = {"age": ["30"] * 20 + ["40"] * 20, "zip": ["1", "2"] * 20, "ill": ills}
    return pa.table(table | more)


@pytest.fixture(scope="module")
def releases(tmp_path_factory):
    """Releases that may not be published, each for another reason."""
    folder = tmp_path_factory.mktemp("refused")
    whole = sf.Policy(columns=COLUMNS, models=KEEP)
    made = sf.anonymize(people(), whole, output=folder / "alike", format="csv")
    sf.decouple(made, "break-merge", output=folder / "parts", format="csv")
    names = [f"Person{i} Smith" for i in range(40)]
    named = sf.Policy(columns={**COLUMNS, "name": "plain"}, models=KEEP)
    safe = ["flu", "gout", "ulcer", "ache"] * 10
    table = people(ill=safe, name=names)
    sf.anonymize(table, named, output=folder / "named", format="parquet")
    starred = sf.Policy(columns=COLUMNS, models=KEEP, suppression={"limit": 2, "rows": "star"})
    lonely = pa.table({"age": ["77"], "zip": ["9"], "ill": ["hiv"]})
    odd = pa.concat_tables([people(), lonely])
    sf.anonymize(odd, starred, output=folder / "starred", format="csv")
    single = pa.table({"age": [*(str(i // 2) for i in range(19)), "99"], "ill": ["a", "b"] * 10})
    roles = {"quasi_identifiers": ["age"], "sensitive": ["ill"]}
    sf.decouple(single, output=folder / "single", format="csv", **roles)
    return folder


REFUSED = ["alike", "parts", "named", "starred", "single"]


def answer_of(folder, manifest, tmp_path):
    """Answer about a release with another manifest, and no evidence of the old one."""
    changed = tmp_path / "changed"
    shutil.rmtree(changed, ignore_errors=True)
    shutil.copytree(folder, changed)
    (changed / "evidence.json").unlink()
    (changed / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    return sf.verify(changed)


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("which", REFUSED)
def test_no_claim_of_a_manifest_softens_the_answer(releases, which, tmp_path):
    plain = manifest_of(releases / which)
    assert sf.verify(releases / which).answer == "no"
    for key, value in CLAIMS.items():
        assert answer_of(releases / which, {**plain, key: value}, tmp_path).answer == "no", key
    for i in range(len(plain["columns"])):
        for key, value in {**SAID, "known": False}.items():
            new = copy.deepcopy(plain)
            new["columns"][i][key] = value
            assert answer_of(releases / which, new, tmp_path).answer == "no", (i, key)


def role_of(column):
    """A role as the answer lists it: whether others know a column belongs to it."""
    return column["role"] + (" (known: false)" if column.get("known") is False else "")


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("which", REFUSED)
def test_only_another_role_makes_another_answer_and_is_listed(releases, which, some, tmp_path):
    every = list(damaged(manifest_of(releases / which), TEMPTING))
    for place, value, new in random.Random(which).sample(every, some(12, of=250)):
        try:
            found = answer_of(releases / which, new, tmp_path)
        except SfumatoError:
            continue
        if found.answer != "no":
            assert place[0] == "columns", (place, value)
            assert place[-1] in ("role", "name", "known"), (place, value)
            roles = {c["name"]: role_of(c) for c in new["columns"]}
            listed = {name: role for role, names in found.believed.items() for name in names}
            assert listed == roles
            assert "Roles, by its manifest alone: " in str(found)


def test_roles_are_held_to_the_policy_of_the_reader(releases, tmp_path):
    """Who holds the policy finds that a role is another."""
    new = manifest_of(releases / "alike")
    new["columns"][2] |= {"role": "plain", "because": "it is known"}
    # A codebook would contradict it.
    bare = tmp_path / "bare"
    shutil.copytree(releases / "alike", bare)
    for document in new.pop("documents"):
        (bare / document["name"]).unlink()
    assert answer_of(bare, new, tmp_path).answer != "no"
    found = sf.verify(tmp_path / "changed", sf.Policy(columns=COLUMNS, models=KEEP))
    assert found.answer == "no"
    assert "the policy gives 'ill' another role" in found["policy"].detail
    assert not found.believed
