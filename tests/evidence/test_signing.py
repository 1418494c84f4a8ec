"""Every way to a release writes evidence; signing promises what was verified, and leaks nothing."""

import json
from functools import partial
from hashlib import sha256

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import (
    InputError,
    MissingExtraError,
    OutputError,
    ParameterError,
    VerificationError,
)
from tests.evidence.conftest import POLICY, TABLE
from tests.verifier.releases import edit_manifest, seal, write_release

sign = partial(sf.sign, even_so=True)
"""Signs a release whatever the answer is: the tables here are small, and tell much."""


def evidence_in(folder):
    return json.loads((folder / "evidence.json").read_bytes())


@pytest.mark.parametrize("form", ["csv", "parquet", "feather"])
@pytest.mark.parametrize("method", ["full-domain", "regional", "mondrian"])
def test_every_release_has_evidence_that_holds(tmp_path, form, method):
    release = sf.anonymize(TABLE, POLICY, output=tmp_path / "r", format=form, method=method)
    found = sf.check_evidence(release)
    assert found.holds, str(found)
    assert found.signed_by is None
    assert found.note.startswith("Not signed")
    plain = evidence_in(release.folder)
    assert "signature" not in plain
    assert plain["claims"]["models"] == json.loads(release.manifest.to_json())["models"]
    assert plain["claims"]["rows"]["published"] == 8
    assert [c["name"] for c in plain["claims"]["checks"]] == [
        c.name for c in release.verdict.checks
    ]


@pytest.mark.parametrize("method", ["break-merge", {"method": "anatomy", "l": 2}])
def test_decoupled_releases_can_be_signed_at_once(tmp_path, key, method):
    table = TABLE.select(["age", "ill"])
    roles = {"quasi_identifiers": ["age"], "sensitive": ["ill"]}
    release = sf.decouple(table, method, output=tmp_path / "r", key=key, even_so=True, **roles)
    found = sf.check_evidence(release, key.public)
    assert found.holds, str(found)
    assert evidence_in(release.folder)["claims"]["kind"] == release.method


def test_increments_can_be_signed_at_once(tmp_path, key):
    table = pa.table({"age": ["30s"] * 4, "ill": ["flu", "flu", "gout", "hiv"]})
    decoupled = sf.decouple(table, quasi_identifiers=["age"], sensitive=["ill"])
    ledger = tmp_path / "x.ledger"
    sf.Ledger.start(decoupled, ledger, alpha=0.5, k=2)
    new = pa.table({"age": ["30s"] * 2, "ill": ["gout", "flu"]})
    with pytest.raises(ParameterError, match="key must be left out when there is no output"):
        sf.Ledger(ledger).publish(new, key=key, even_so=True)
    done = sf.Ledger(ledger).publish(new, output=tmp_path / "two", key=key, even_so=True)
    found = sf.check_evidence(done.folder, key.public)
    assert found.holds, str(found)
    assert evidence_in(done.folder)["claims"]["increment"]["sequence"] == 2


def test_protecting_writes_evidence_too(tmp_path):
    sf.protect(TABLE, POLICY, output=tmp_path / "r", support=2)
    assert sf.check_evidence(tmp_path / "r").holds


def test_a_release_in_memory_cannot_be_signed(key):
    with pytest.raises(ParameterError, match="key must be left out when there is no output"):
        sf.anonymize(TABLE, POLICY, key=key, even_so=True)
    with pytest.raises(InputError, match="in memory"):
        sign(sf.anonymize(TABLE, POLICY), key)
    with pytest.raises(InputError, match="in memory"):
        sf.check_evidence(sf.anonymize(TABLE, POLICY))


def test_a_key_that_is_none_is_refused_before_anything_is_done(tmp_path):
    with pytest.raises(ParameterError, match="key must be the file of an Ed25519 private key"):
        sf.anonymize("no such table", POLICY, output=tmp_path / "r", key=tmp_path / "none.key")
    assert not list(tmp_path.iterdir())


def texts_in(value):
    if isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from texts_in(item)
    elif isinstance(value, list):
        for item in value:
            yield from texts_in(item)
    else:
        yield value


