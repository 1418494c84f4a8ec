"""What the verdict is measured on: every form of release, as it is said to be."""

import json

import pytest

import sfumato as sf
from benchmarks import verdict
from benchmarks.__main__ import main
from benchmarks.workloads import Files
from sfumato.attacks.pairing import learn_dependence
from sfumato.harm import Level
from sfumato.leaks.facts import find_facts


@pytest.mark.usefixtures("adult")
def test_every_form_is_published_and_keeps_what_it_promises(tmp_path):
    file = Files(tmp_path).jittered(400, "csv")
    kinds = {}
    for kind, folder in verdict.publish(file, tmp_path / "releases"):
        manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
        kinds[kind] = manifest.get("kind")
        roles = [column["role"] for column in manifest["columns"]]
        assert roles.count("quasi-identifier") == 8
        assert roles.count("sensitive") == 1
        assert sf.verify(folder, attacks=False).holds
    assert kinds == {
        **dict.fromkeys(("full-domain", "local")),
        **{kind: kind for kind in ("break-merge", "anatomy", "slicing")},
    }


@pytest.mark.usefixtures("adult", "bench")
def test_a_quick_run_compares_every_form_with_counting_it(capsys):
    (figures,) = main(["--quick", "verdict"]).values()
    capsys.readouterr()
    named = {figure.what for figure in figures}
    assert len(named) == len(figures)
    assert sum(what.endswith("whole verdict / counting") for what in named) == 5 * 4
    assert sum("16 × the rows" in what for what in named) == 5 * 2


def test_the_many_columns_have_classes_and_nothing_to_find():
    counts = verdict.many_columns(5000, 4, 6)
    assert counts.names == (*(f"q{i}" for i in range(4)), *(f"s{i}" for i in range(6)))
    assert counts.total == 5000
    assert 20 <= counts.group_by(counts.names[:4]).n <= 100
    # What there is to find is about single people, as in every table.
    found = find_facts(counts, counts.names[:4], counts.names[4:])
    assert all((told.by_known[0] < Level.VERY_HIGH).all() for told in found.told.values())


@pytest.mark.usefixtures("patience")
def test_groups_that_teach_are_learned_from():
    pairing = verdict.groups_that_teach(3000, 20, 3)
    assert pairing.people.tolist() == [20.0] * 150
    assert learn_dependence(pairing).found
