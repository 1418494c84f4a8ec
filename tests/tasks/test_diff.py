"""What changed from one release to the next."""

import json

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import InputError, ParameterError
from tests.verdicts.tables import ROLES, leaky, safe

AGES = [21, 24, 25, 29, 33, 38, 39, 31] * 2
ILLS = ["flu", "gout", "hiv", "ulcer"] * 4


def policy(k=2, **settings):
    widths = {"kind": "intervals", "widths": [10, 40]}
    columns = {"age": {"role": "quasi-identifier", "hierarchy": widths}, "ill": "sensitive"}
    return sf.Policy(columns=columns, models=[sf.models.KAnonymity(k)], **settings)


def table():
    return pa.table({"age": AGES, "ill": ILLS})


@pytest.mark.usefixtures("patience")
def test_a_release_does_not_differ_from_itself(tmp_path):
    release = sf.anonymize(table(), policy(), output=tmp_path / "one")
    for given in (release, tmp_path / "one", str(tmp_path / "one")):
        found = sf.diff(release, given, data=table(), policy=policy())
        assert found.same
        assert "no attack learns more or less" in str(found)


@pytest.mark.usefixtures("patience")
def test_a_larger_k_is_safer_less_useful_and_its_own_cause():
    old, new = (sf.anonymize(table(), policy(k)) for k in (4, 16))
    found = sf.diff(old, new, data=table())
    causes = {change.name: (change.old, change.new) for change in found.causes}
    assert causes["promise k-anonymity"] == ("k-anonymity with k=4", "k-anonymity with k=16")
    assert causes["age"] == ("level 1 of 3", "level 2 of 3")
    risk = {change.name: change for change in found.risk}
    linking = risk["linking(view=prosecutor): strongest belief"]
    assert (linking.old, linking.new, linking.direction) == (0.125, 0.0625, "safer")
    assert not found.riskier
    assert {change.direction for change in found.utility} == {"less useful"}
    backwards = sf.diff(new, old, data=table())
    assert {change.direction for change in backwards.utility} == {"more useful"}
    assert backwards.riskier


def test_every_figure_is_that_of_the_two_verdicts():
    found = sf.diff(safe(), leaky(), **ROLES)
    assert (found.old.answer, found.new.answer) == ("yes", "no")
    risk = {change.name: change for change in found.risk}
    change = risk["homogeneity(ill): people at risk"]
    assert (change.old, change.new, change.direction) == (0, 8, "riskier")
    assert found.causes == ()
    assert str(found).startswith("May it be published? Before: yes. Now: no.")


def test_decoupling_is_told_as_a_cause():
    release = sf.anonymize(table(), policy())
    found = sf.diff(release, sf.decouple(release))
    causes = {change.name: (change.old, change.new) for change in found.causes}
    assert causes["decoupled by"] == ("nothing", "break-merge")


def test_it_can_be_written_as_json():
    plain = sf.diff(safe(), leaky(), **ROLES).to_dict()
    assert json.loads(json.dumps(plain)) == plain


def test_wrong_requests_are_answered(tmp_path):
    with pytest.raises(InputError, match=r"there is no file .*nowhere"):
        sf.diff(tmp_path / "nowhere", safe(), **ROLES)
    with pytest.raises(ParameterError, match="nothing says what the columns are"):
        sf.diff(safe(), leaky())


@pytest.mark.usefixtures("patience")
def test_on_the_command_line(tmp_path, monkeypatch):
    from typer.testing import CliRunner

    from sfumato.cli.app import app

    monkeypatch.chdir(tmp_path)
    for name, k in (("old", 4), ("new", 16)):
        sf.anonymize(table(), policy(k), output=name)
    shown = CliRunner().invoke(app, ["diff", "old", "new"])
    assert shown.exit_code == 0
    assert "promise k-anonymity" in shown.stdout
    assert "safer" in shown.stdout
    # What the columns are is only what the manifests say, unless the reader says so, too.
    (tmp_path / "policy.yaml").write_text(policy().to_yaml(), encoding="utf-8")
    for given, expected in (([], "with care"), (["--policy", "policy.yaml"], "yes")):
        plain = CliRunner().invoke(app, ["diff", "old", "new", "--json", *given])
        assert json.loads(plain.stdout)["new"] == expected
    assert CliRunner().invoke(app, ["diff", "old", "nowhere"]).exit_code == 2
