"""`sfumato init` with what its user knows better, from a policy that is there, and on bad input."""

import os

import pytest

import sfumato as sf
from tests.cli.conftest import everything_in

HEAD = "Fall;Patient;Alter;Größe;Station;Gewicht"
ROWS = [
    f"{n};{n // 2};{20 + n * 7 % 60};1,{50 + n % 45};{'ABC'[n % 3]};{1 + n % 2}" for n in range(120)
]
GIVEN = ("--input", "encoding=cp1252", "--input", "delimiter=;")


@pytest.fixture
def clinic(folder):
    """A file of an office: windows-1252, semicolons, decimal commas, two rows per patient."""
    (folder / "klinik.csv").write_bytes("\n".join([HEAD, *ROWS, ""]).encode("cp1252"))
    return folder


@pytest.mark.usefixtures("patience")
def test_how_a_file_is_read_is_in_the_policy_and_the_next_commands_work_as_printed(clinic, run):
    made = run("init", "klinik.csv", "--person", "Patient", *GIVEN)
    assert made.exit_code == 0, made.stderr
    policy = sf.Policy.load("policy.yaml")
    assert (policy.input.encoding, policy.input.delimiter) == ("windows-1252", ";")
    printed = next(line for line in made.stderr.splitlines() if line.startswith("  sfumato "))
    assert run(*printed.split()[1:]).exit_code == 0
    assert "Größe" in policy.columns
    judged = run("verify", "release", "-p", "policy.yaml", "--data", "klinik.csv")
    assert judged.exit_code in (0, 1), judged.stderr


@pytest.mark.usefixtures("patience")
def test_what_is_said_is_in_the_draft(clinic, run):
    made = run(
        "init", "klinik.csv", *GIVEN, "--role", "Station=plain", "--role", "Alter=quasi-identifier",
        "--person", "Patient", "--weight", "Gewicht", "--drop", "Fall,Größe", "--k", "7",
    )  # fmt: skip
    assert made.exit_code == 0, made.stderr
    policy = sf.Policy.load("policy.yaml")
    assert {name: rule.role.value for name, rule in policy.columns.items()} == {
        "Fall": "dropped",
        "Patient": "identifier",
        "Alter": "quasi-identifier",
        "Größe": "dropped",
        "Station": "plain",
        "Gewicht": "weight",
    }
    assert policy.counted_person == "Patient"
    assert [model.k for model in policy.models if model.name == "k-anonymity"] == [7]


@pytest.mark.usefixtures("patience")
def test_the_same_can_be_said_in_python(clinic, run):
    read = {"encoding": "cp1252", "delimiter": ";"}
    drafted = sf.draft("klinik.csv", person="Patient", drop=["Fall"], k=7, input=read)
    made = run("init", "klinik.csv", *GIVEN, "--person", "Patient", "--drop", "Fall", "--k", "7")
    assert made.exit_code == 0
    assert (clinic / "policy.yaml").read_text(encoding="utf-8") == drafted.text


KEPT = """\
# agreed with the ward on Monday
columns:
  name: identifier
  # five years, as in every year
  age: {role: quasi-identifier, hierarchy: {kind: intervals, widths: [5]}}
  zip: quasi-identifier   # where they live
  ill: plain
models:
- {model: k-anonymity, k: 2}  # few people
suppression: 50%
"""


@pytest.mark.usefixtures("patience")
def test_a_policy_that_is_there_keeps_what_was_written_by_hand(patients, run):
    (patients / "policy.yaml").write_text(KEPT, encoding="utf-8")
    made = run("init", "patients.csv", "--from", "policy.yaml", "-o", "same.yaml")
    assert made.exit_code == 0, made.stderr
    assert (patients / "same.yaml").read_text(encoding="utf-8") == KEPT
    made = run(
        "init", "patients.csv", "--from", "policy.yaml", "--role", "ill=sensitive",
        "--drop", "zip", "--k", "3", "-o", "new.yaml",
    )  # fmt: skip
    assert made.exit_code == 0, made.stderr
    text = (patients / "new.yaml").read_text(encoding="utf-8")
    policy = sf.Policy.load("new.yaml")
    for line in KEPT.splitlines():
        assert (line in text) == (not line.strip().startswith(("zip", "ill", "- {model")))
    assert policy.sensitive == ("ill",)
    assert policy.columns["zip"].role == "dropped"
    assert [m.k for m in policy.models if m.name == "k-anonymity"] == [3]