@pytest.mark.parametrize("kind", ["anonymized", "decoupled"])
def test_claims_hold_nothing_that_is_not_public_already(request, kind):
    """All is in the manifest, or an outcome of the verifier, whose figures are of public rows."""
    folder = request.getfixturevalue(kind)
    manifest = json.loads((folder / "manifest.json").read_text())
    claims = evidence_in(folder)["claims"]
    told = claims.pop("answer")
    # What the signer was told: figures of public rows, and what the policy says of columns.
    assert set(told) == {"answer", "people_at_risk", "people", "adversaries", "assumptions"}
    assert told["people_at_risk"] == sf.verify(folder).at_risk
    own = {"checks", "name", "status", "holds", "promised", "found"}
    verdict = sf.verify(folder, attacks=False).to_dict()
    known = {*texts_in(manifest), *texts_in(verdict["checks"]), *own}
    assert set(texts_in(claims)) <= known
    assert set(claims) == {"checks"} | (
        set(manifest)
        & {
            *("sfumato", "kind", "increment", "rows", "models", "reproducible"),
        }
    )


def test_evidence_depends_on_the_files_and_the_key_alone(tmp_path, key):
    for name in ("a", "b"):
        sf.anonymize(
            TABLE, POLICY, output=tmp_path / name, format="csv", seed=1, key=key, even_so=True
        )
    a, b = ((tmp_path / name / "evidence.json").read_bytes() for name in ("a", "b"))
    assert a == b
    assert evidence_in(tmp_path / "a")["claims"]["reproducible"] is True


def test_a_release_from_before_there_was_evidence_verifies_and_can_be_signed(tmp_path, key):
    folder = write_release(tmp_path / "release")
    assert sf.verify(folder, attacks=False).holds
    found = sf.check_evidence(folder)
    assert [(c.name, c.status) for c in found.checks] == [("evidence", "broken")]
    assert sign(folder, key).holds
    assert sf.check_evidence(folder, key.public).signed_by == str(key.public)
    assert sf.verify(folder, attacks=False)["evidence"].status == "holds"


def test_nothing_is_signed_that_does_not_hold(tmp_path, key):
    folder = write_release(tmp_path / "release")
    edit_manifest(folder, lambda m: m["models"][0].update(k=50))
    with pytest.raises(VerificationError, match="not signed"):
        sign(folder, key)
    assert not (folder / "evidence.json").exists()


def test_nothing_is_signed_that_was_changed_since(anonymized, key):
    data = anonymized / "data.csv"
    lines = data.read_text().splitlines()
    data.write_text("\n".join([lines[0], *reversed(lines[1:])]) + "\n")
    before = (anonymized / "evidence.json").read_bytes()
    with pytest.raises(VerificationError, match="does not hold"):
        sign(anonymized, key)
    seal(anonymized)
    # The promises hold again, and it is still not what was published.
    (anonymized / "evidence.json").write_bytes(before)
    with pytest.raises(VerificationError, match="not what was published"):
        sign(anonymized, key)
    assert (anonymized / "evidence.json").read_bytes() == before


def test_the_signature_of_another_key_is_replaced_only_by_force(anonymized, key):
    assert sign(anonymized, key).holds
    before = (anonymized / "evidence.json").read_bytes()
    assert json.loads(before)["claims"]["answer"]["answer"] == "no"
    assert sign(anonymized, key).holds
    assert (anonymized / "evidence.json").read_bytes() == before
    other = sf.evidence.SigningKey.generate()
    with pytest.raises(OutputError, match=f"another key, {key.public}"):
        sign(anonymized, other)
    assert sign(anonymized, other, force=True).signed_by == str(other.public)
    assert sf.check_evidence(anonymized, other.public).holds
    assert sorted(path.name for path in anonymized.iterdir()) == [
        *("README.md", "codebook.csv", "codebook.md"),
        *("data.csv", "evidence.json", "manifest.json"),
    ]


