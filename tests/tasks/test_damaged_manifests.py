"""Whatever stands in a manifest, the answer is a verdict or an error that names the damage."""

import json
import random
import shutil
from functools import partial

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import InputError, SfumatoError
from sfumato.releases.manifest import Manifest
from tests.tasks.damage import damaged, manifest_of

ILLS = ["flu", "gout", "hiv", "ulcer"]
TREE = {"kind": "taxonomy", "tree": {"mild": ["flu", "gout"], "grave": ["hiv", "ulcer", "rare"]}}
WHERE = {"age": "30", "zip": "24060"}


def people(n=32) -> pa.Table:
    return pa.table(
        {
            "age": [*(30 + i % 4 for i in range(n)), 99],
            "zip": [*(str(24060 + i % 2) for i in range(n)), "99999"],
            "ill": [*(ILLS[i // 2 % 4] for i in range(n)), "rare"],
            "job": [*("abc"[i % 3] for i in range(n)), "z"],
            "ward": ["x"] * (n + 1),
        }
    )


def policy(rows="remove") -> sf.Policy:
    widths = {"kind": "intervals", "widths": [2, 10]}
    return sf.Policy(
        columns={
            "age": {"role": "quasi-identifier", "hierarchy": widths},
            "zip": {"role": "quasi-identifier", "hierarchy": "masking"},
            "ill": {"role": "sensitive", "hierarchy": TREE},
            "job": "sensitive",
            "ward": {"role": "plain", "because": "it is known"},
        },
        models=[
            sf.models.KAnonymity(4),
            sf.models.TCloseness("ill", t=0.9, distance="hierarchical"),
        ],
        suppression={"limit": 4, "rows": rows},
    )


@pytest.fixture(scope="module")
def releases(tmp_path_factory):
    """A folder with a release of each kind."""
    folder = tmp_path_factory.mktemp("kinds")
    table, write = people(), {"format": "csv"}
    sf.anonymize(table, policy("star"), output=folder / "starred", **write)
    sf.anonymize(table, policy().with_method("mondrian"), output=folder / "local", format="parquet")
    one = sf.anonymize(table, policy(), output=folder / "whole", **write)
    sf.decouple(one, "break-merge", output=folder / "break-merge", **write)
    roles = {"quasi_identifiers": ["age", "zip"], "sensitive": ["ill"]}
    sf.decouple(table, sf.decouplings.Anatomy(2), output=folder / "anatomy", **roles, **write)
    sf.decouple(table, "bucketization", output=folder / "bucketization", **roles, **write)
    sf.decouple(one, "association-hiding", output=folder / "hidden", **write)
    sf.decouple(table, sf.decouplings.Slicing(l=2), output=folder / "slices", **roles, **write)
    ledger = sf.Ledger.start(folder / "break-merge", folder / "ledger", alpha=0.9, policy=policy())
    ledger.publish(people(16).slice(0, 16), output=folder / "increment", **write)
    (folder / "ledger").unlink()
    return folder


KINDS = [
    "starred",
    "local",
    "whole",
    "break-merge",
    "anatomy",
    "slices",
    "increment",
    "bucketization",
    "hidden",
]


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("kind", KINDS)
def test_a_manifest_is_read_as_it_is_typed_or_refused_by_the_key(releases, kind):
    plain = manifest_of(releases / kind)
    assert Manifest.from_dict(plain).to_dict() == plain
    for place, value, new in damaged(plain):
        fault = None
        try:
            found = Manifest.from_dict(new)
        except InputError as error:
            fault = str(error)
        if fault is None:
            # What is shown of it can be shown.
            json.dumps(found.to_dict())
            assert all(isinstance(each.level_text, str) for each in found.columns)
            assert all(isinstance(f"{each} {each.figures}", str) for each in found.models)
        else:
            assert any(str(key) in fault for key in place), (place, value, fault)


def tasks_on(folder, whole, ledger):
    yield lambda: sf.verify(folder).to_dict()
    yield lambda: str(sf.verify(folder, policy(), attacks=False))
    yield lambda: sf.report(folder)
    yield lambda: str(sf.explain(folder, WHERE))
    yield lambda: str(sf.detect(folder))
    yield lambda: str(sf.breach(folder))
    yield lambda: str(sf.decouple(folder, "break-merge"))
    yield lambda: str(sf.diff(folder, whole))
    yield lambda: str(sf.diff(whole, folder))
    yield lambda: str(sf.utility(people(), {"a": folder}, policy=policy(), queries=10))
    yield lambda: str(sf.estimate(folder, {"ill": "flu"}))
    yield lambda: str(sf.tools.membership(people(), {"a": folder}, policy=policy(), fakes=20))
    yield lambda: str(sf.tools.merge(folder))
    yield lambda: str(sf.tools.correlations(folder))
    yield lambda: str(sf.verify(whole, earlier=folder))
    yield lambda: str(sf.check_evidence(folder))
    yield partial(sf.Ledger.start, folder, ledger, alpha=0.9, policy=policy())


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("kind", KINDS)
def test_every_task_ends_in_a_result_or_an_error_of_its_own(releases, kind, some, tmp_path):
    every = list(damaged(manifest_of(releases / kind)))
    rng = random.Random(kind)
    for i, (place, value, new) in enumerate(rng.sample(every, some(2, of=60))):
        folder = tmp_path / str(i)
        shutil.copytree(releases / kind, folder)
        (folder / "evidence.json").unlink()
        (folder / "manifest.json").write_text(json.dumps(new), encoding="utf-8")
        tasks = list(tasks_on(folder, releases / "whole", tmp_path / f"{i}.ledger"))
        for task in [tasks[0], *rng.sample(tasks[1:], 4)]:
            try:
                task()
            except SfumatoError:
                pass
            except Exception as error:
                raise AssertionError(f"{place} = {value!r}") from error


CONTRADICTIONS = {
    "no second file": ("break-merge", lambda m: m["files"].pop()),
    "a file of another column": ("break-merge", lambda m: m["files"][1].update(column="x")),
    "no quasi-identifier": ("whole", lambda m: [c.update(role="plain") for c in m["columns"]]),
    "no sensitive column": ("anatomy", lambda m: m["columns"].pop()),
    "levels that are texts": ("local", lambda m: m["columns"][0].update(levels=["star"])),
    "notes that are a number": ("whole", lambda m: m.update(notes=3)),
    "left out as a list": ("break-merge", lambda m: m.update(left_out=[1])),
    "half a character": ("whole", lambda m: m["columns"][0].update(name="\ud800")),
    "another version": ("whole", lambda m: m.update(format=2)),
}


@pytest.mark.parametrize("what", CONTRADICTIONS)
def test_damage_is_a_no_and_others_are_told_of_it(releases, what, tmp_path):
    kind, change = CONTRADICTIONS[what]
    folder = tmp_path / "r"
    shutil.copytree(releases / kind, folder)
    (folder / "evidence.json").unlink()
    new = manifest_of(folder)
    change(new)
    (folder / "manifest.json").write_text(json.dumps(new), encoding="utf-8")
    assert sf.verify(folder).answer == "no"
    if what != "no quasi-identifier":  # that can be read, and is refused by the verdict
        with pytest.raises(InputError, match=r"manifest\.json is damaged: "):
            sf.decouple(folder, "break-merge")


@pytest.mark.parametrize(
    ("kind", "key", "value"),
    [
        ("whole", "k", -1),
        ("whole", "k", 1.5),
        ("whole", "k", 0),
        ("whole", "k", 10**30),
        ("break-merge", "k", -1),
        ("whole", "t", 7),
        ("anatomy", "l", -1),
        ("anatomy", "l", 1.5),
        ("bucketization", "l", -1),
        ("slices", "l", 0),
    ],
)
def test_absurd_promises_do_not_hold(releases, kind, key, value, tmp_path):
    folder = tmp_path / "r"
    shutil.copytree(releases / kind, folder)
    (folder / "evidence.json").unlink()
    new = manifest_of(folder)
    [promise, *_] = [model for model in new["models"] if key in model]
    promise[key] = value
    del promise["measured"]
    (folder / "manifest.json").write_text(json.dumps(new), encoding="utf-8")
    found = sf.verify(folder, attacks=False)
    assert found[promise["model"]].status != "holds"
    assert f"{promise['model']} is damaged: {key} must be" in found[promise["model"]].detail


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("key", ["count", "smallest", "largest", "average"])
@pytest.mark.parametrize("value", [10**15, 0])
def test_figures_about_classes_are_recomputed_for_every_kind(releases, kind, key, value, tmp_path):
    folder = tmp_path / "r"
    shutil.copytree(releases / kind, folder)
    (folder / "evidence.json").unlink()
    new = manifest_of(folder)
    new["classes"][key] = value
    (folder / "manifest.json").write_text(json.dumps(new), encoding="utf-8")
    assert sf.verify(folder, attacks=False)["figures"].status == "broken"
