"""What users get wrong: a clear answer, exit code 2, and nothing written."""

import errno
import tempfile
from pathlib import Path

import pytest

from sfumato.tables.arrow import writing as writers
from tests.cli.conftest import BESIDE, PATIENTS, POLICY, everything_in
from tests.unprivileged import unprivileged


def refused(folder, run, *args, words, code=2):
    """Run a command that must fail with these words and leave the folder as it was."""
    before = everything_in(folder)
    result = run(*args)
    assert result.exit_code == code, result.output
    assert result.stdout == ""
    assert result.stderr.startswith("sfumato: error: ")
    for word in words:
        assert word in result.stderr
    assert "Traceback" not in result.stderr
    assert everything_in(folder) == before
    return result


ANONYMIZE = ("anonymize", "patients.csv", "-p", "policy.yaml", "-o", "out/release")

BAD_TABLES = {
    "missing": (None, ["there is no file patients.csv"]),
    "empty": (b"", ["patients.csv is empty", "header"]),
    "header only": (b"name,age,zip,ill\n", ["patients.csv", "header", "no rows"]),
    "duplicate names": (b"name,age,age,ill\nA,1,2,flu\n", ["'age'", "more than one column"]),
    "column without name": (b"name,age,,ill\nA,1,2,flu\n", ["column 3 of 4 has no name"]),
    "binary garbage": (bytes(range(256)) * 40, ["patients.csv", "not a text file"]),
    "latin2": ("name,age,zip,ill\nJiří,1,2,flu\n".encode("latin2"), ["UTF-8", "line 2"]),
    "ragged line": (
        b"name,age,zip,ill\nA,1,2,flu\nB,1,2\nC,1,2,flu\n",
        ["line 3", "3 cells", "header has 4"],
    ),
    "a cut SPSS file": (b"$FL2" + bytes(400), ["cannot be read as an SPSS file: "]),
    "a cut Stata file": (b"<stata_dta><header>", ["cannot be read as a Stata file: "]),
    "an old document": (
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600),
        ["cannot be read as a spreadsheet: "],
    ),
    "zip archive": (b"PK\x03\x04" + bytes(40), ["zip archive or a spreadsheet"]),
}


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("name", BAD_TABLES)
def test_a_table_that_is_none(patients, run, name):
    content, words = BAD_TABLES[name]
    path = patients / "patients.csv"
    path.unlink() if content is None else path.write_bytes(content)
    refused(patients, run, *ANONYMIZE, words=words)
    refused(patients, run, "inspect", "patients.csv", words=words)
    refused(patients, run, "init", "patients.csv", "-o", "new.yaml", words=words)
    refused(patients, run, "verify", "patients.csv", "-p", "policy.yaml", words=words)


def test_a_folder_is_no_table(patients, run):
    (patients / "data").mkdir()
    words = ["data is a folder. Give a file"]
    refused(patients, run, "anonymize", "data", *ANONYMIZE[2:], words=words)


def test_a_misspelt_file_is_answered_with_the_right_one(patients, run):
    refused(patients, run, "inspect", "patient.csv", words=["Did you mean patients.csv?"])


BAD_POLICIES = {
    "unknown column": (
        POLICY.replace("zip:", "zipp:"),
        ["policy.yaml, line 4, columns.zipp", "no column 'zipp'", "Did you mean 'zip'?"],
    ),
    "column not named": (
        POLICY.replace("  ill: sensitive\n", ""),
        ["columns that the policy does not name: 'ill'"],
    ),
    "k = 0": (POLICY.replace("k: 2", "k: 0"), ["line 6, models[0].k", "at least 2, got 0"]),
    "k larger than the table": (
        POLICY.replace("k: 2", "k: 5"),
        ["no release can keep k-anonymity with k=5", "all 4 rows", "k=4", "Ask for less"],
    ),
    "one column with two roles": (
        POLICY.replace("  ill: sensitive\n", "  ill: sensitive\n  ill: quasi-identifier\n"),
        ["line 6, columns.ill", "stands there already, on line 5"],
    ),
    "a model about a quasi-identifier": (
        POLICY.replace("k-anonymity, k: 2", "distinct-l-diversity, column: age, l: 2"),
        ["models[0].column", "'age'", "quasi-identifier"],
    ),
    "a model about nothing": (
        POLICY.replace("k-anonymity, k: 2", "distinct-l-diversity, column: il, l: 2"),
        ["'il'", "'ill'"],
    ),
    "unknown model": (POLICY.replace("k-anonymity", "k-anonimity"), ["'k-anonymity'"]),
    "no model": (POLICY.split("models")[0] + "models: []\n", ["there is no model"]),
    "no YAML": ("columns: [", ["not valid YAML"]),
    "empty": ("", ["the policy is empty"]),
    "too many missing": (
        POLICY + "missing: suppress\n",
        ["miss a quasi-identifier", "missing: suppress"],
    ),
}