@pytest.mark.usefixtures("patience")
def test_a_promise_about_a_population_was_checked_when_it_was_published(tmp_path, key):
    people = pa.table({"age": [31, 34, 35, 38, 42, 45, 47, 49] * 2})
    policy = sf.Policy(
        columns={
            "age": {"role": "quasi-identifier", "hierarchy": {"kind": "intervals", "widths": [10]}},
            "ill": "sensitive",
        },
        other="dropped",
        models=[{"model": "k-map", "k": 4}],
        population=people_file(tmp_path, people),
    )
    release = sf.anonymize(TABLE, policy, output=tmp_path / "r", format="csv")
    assert sf.verify(release.folder, attacks=False)["k-map"].status == "unchecked"
    before = (release.folder / "evidence.json").read_bytes()
    with pytest.raises(VerificationError, match=r"'k-map' could not be checked.*--population"):
        sign(release.folder, key)
    # Without the policy nobody knows the labels of these people.
    with pytest.raises(VerificationError, match="could not be checked"):
        sign(release.folder, key, population=people)
    assert (release.folder / "evidence.json").read_bytes() == before
    # With the population it can be checked: given, named by the policy, or known to the release.
    assert sign(release.folder, key, policy=policy, population=people).holds
    (release.folder / "evidence.json").write_bytes(before)
    assert sign(release, key).holds
    # What this key signed, it may sign again; another key may not.
    assert sign(release.folder, key).holds
    other = sf.evidence.SigningKey.generate()
    with pytest.raises(VerificationError, match="could not be checked"):
        sign(release.folder, other, force=True)
    assert sign(release.folder, other, policy=policy, force=True).holds
    found = sf.check_evidence(release.folder, other.public)
    assert found.not_covered == (
        "Taken on trust: k-map compares with a population that is not in the release.",
    )
    assert found.not_covered[0] in str(found)


@pytest.mark.parametrize("give", [False, True])
def test_a_promise_that_was_forged_with_its_evidence_is_not_signed(tmp_path, key, give):
    people = pa.table({"age": [31, 34, 35, 38, 42, 45, 47, 49] * 2})
    policy = sf.Policy(
        columns={
            "age": {"role": "quasi-identifier", "hierarchy": {"kind": "intervals", "widths": [10]}},
            "ill": "sensitive",
        },
        other="dropped",
        models=[{"model": "k-map", "k": 4}],
        population=people_file(tmp_path, people),
    )
    folder = sf.anonymize(TABLE, policy, output=tmp_path / "r", format="csv").folder
    edit_manifest(folder, lambda m: m["models"][0].update(k=5000, measured={"k": 5000}))
    forge_evidence(folder, "k-map", {"k": 5000})
    assert sf.check_evidence(folder).holds
    given = {"policy": policy, "population": people} if give else {}
    with pytest.raises(VerificationError, match="does not hold" if give else "not be checked"):
        sign(folder, key, **given)
    assert sf.check_evidence(folder).signed_by is None


def test_figures_that_were_forged_in_the_evidence_are_computed_again(tmp_path, key):
    folder = sf.anonymize(TABLE, POLICY, output=tmp_path / "r", format="csv").folder
    forge_evidence(folder, "k-anonymity", {"k": 500}, only="found")
    assert sf.check_evidence(folder).holds
    assert sign(folder, key).holds
    [found] = [c["found"] for c in claims_in(folder)["checks"] if c["name"] == "k-anonymity"]
    assert found == {"k": 4}


def claims_in(folder):
    return json.loads((folder / "evidence.json").read_text(encoding="utf-8"))["claims"]


def forge_evidence(folder, name, figures, only=None):
    """Make unsigned evidence agree with whatever the files say now."""
    from sfumato.evidence.document import canonical

    path = folder / "evidence.json"
    plain = json.loads(path.read_text(encoding="utf-8"))
    for file in plain["files"]:
        data = (folder / file["name"]).read_bytes()
        file.update(sha256=sha256(data).hexdigest(), size=len(data))
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    plain["claims"]["models"] = manifest["models"]
    for check in plain["claims"]["checks"]:
        if check["name"] == name:
            check.update(dict.fromkeys([only] if only else ["promised", "found"], figures))
    path.write_bytes(canonical(plain))


def people_file(folder, people):
    import pyarrow.csv

    pyarrow.csv.write_csv(people, folder / "people.csv")
    return str(folder / "people.csv")


def test_what_is_no_release_is_refused(tmp_path, key):
    (tmp_path / "file").write_text("hello")
    for given in (tmp_path, tmp_path / "file", tmp_path / "nowhere"):
        with pytest.raises(InputError, match="Give the folder of a release"):
            sf.check_evidence(given, key.public)
        with pytest.raises(InputError, match="Give the folder of a release"):
            sign(given, key)


def test_verifying_compares_with_the_evidence(decoupled):
    assert sf.verify(decoupled, attacks=False)["evidence"].status == "holds"
    (decoupled / "README.md").write_text("You can trust me.")
    check = sf.verify(decoupled, attacks=False)["evidence"]
    assert (check.status, check.detail) == ("broken", "sha256: changed: 'README.md'")


