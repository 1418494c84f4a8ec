"""Every way to a signature asks for the answer: a no is signed only by who insists."""

import json
from importlib import import_module
from inspect import signature

import pyarrow as pa
import pytest
from typer.testing import CliRunner

import sfumato as sf
from sfumato.cli.app import app
from sfumato.errors import InputError, OutputError
from sfumato.evidence import answer_in, read_evidence

TOLD = pa.table({"age": ["30s"] * 40 + ["40s"] * 40, "ill": ["hiv"] * 40 + ["flu", "gout"] * 20})
"""In the thirties all have hiv: no."""

HARMLESS = pa.table({"age": ["30s", "40s"] * 40, "ill": ["flu", "flu", "gout", "gout"] * 20})
POLICY = {
    "columns": {"age": "quasi-identifier", "ill": "sensitive"},
    "models": [{"model": "k-anonymity", "k": 5}],
}
MORE = pa.table({"age": ["30s", "40s"] * 10, "ill": ["flu", "flu", "gout", "gout"] * 5})

pytestmark = pytest.mark.usefixtures("patience")


@pytest.fixture(scope="module")
def key():
    import_module("cryptography")
    return sf.evidence.SigningKey.generate()


def ledger(folder, table):
    roles = {"quasi_identifiers": ["age"], "sensitive": ["ill"]}
    first = sf.decouple(table, **roles)
    return sf.Ledger.start(first, folder / "x.ledger", alpha=0.6, k=2, above=True)


def anonymize(folder, table, **more):
    sf.anonymize(table, POLICY, output=folder / "r", **more)


def decouple(folder, table, **more):
    sf.decouple(table, policy=POLICY, output=folder / "r", **more)


def anatomy_of_a_release(folder, table, **more):
    sf.decouple(sf.anonymize(table, POLICY), output=folder / "r", **more)


def sign(folder, table, key, **more):
    sf.anonymize(table, POLICY, output=folder / "r")
    sf.sign(folder / "r", key, **more)


def sign_with_report(folder, table, key, **more):
    sf.anonymize(table, POLICY, output=folder / "r")
    sf.report(folder / "r", public=True).save(folder / "r" / "report.html", key=key, **more)


def publish(folder, table, **more):
    """Newcomers are admitted by the verdict; what was published before they joined is not."""
    ledger(folder, table).publish(MORE, output=folder / "r", whole=True, **more)


DOORS = [anonymize, decouple, anatomy_of_a_release, sign, sign_with_report, publish]


@pytest.mark.parametrize("door", DOORS, ids=lambda door: door.__name__)
def test_a_no_is_signed_only_by_who_insists(tmp_path, key, door):
    with pytest.raises(InputError, match=r"not signed, because the answer is no: .*--even-so"):
        door(tmp_path, TOLD, key=key)
    left = tmp_path / "r"
    # What was there before stays; what was being made did not appear.
    assert not left.exists() or read_evidence(left).signature is None
    assert not (left / "report.html").exists()
    (again := tmp_path / "again").mkdir()
    door(again, TOLD, key=key, even_so=True)
    found = sf.check_evidence(again / "r", key.public)
    assert found.holds, str(found)
    told = answer_in(read_evidence(again / "r"))
    assert told["answer"] == "no"
    assert told["people_at_risk"] > 0


@pytest.mark.parametrize("door", DOORS, ids=lambda door: door.__name__)
def test_who_insists_may_say_why_and_that_is_signed(tmp_path, key, door):
    door(tmp_path, TOLD, key=key, even_so="agreed by the board")
    told = answer_in(read_evidence(tmp_path / "r"))
    assert (told["answer"], told["even_so"]) == ("no", "agreed by the board")
    assert sf.check_evidence(tmp_path / "r", key.public).holds


@pytest.mark.parametrize("door", [anonymize, decouple], ids=lambda door: door.__name__)
def test_evidence_without_a_signature_says_why_too(tmp_path, door):
    door(tmp_path, TOLD, even_so="agreed by the board")
    told = answer_in(read_evidence(tmp_path / "r"))
    assert (told["answer"], told["even_so"]) == ("no", "agreed by the board")
    assert sf.check_evidence(tmp_path / "r").holds


@pytest.mark.parametrize("door", DOORS, ids=lambda door: door.__name__)
def test_the_answer_and_what_it_assumes_are_signed(tmp_path, key, door):
    door(tmp_path, HARMLESS, key=key)
    told = answer_in(read_evidence(tmp_path / "r"))
    assert told["answer"] != "no"
    assert told["people_at_risk"] == 0
    assert {"answer", "people_at_risk", "people", "adversaries", "assumptions"} == {*told}
    assert sf.check_evidence(tmp_path / "r", key.public).holds
    path = tmp_path / "r" / "evidence.json"
    changed = json.loads(path.read_text())
    changed["claims"]["answer"]["people"] += 1
    path.chmod(0o644)
    path.write_text(json.dumps(changed))
    assert not sf.check_evidence(tmp_path / "r", key.public).holds