@pytest.mark.parametrize("name", BAD_POLICIES)
def test_a_policy_that_cannot_be_kept(patients, run, name):
    policy, words = BAD_POLICIES[name]
    if name == "too many missing":
        (patients / "patients.csv").write_text(PATIENTS.replace(",24,", ",,"))
    (patients / "policy.yaml").write_text(policy)
    refused(patients, run, *ANONYMIZE, words=words)


@pytest.mark.parametrize("kind", ["csv", "taxonomy"])
def test_a_hierarchy_that_misses_a_value(patients, run, kind):
    (patients / "ages.csv").write_text("21;young;*\n24;young;*\n35;old;*\n")
    tree = "{kind: taxonomy, tree: {young: [21, 24], old: [35]}}"
    hierarchy = "{kind: csv, file: ages.csv}" if kind == "csv" else tree
    policy = POLICY.replace("{kind: intervals, widths: [10]}", hierarchy)
    (patients / "policy.yaml").write_text(policy)
    words = ["'age'", "does not cover 1 of its 4 values: '38'", "Add them"]
    refused(patients, run, *ANONYMIZE, words=words)


def test_a_hierarchy_file_that_is_not_there(patients, run):
    policy = POLICY.replace("{kind: intervals, widths: [10]}", "{kind: csv, file: ages.csv}")
    (patients / "policy.yaml").write_text(policy)
    refused(patients, run, *ANONYMIZE, words=["ages.csv"])


def test_a_policy_file_that_is_not_there(patients, run):
    refused(patients, run, "anonymize", "patients.csv", "-p", "x.yaml", "-o", "r", words=["x.yaml"])
    refused(patients, run, "verify", "patients.csv", "-p", "x.yaml", words=["x.yaml"])


@pytest.mark.parametrize(
    ("option", "value", "words"),
    [
        (
            "--format",
            "xml",
            ["format must be one of csv, parquet, feather, sav, dta, xlsx, got 'xml'"],
        ),
        ("--seed", "-1", ["seed must be", "got -1"]),
    ],
)
def test_an_option_that_makes_no_sense(patients, run, option, value, words):
    refused(patients, run, *ANONYMIZE, option, value, words=words)


def test_a_plain_file_cannot_be_verified_without_a_policy(patients, run):
    refused(patients, run, "verify", "patients.csv", words=["-p policy.yaml"])


def test_a_folder_that_is_no_release_cannot_be_verified(patients, run):
    refused(patients, run, "verify", ".", words=["no manifest.json"])


def test_an_output_folder_that_cannot_be(patients, run):
    args = (*ANONYMIZE[:-1], "patients.csv/release")
    refused(patients, run, *args, words=["cannot write in 'patients.csv'", "another output folder"])


def test_an_output_folder_without_permission(patients, run, monkeypatch):
    def denied(**_):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(tempfile, "mkdtemp", denied)
    args = (*ANONYMIZE[:-1], "release")
    refused(patients, run, *args, words=["cannot write in", "Permission denied", "permissions"])


def test_a_read_only_output_folder(patients, run):
    assert run(*ANONYMIZE[:-1], "elsewhere").exit_code == 0  # everything is imported by now
    (patients / "out").mkdir(mode=0o555)
    patients.chmod(0o755)
    with unprivileged():
        refused(Path(), run, *ANONYMIZE, words=["cannot write in 'out'", "Permission denied"])


@pytest.mark.usefixtures("patience")
def test_an_existing_release_is_replaced_only_by_force(patients, run):
    assert run(*ANONYMIZE).exit_code == 0
    first = (patients / "out/release/manifest.json").read_text()
    refused(patients, run, *ANONYMIZE, words=["'out/release' exists", "--force"])
    assert (patients / "out/release/manifest.json").read_text() == first
    args = (*ANONYMIZE, "--format", "parquet", "--force")
    assert run(*args).exit_code == 0
    assert everything_in(patients / "out") == {
        "release",
        "release/data.parquet",
        *(f"release/{name}" for name in BESIDE),
    }