def test_hashes_are_checked_without_the_library(anonymized, key, no_library):
    found = sf.check_evidence(anonymized)
    assert found.holds
    assert (found.signed_by, "not checked" in found.note) == (None, True)
    with pytest.raises(MissingExtraError, match=r'pip install "sfumato\[sign\]"'):
        sf.check_evidence(anonymized, key.public)
    (anonymized / "data.csv").write_text("changed")
    assert not sf.check_evidence(anonymized).holds


def test_releases_are_written_without_the_library(tmp_path, no_library):
    release = sf.anonymize(TABLE, POLICY, output=tmp_path / "r")
    assert sf.check_evidence(release).holds
    (tmp_path / "a.key").write_text("-----BEGIN PRIVATE KEY-----\n")
    with pytest.raises(MissingExtraError):
        sign(release, tmp_path / "a.key")


def test_a_disk_that_is_full_leaves_the_evidence_as_it_was(anonymized, key, monkeypatch):
    from pathlib import Path

    before = (anonymized / "evidence.json").read_bytes()

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(OutputError, match=r"No space left on device\)\. Nothing was changed"):
        sign(anonymized, sf.evidence.SigningKey.generate(), force=True)
    assert (anonymized / "evidence.json").read_bytes() == before
    assert len(list(anonymized.iterdir())) == 6


def test_evidence_is_as_readable_as_the_manifest(anonymized):
    modes = {(anonymized / name).stat().st_mode for name in ("manifest.json", "evidence.json")}
    assert len(modes) == 1


@pytest.mark.usefixtures("patience")
def test_a_report_that_this_program_makes_may_join_a_release_and_is_signed_with_it(tmp_path, key):
    folder = sf.anonymize(TABLE, POLICY, output=tmp_path / "r", format="csv").folder
    report = sf.report(folder, public=True).save(folder / "report.html")
    assert sign(folder, key).holds
    assert sign(folder, key).holds
    found = sf.check_evidence(folder, key.public)
    assert found.holds
    assert found.not_covered == (
        "Taken on trust: what report.html says; sfumato verify finds out what it reports.",
    )
    report.unlink()
    assert sign(folder, key).holds
    assert sf.check_evidence(folder, key.public).not_covered == ()


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("forged", [False, True])
def test_no_other_report_is_signed(tmp_path, key, forged):
    folder = sf.anonymize(TABLE, POLICY, output=tmp_path / "r", format="csv").folder
    if forged:
        sf.report(folder, public=True).save(folder / "report.html")
    (folder / "report.html").write_text("<p>Ada, 31, has hiv.</p>")
    if forged:
        forge_evidence(folder, "", {})
        assert sf.check_evidence(folder).holds
    with pytest.raises(VerificationError, match=r"report\.html is not the report that is made"):
        sign(folder, key)
    assert sf.check_evidence(folder).signed_by is None


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("evidence", [True, False])
@pytest.mark.parametrize("name", ["README.md", "schema.sql", "report.html"])
def test_no_file_is_signed_that_nobody_accounts_for(tmp_path, key, name, evidence):
    folder = sf.anonymize(TABLE, POLICY, output=tmp_path / "r", format="csv").folder
    (folder / name).write_text("Ada, 31, has hiv.")
    if not evidence:
        (folder / "evidence.json").unlink()
    with pytest.raises(
        VerificationError, match=r"report|none of its files|changed since|not what was"
    ):
        sign(folder, key)


@pytest.mark.usefixtures("patience")
def test_a_report_in_a_signed_release_is_signed_by_the_report_command_only(anonymized, key):
    report = anonymized / "report.html"
    report.write_text("<p>All is well.</p>")
    assert not sf.check_evidence(anonymized, key.public).holds
    with pytest.raises(VerificationError, match="not the report"):
        sign(anonymized, key)
    report.unlink()
    assert sign(anonymized, key).holds
    (anonymized / "README.md").write_text("All is well.")
    with pytest.raises(VerificationError, match=r"changed since: 'README\.md'"):
        sign(anonymized, key)


def test_nothing_is_signed_beside_evidence_that_was_forged(anonymized, key):
    path = anonymized / "evidence.json"
    for change in ((b'"sfumato"', b'"sfumatO"'), (b'"value":"', b'"value":"0')):
        before = path.read_bytes()
        path.write_bytes(before.replace(*change))
        with pytest.raises(VerificationError, match="not what was published"):
            sign(anonymized, key, force=True)
        path.write_bytes(before)