def test_a_refused_increment_changes_no_ledger(tmp_path, key):
    started = ledger(tmp_path, TOLD)
    with pytest.raises(InputError, match="--even-so"):
        started.publish(MORE, output=tmp_path / "r", whole=True, key=key)
    assert len(started.history) == 1
    assert not (tmp_path / "r").exists()


def test_a_report_that_joins_a_signed_no_asks_nobody_twice(tmp_path, key):
    sf.anonymize(TOLD, POLICY, output=tmp_path / "r", key=key, even_so=True)
    sf.report(tmp_path / "r", public=True).save(tmp_path / "r" / "report.html", key=key)
    assert answer_in(read_evidence(tmp_path / "r"))["answer"] == "no"
    assert sf.check_evidence(tmp_path / "r", key.public).holds


def test_a_folder_that_was_signed_before_is_left_as_it_was(tmp_path, key):
    """Who may not sign it does not take the signature of another away."""
    sf.anonymize(TOLD, POLICY, output=tmp_path / "r", key=key, even_so=True)
    before = (tmp_path / "r" / "evidence.json").read_bytes()
    other = sf.evidence.SigningKey.generate()
    with pytest.raises(InputError, match="--even-so"):
        sf.sign(tmp_path / "r", other, force=True)
    assert (tmp_path / "r" / "evidence.json").read_bytes() == before


def test_a_database_asks_too(tmp_path, key):
    duckdb = pytest.importorskip("duckdb")
    path = tmp_path / "d.duckdb"
    with duckdb.connect(str(path)) as db:
        db.register("given", TOLD)
        db.sql("create table people as select age, ill from given")
    source = f"duckdb:///{path}?table=people"
    with pytest.raises(OutputError, match="because the answer is no"):
        sf.anonymize(source, POLICY, output="table:out", key=key)
    with pytest.raises(OutputError, match="because the answer is no"):
        sf.decouple(source, policy=POLICY, output="table:out", key=key)
    with duckdb.connect(str(path)) as db:
        assert db.sql("show tables").fetchall() == [("people",)]
    for made in (sf.anonymize, sf.decouple):
        made(source, policy=POLICY, output="table:out", key=key, even_so=True, force=True)
        assert sf.check_evidence(f"duckdb:///{path}?table=out", key.public).holds
        sf.sign(f"duckdb:///{path}?table=out", key, even_so=True)
        with duckdb.connect(str(path)) as db:
            [[text]] = db.sql("select * from out_evidence").fetchall()
        assert json.loads(text)["claims"]["answer"]["answer"] == "no"


def test_whoever_takes_a_key_may_be_told_to_sign_it_even_so():
    """A new way to a signature without the question fails here."""
    tasks = [*(getattr(sf, name) for name in sf.__all__), *vars(sf.Ledger).values()]
    takes = {}
    for task in tasks:
        if callable(task) and not isinstance(task, type):
            parameters = signature(task).parameters
            if "key" in parameters:
                takes[task.__name__] = "even_so" in parameters
    assert {"anonymize", "decouple", "sign", "publish", "publish_since", "generalise"} <= {*takes}
    assert all(takes.values()), takes


@pytest.mark.parametrize(
    "words",
    [["anonymize"], ["decouple"], ["sign"], ["report"]]
    + [["ledger", each] for each in ("add", "remove", "correct", "stream", "generalise")],
    ids=" ".join,
)
def test_every_command_that_signs_can_be_told_so(words):
    shown = CliRunner().invoke(app, [*words, "--help"], env={"COLUMNS": "200"}).output
    assert "--key" in shown
    assert "--even-so" in shown


def test_the_commands_refuse(tmp_path, key):
    sf.evidence.keygen(tmp_path / "p")
    pa.csv = import_module("pyarrow.csv")
    pa.csv.write_csv(TOLD, tmp_path / "t.csv")
    (tmp_path / "p.yaml").write_text(json.dumps(POLICY))
    base = [str(tmp_path / "t.csv"), "-p", str(tmp_path / "p.yaml")]
    for words in (["anonymize"], ["decouple"]):
        asked = [*words, *base, "-o", str(tmp_path / words[0]), "--key", str(tmp_path / "p.key")]
        found = CliRunner().invoke(app, asked)
        assert found.exit_code == 2, found.output
        assert "--even-so" in found.output + str(found.stderr)
        assert not (tmp_path / words[0]).exists()
        assert CliRunner().invoke(app, [*asked, "--even-so"]).exit_code == 0