@pytest.mark.usefixtures("patience")
def test_a_column_that_the_policy_does_not_know_is_drafted_and_one_that_is_gone_leaves(
    patients, run
):
    (patients / "later.csv").write_text(
        "name,age,zip,sex\n"
        + "".join(f"P{n},{20 + n},47{n % 20:02},{'fm'[n % 2]}\n" for n in range(40)),
        encoding="utf-8",
    )
    made = run("init", "later.csv", "--from", "policy.yaml", "-o", "new.yaml")
    assert made.exit_code == 0, made.stderr
    policy = sf.Policy.load("new.yaml")
    assert policy.columns["sex"].role == "quasi-identifier"
    assert "ill" not in policy.columns
    assert policy.columns["age"] == sf.Policy.load("policy.yaml").columns["age"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--role", "agee=plain"), "Did you mean 'age'?"),
        (("--role", "age=sensitiv"), "Did you mean 'sensitive'?"),
        (("--role", "age"), "--role must be COLUMN=ROLE"),
        (("--role", "age=plain", "--role", "age=dropped"), "one role for 'age'"),
        (("--role", "ill=set"), "nothing separates items"),
        (("--person", "nmae"), "Did you mean 'name'?"),
        (("--weight", "name"), "no number"),
        (("--household", "zipp"), "Did you mean 'zip'?"),
        (("--drop", "age,zipp"), "Did you mean 'zip'?"),
        (("--drop", "age", "--role", "age=plain"), "without another role"),
        (("--person", "name", "--role", "name=sensitive"), "without another role"),
        (("--k", "1"), "--k must be an integer of at least 2"),
        (("--k", "5"), "the table has 4 rows"),
        (("--from", "gone.yaml"), "gone.yaml"),
        (("--from", "patients.csv"), "a policy is a mapping"),
    ],
)
def test_what_is_wrong_is_said_and_nothing_is_written(patients, run, options, said):
    made = run("init", "patients.csv", "-o", "new.yaml", *options)
    assert made.exit_code == 2
    assert said in made.stderr
    assert "Traceback" not in made.stderr
    assert not (patients / "new.yaml").exists()


BAD = {
    "empty.csv": (b"", "is empty"),
    "header.csv": (b"age,sex\n", "no rows"),
    "one.csv": (b"age\n31\n47\n", "one column"),
    "twice.csv": (b"a,a,b\n1,2,3\n", "more than one column"),
    "junk.csv": (bytes(range(256)) * 9, "not a text file"),
    "junk.parquet": (bytes(range(256)) * 9, "not a Parquet file"),
}


@pytest.mark.parametrize("name", [*BAD, "folder", "missing.csv"])
def test_a_table_that_cannot_be_drafted_is_refused(folder, run, name):
    data, said = BAD.get(name, (None, "folder" if name == "folder" else "no file"))
    if name == "folder":
        (folder / name).mkdir()
    elif data is not None:
        (folder / name).write_bytes(data)
    made = run("init", name)
    assert made.exit_code == 2
    assert said in made.stderr
    assert "policy.yaml" not in everything_in(folder)


def test_where_nothing_can_be_written_is_said_before_any_work(patients, run, monkeypatch):
    made = run("init", "patients.csv", "-o", "no/new.yaml")
    assert (made.exit_code, "there is no folder 'no'" in made.stderr) == (2, True)
    (patients / "shut").mkdir()
    monkeypatch.setattr(os, "access", lambda *_: False)
    made = run("init", "patients.csv", "-o", "shut/new.yaml")
    assert (made.exit_code, "nothing can be written" in made.stderr) == (2, True)
    made = run("init", "patients.csv")
    assert (made.exit_code, "--force" in made.stderr) == (2, True)


def test_check_policy_says_what_is_new_and_ends_with_its_answer(patients, run):
    done = run("check-policy", "policy.yaml", "patients.csv", "--before", "patients.csv")
    assert done.exit_code == 0, done.stderr
    assert "The policy fits, and nothing is new in 4 rows." in done.stdout
    (patients / "june.csv").write_text(
        (patients / "patients.csv").read_text("utf-8").replace("21", "unknown"), encoding="utf-8"
    )
    done = run("check-policy", "policy.yaml", "june.csv")
    assert done.exit_code == 1
    assert "settle first" in done.stdout
    # It is no terminal, so others may read it.
    assert "unknown" not in done.stdout
    done = run("check-policy", "policy.yaml", "june.csv", "--json")
    assert (done.exit_code, '"fits": false' in done.stdout) == (1, True)
    done = run("check-policy", "policy.yaml", "july.csv")
    assert (done.exit_code, "july.csv" in done.stderr) == (2, True)
