"""`sfumato decouple` and `sfumato merge`: tables apart, verified, and joined again."""

import json

import pytest

from tests.cli.conftest import everything_in


@pytest.fixture
def release(patients, run):
    assert run("anonymize", "patients.csv", "-p", "policy.yaml", "-o", "release").exit_code == 0
    return patients


@pytest.mark.usefixtures("patience")
def test_a_release_is_decoupled_verified_and_merged(release, run):
    result = run("decouple", "release", "-o", "broken")
    assert result.exit_code == 0, result.stderr
    assert "4 rows in 2 groups, decoupled by break-merge" in result.stdout
    assert "sensitive_ill.csv" in result.stdout
    assert "k-anonymity with k=2" in result.stdout
    assert "The tables are in broken; all 10 checks hold." in result.stderr
    assert everything_in(release / "broken") == {
        *("qi.csv", "sensitive_ill.csv", "manifest.json", "README.md", "schema.sql"),
        *("codebook.csv", "codebook.md"),
        "evidence.json",
    }
    verified = run("verify", "broken", "-p", "policy.yaml")
    assert verified.exit_code == 0, verified.stdout
    merged = run("merge", "broken", "-o", "merged.csv")
    assert merged.exit_code == 0
    assert "Written: merged.csv" in merged.stderr
    header, *rows = (release / "merged.csv").read_text(encoding="utf-8").splitlines()
    assert header == "group,age,zip,ill,expected"
    assert len(rows) == 4


@pytest.mark.usefixtures("patience")
def test_a_tampered_release_does_not_verify(release, run):
    run("decouple", "release", "-o", "broken", "-q")
    path = release / "broken" / "sensitive_ill.csv"
    path.write_text(path.read_text(encoding="utf-8").replace("hiv", "flu"), encoding="utf-8")
    result = run("verify", "broken")
    assert result.exit_code == 1
    assert "sha256" in result.stdout


def test_a_plain_file_needs_its_roles(patients, run):
    result = run("decouple", "patients.csv", "-o", "broken")
    assert result.exit_code == 2
    assert "nothing says what the columns are" in result.stderr
    given = ("--qi", "age,zip", "--sensitive", "ill", "--format", "parquet")
    result = run("decouple", "patients.csv", "-o", "broken", *given)
    assert result.exit_code == 0
    assert "Warning: column 'name' is left out: nothing says that it is plain" in result.stderr
    assert "4 of 4 people are alone in their group" in result.stderr
    assert (patients / "broken" / "qi.parquet").is_file()


def test_a_table_that_does_not_keep_its_policy_is_not_decoupled(patients, run):
    result = run("decouple", "patients.csv", "-o", "broken", "-p", "policy.yaml")
    assert result.exit_code == 2
    assert "does not keep k-anonymity with k=2: measured k=1" in result.stderr
    assert not (patients / "broken").exists()


def test_the_result_can_be_had_as_json(release, run):
    result = run("decouple", "release", "-o", "broken", "--json", "--seed", 1)
    plain = json.loads(result.stdout)
    assert plain["manifest"]["kind"] == "break-merge"
    assert plain["manifest"]["reproducible"]
    assert plain["verdict"]["holds"]
    assert result.stderr == ""


def test_quiet_says_nothing(release, run):
    for args in (("decouple", "release", "-o", "broken"), ("merge", "broken", "-o", "m.feather")):
        result = run(*args, "--quiet")
        assert (result.exit_code, result.output) == (0, "")


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("decouple", "release", "-o", "release"), "exists"),
        (("decouple", "release", "-o", "new", "--method", "slice"), "no decoupling 'slice'"),
        (("decouple", "nowhere", "-o", "new", "--qi", "a", "--sensitive", "b"), "no file nowhere"),
        (("merge", "release", "-o", "merged.csv"), "a release in one table"),
        (("merge", "broken", "-o", "merged.xls"), "one of csv, parquet, feather"),
        (("merge", "broken", "-o", "merged.csv", "--most", 3), "these would be 4"),
        (("merge", "broken", "-o", "merged.csv", "--columns", "il"), "Did you mean 'ill'"),
        (("merge", "broken", "-o", "policy.yaml", "--format", "csv"), "exists"),
    ],
)
def test_a_wrong_request_is_answered_and_leaves_nothing(release, run, args, words):
    run("decouple", "release", "-o", "broken", "-q")
    before = everything_in(release)
    result = run(*args)
    assert result.exit_code == 2
    assert words in result.stderr
    assert everything_in(release) == before