@pytest.mark.usefixtures("patience")
def test_a_release_that_fails_leaves_the_former_one(patients, run):
    assert run(*ANONYMIZE).exit_code == 0
    (patients / "policy.yaml").write_text(POLICY.replace("k: 2", "k: 5"))
    refused(patients, run, *ANONYMIZE, "--force", words=["no release can keep"])
    assert run("verify", "out/release").exit_code == 0


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("what", ["folder", "web page", "file", "link"])
def test_nothing_but_a_release_is_ever_replaced(patients, run, what):
    target = patients / "out" / "release"
    target.parent.mkdir()
    if what == "folder":
        target.mkdir()
        (target / "thesis.txt").write_text("years of work")
    elif what == "web page":
        target.mkdir()
        (target / "manifest.json").write_text('{"short_name": "Weather", "start_url": "/"}')
    elif what == "file":
        target.write_text("years of work")
    else:
        assert run(*ANONYMIZE[:-1], "elsewhere").exit_code == 0
        target.symlink_to(patients / "elsewhere")
    words = ["'out/release' exists and is not a release"]
    refused(patients, run, *ANONYMIZE, words=words)
    refused(patients, run, *ANONYMIZE, "--force", words=words)


@pytest.mark.usefixtures("patience")
def test_no_release_is_written_into_another(patients, run):
    assert run(*ANONYMIZE).exit_code == 0
    inside = [*ANONYMIZE[:-1], f"{ANONYMIZE[-1]}/next"]
    refused(patients, run, *inside, words=["would lie in the release", "whose evidence names"])


@pytest.mark.parametrize("form", ["csv", "parquet", "feather"])
def test_a_full_disk(patients, run, monkeypatch, form):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    kind = {"csv": "CsvWriter", "parquet": "ParquetWriter", "feather": "FeatherWriter"}[form]
    monkeypatch.setattr(getattr(writers, kind), "write", full)
    words = ["cannot write", "No space left on device", "Nothing was left"]
    refused(patients, run, *ANONYMIZE, "--format", form, words=words)


def test_a_disk_that_is_full_when_the_manifest_is_written(patients, run, monkeypatch):
    real = Path.write_text

    def full(path, *args, **settings):
        if path.name == "manifest.json":
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(path, *args, **settings)

    monkeypatch.setattr(Path, "write_text", full)
    refused(patients, run, *ANONYMIZE, words=["No space left on device", "Nothing was left"])


def test_a_release_that_cannot_be_verified_is_not_published(patients, run, monkeypatch):
    from sfumato.releases import places
    from sfumato.verifier import Check, Verdict

    broken = Verdict((Check("k-anonymity", "broken", {"k": 2}, {"k": 1}),))
    monkeypatch.setattr(places, "verify_folder", lambda *_, **__: broken)
    words = ["was not published", "k-anonymity  broken  k=2       k=1"]
    refused(patients, run, *ANONYMIZE, words=words, code=1)


def test_init_does_not_replace_a_policy_unasked(patients, run):
    refused(patients, run, "init", "patients.csv", words=["'policy.yaml' exists", "--force"])
    assert (patients / "policy.yaml").read_text() == POLICY


def test_init_never_replaces_the_data(patients, run):
    args = ("init", "patients.csv", "-o", "./patients.csv", "--force")
    refused(patients, run, *args, words=["is the data itself"])
    assert (patients / "patients.csv").read_text() == PATIENTS


@pytest.mark.parametrize("path", ["nowhere/new.yaml", "patients.csv/new.yaml"])
def test_a_policy_that_cannot_be_written(patients, run, path):
    before = everything_in(patients)
    result = run("init", "patients.csv", "-o", path)
    assert result.exit_code == 2
    assert f"cannot write '{path}'" in result.stderr
    assert "Nothing was left behind" in result.stderr
    assert everything_in(patients) == before


def test_init_does_not_write_over_a_folder(patients, run):
    refused(patients, run, "init", "patients.csv", "-o", ".", "--force", words=["is a folder"])


def test_inspect_names_a_column_that_is_not_there(patients, run):
    refused(
        patients,
        run,
        *("inspect", "patients.csv", "--qi", "age,zipp"),
        words=["no column 'zipp'", "Did you mean 'zip'?"],
    )


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--subsets", "-1"), ["--subsets must be an integer of at least 0, got -1", "0 looks at"]),
        (("--fraction", "1.5"), ["--fraction must be a number above 0 and at most 1, got 1.5"]),
    ],
)
def test_inspect_says_which_sizes_and_shares_there_are(patients, run, options, words):
    refused(patients, run, *("inspect", "patients.csv", "--qi", "age", *options), words=words)


def test_demo_does_not_replace_other_folders(patients, run):
    (patients / "mine").mkdir()
    (patients / "mine" / "thesis.txt").write_text("years of work")
    refused(patients, run, "demo", "-o", "mine", "--rows", "500", words=["not a release"])


def test_demo_needs_people(patients, run):
    refused(patients, run, "demo", "--rows", "0", words=["rows must be", "got 0"])