@pytest.mark.usefixtures("patience")
def test_a_method_gets_its_settings_as_options(patients, run):
    roles = ("--qi", "age,zip", "--sensitive", "ill", "--method", "anatomy")
    result = run("decouple", "patients.csv", "-o", "buckets", *roles, "--option", "l=2")
    assert result.exit_code == 0, result.stderr
    assert "4 rows in 2 groups, decoupled by anatomy" in result.stdout
    assert "can see whether that person is in the data" in " ".join(result.stderr.split())
    assert run("verify", "buckets").exit_code == 0


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((), "anatomy needs 'l': Fewest different values"),
        (("l=many",), "must be a whole number"),
        (("l",), "option must be NAME=VALUE, got 'l'"),
        (("l=2", "l=3"), "each once"),
        (("k=2",), "anatomy has no parameter 'k'"),
    ],
)
def test_settings_that_do_not_fit_are_refused(patients, run, options, said):
    given = [word for each in options for word in ("--option", each)]
    roles = ("--qi", "age,zip", "--sensitive", "ill", "--method", "anatomy")
    result = run("decouple", "patients.csv", "-o", "buckets", *roles, *given)
    assert result.exit_code == 2
    assert said in " ".join(result.stderr.split())
    assert not (patients / "buckets").exists()


@pytest.mark.usefixtures("patience")
def test_a_table_is_sliced_with_columns_between_signs(patients, run):
    roles = ("--qi", "age,zip", "--sensitive", "ill", "--method", "slicing", "--option", "l=2")
    result = run(
        "decouple", "patients.csv", "-o", "slices", *roles, "--option", "columns=[age+zip, ill]"
    )
    assert result.exit_code == 0, result.stderr
    assert "decoupled by slicing" in result.stdout
    assert "age, zip" in result.stdout
    assert run("verify", "slices").exit_code == 0


SLICING = "decouple: {method: slicing, l: 2, columns: [age+zip, ill]}\n"


@pytest.mark.usefixtures("patience")
def test_the_policy_says_how_unless_a_method_is_given(patients, run):
    policy = (patients / "policy.yaml").read_text(encoding="utf-8")
    (patients / "policy.yaml").write_text(policy + SLICING, encoding="utf-8")
    given = ("decouple", "patients.csv", "-p", "policy.yaml")
    result = run(*given, "-o", "slices")
    assert result.exit_code == 0, result.stderr
    assert "decoupled by slicing" in result.stdout
    assert "age, zip" in result.stdout
    result = run(*given, "-o", "buckets", "--method", "anatomy", "--option", "l=2")
    assert result.exit_code == 0, result.stderr
    assert "decoupled by anatomy" in result.stdout


def test_a_setting_without_its_method_is_refused(patients, run):
    roles = ("--qi", "age,zip", "--sensitive", "ill")
    result = run("decouple", "patients.csv", "-o", "buckets", *roles, "--option", "l=2")
    assert result.exit_code == 2
    assert "option must be given together with --method" in " ".join(result.stderr.split())
    assert not (patients / "buckets").exists()


def test_a_mistake_in_the_policy_is_told_with_its_line(patients, run):
    policy = (patients / "policy.yaml").read_text(encoding="utf-8")
    (patients / "policy.yaml").write_text(policy + SLICING.replace("zip", "zipp"))
    result = run("decouple", "patients.csv", "-p", "policy.yaml", "-o", "slices")
    assert result.exit_code == 2
    said = " ".join(result.stderr.split())
    assert "policy.yaml, line 7, decouple.columns[0]: slicing publishes 'zipp'" in said


def test_the_setting_that_is_wrong_is_named(patients, run):
    options = ["--method", "slicing", "--option", "l=2", "--option", "columns=age+zip"]
    roles = ["--qi", "age,zip", "--sensitive", "ill"]
    result = run("decouple", "patients.csv", "-o", "x", *options, *roles)
    assert result.exit_code == 2
    assert "columns must be a list, got 'age+zip'" in " ".join(result.stderr.split())
