"""Evidence of releases in a folder or in a database: made, signed and checked there."""

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import types as t

from sfumato.errors import InputError, OutputError, VerificationError, some
from sfumato.evidence import (
    EVIDENCE,
    REPORT,
    Evidence,
    EvidenceVerdict,
    FileHash,
    Form,
    PublicKey,
    SigningKey,
    StoredTable,
    answer_in,
    check,
    check_stored,
    compare,
    evidence_of_tables,
    files_in,
    hash_file,
    is_signed_by,
    read_evidence,
    read_stored,
    sign_evidence,
    signed_text,
    with_answer,
    with_report,
    write_evidence,
    write_whole,
)
from sfumato.files.private import release_around
from sfumato.policy import Policy
from sfumato.releases.codebook import CODEBOOK, CODEBOOK_TEXT, Codebook
from sfumato.releases.manifest import (
    MANIFEST,
    Manifest,
    PopulationLabels,
    labels_of_population,
)
from sfumato.releases.readme import README, write_readme
from sfumato.releases.release import for_verifier, relation_of, tables_of
from sfumato.tables import DatabaseTable
from sfumato.verifier import Check, Verdict, verify_folder, verify_stored, verify_tables
from sfumato.verifier.promises import status
from sfumato.verifier.release import promises_in


def attestation(
    manifest: str,
    tables: Mapping[str, DatabaseTable],
    verdict: Verdict,
    key: SigningKey,
    answer: Mapping[str, Any],
) -> str:
    """Return the evidence of tables that were just verified, signed.

    Args:
        manifest: What their manifest says, as it is written.
        tables: By the names that it has for them, whatever they are called now.
        verdict: What the verifier found in them.
        key: Signs it.
        answer: Whether it may be published, and what that assumes.
    """
    hashed = {name: _hashable(table) for name, table in tables.items()}
    return signed_text(with_answer(evidence_of_tables(manifest, hashed, verdict), answer), key)


def sign_tables(
    table: DatabaseTable,
    key: SigningKey,
    *,
    force: bool,
    policy: Policy | None = None,
    population: object = None,
    people_file: object = None,
    answer: Callable[[], Mapping[str, Any]],
) -> EvidenceVerdict:
    """Sign a release in a database, after verifying it once more; see `sf.sign`."""
    text = table.manifest()
    if text is None:
        raise InputError(f"there is no manifest beside {table.name}. Give a release.")
    manifest = Manifest.read_stored(text)
    people, labels = _population_labels(manifest, policy, population)
    verdict = _verify(table, text, people, labels, people_file)
    _require_unbroken(verdict)
    written = table.evidence()
    own = None if written is None else _require_unchanged(table, written, key, force=force)
    if own is not None and _vouches(own, key.public, verdict):
        evidence = own
    else:
        _require_checked(verdict)
        tables = tables_of(table, manifest)
        hashed = {name: _hashable(each) for name, each in tables.items()}
        evidence = evidence_of_tables(text, hashed, verdict)
    table.store_evidence(signed_text(with_answer(evidence, answer()), key))
    return check_tables(table, key.public)


def check_tables(table: DatabaseTable, public_key: PublicKey | None = None) -> EvidenceVerdict:
    """Compare a release in a database with its evidence; see `sf.check_evidence`."""
    manifest, evidence = table.manifest(), table.evidence()
    if manifest is None and evidence is None:
        raise InputError(
            f"there is neither a manifest nor evidence beside {table.name}. Give a release."
        )
    return check_stored(manifest, evidence, _opener(table, evidence), public_key)


def view_checks(tables: Mapping[str, DatabaseTable]) -> list[Check]:
    """Find tables of a release that are views: these may show each reader other rows."""
    views = [name for name, table in tables.items() if table.is_view()]
    if not views:
        return []
    detail = f"{some(views)}: a view may show other rows to others, or later. Publish a table"
    return [Check("tables", "broken", detail=detail)]


def evidence_checks(table: DatabaseTable) -> list[Check]:
    """Check whether a release in a database is what its evidence says, if it has any."""
    if table.evidence() is None:
        return []
    found = [each for each in check_tables(table).checks if each.status != "holds"]
    detail = "; ".join(f"{each.name}: {each.detail}" for each in found)
    return [Check("evidence", status(holds=not found), detail=detail)]


def _verify(
    table: DatabaseTable,
    text: str,
    people: object,
    labels: PopulationLabels | None,
    people_file: object,
) -> Verdict:
    manifest = Manifest.read_stored(text)
    if manifest.kind is None:
        tables = {table.name: table}
        verdict = verify_stored(
            relation_of(table),
            text,
            population=people,
            generalization=labels,
            people=people_file,
        )
    else:
        tables, claims = tables_of(table, manifest), manifest.claims()
        relations = {name: relation_of(each) for name, each in tables.items()}
        verdict = verify_tables(relations, claims, promises_in(claims, people, labels))
    return Verdict((*verdict.checks, *view_checks(tables)))


def _opener(table: DatabaseTable, evidence: str | None) -> Callable[[str], StoredTable]:
    """Open tables that evidence names; the first must be the one that was asked about."""
    first = _first_of(evidence)

    def open_named(name: str) -> StoredTable:
        if name != first:
            return _hashable(table.open_beside(name))
        if not table.is_called(name):
            raise InputError(f"the evidence is that of another table than {table.name}")
        return _hashable(table)

    return open_named


def _first_of(evidence: str | None) -> str | None:
    try:
        return None if evidence is None else read_stored(evidence).tables[0].name
    except InputError:
        return None


def _require_unchanged(
    table: DatabaseTable, written: str, key: SigningKey, *, force: bool
) -> Evidence:
    """Return the evidence of a release that is what was published."""
    found = check_tables(table)
    if not found.holds:
        raise VerificationError(
            "it is left as it is, for it is not what was published: its evidence says so. Publish "
            f"it again, or drop the table with the evidence if the change was yours.\n{found}"
        )
    evidence = read_stored(written)
    signer = None if evidence.signature is None else PublicKey(evidence.signature.public_key)
    if signer is not None and signer != key.public and not force:
        raise OutputError(
            f"{table.name} is signed by another key, {signer}. Replace that signature with "
            "--force (force=True)."
        )
    return evidence


def _hashable(table: DatabaseTable) -> StoredTable:
    types = {name: table.native_type(name) for name in table.columns}
    forms = {name: _form_of(table, name) for name in table.columns}
    return StoredTable(relation_of(table), types, forms)


def _form_of(table: DatabaseTable, name: str) -> Form:
    kind = table.type_of(name)
    if not table.has_single_values(name):
        return "nested"
    if t.is_timestamp(kind):
        return "timestamp" if kind.tz is None else "moment"
    return next((form for form, test in _FORMS.items() if test(kind)), "text")


_FORMS: Mapping[Form, Callable[[pa.DataType], bool]] = {
    "float": t.is_floating,
    "binary": lambda kind: t.is_binary(kind) or t.is_large_binary(kind),
    "date": t.is_date,
    "time": t.is_time,
}


def _population_labels(
    manifest: Manifest, policy: Policy | None, population: object
) -> tuple[object, PopulationLabels | None]:
    """Return a population as the verifier reads it, and its labels, if a release needs them.

    Args:
        manifest: What the release says of itself.
        policy: The policy it was made with; it may name the population.
        population: All people the data was drawn from; None takes the policy's.
    """
    asked = [model for promise in manifest.models if (model := promise.readable())]
    if policy is not None and population is None:
        population = policy.population_table
    if population is None or not any(model.needs_population for model in asked):
        return None, None
    table = for_verifier(population)
    if policy is None:
        return table, None
    return table, labels_of_population(manifest, policy, population)


# A release in a folder.


def sign_folder(
    folder: Path,
    signer: SigningKey,
    *,
    force: bool,
    policy: Policy | None = None,
    population: object = None,
    people_file: object = None,
    make_report: Callable[[], str] | None = None,
    answer: Callable[[], Mapping[str, Any]],
) -> EvidenceVerdict:
    """Sign a release in a folder, after verifying it once more; see `sf.sign`.

    Args:
        folder: The release.
        signer: The private key.
        force: Replace the signature of another key.
        policy: The policy of the release, for the labels of a population.
        population: All people the data was drawn from.
        people_file: The people file of a release that counts people.
        make_report: Makes the report for all readers again, to compare it with one that is there.
        answer: Asked when nothing else is in the way: whether it may be published, and what that
            assumes. It raises if that is not signed.
    """
    if not (folder / MANIFEST).is_file():
        raise InputError(
            f"there is no {MANIFEST} in {str(folder)!r}. Give the folder of a release."
        )
    verdict = _verify_folder(folder, policy, population, people_file)
    _require_unbroken(verdict)
    before = None
    if (folder / EVIDENCE).exists():
        require_unchanged(folder)
        before = read_evidence(folder)
        if not force:
            _refuse_another_signer(folder, signer)
    trusted = before if before is not None and is_signed_by(before, signer.public) else None
    vouched = trusted is not None and _vouches(trusted, signer.public, verdict)
    if not vouched:
        _require_checked(verdict)
    _require_accounted(folder, before, trusted, make_report)
    given = answer()
    if trusted is not None and vouched:
        report = hash_file(folder / REPORT) if REPORT in files_in(folder)[0] else None
        told = with_report(trusted, report)
    else:
        # Claims that another person may have written are computed again.
        told = write_evidence(folder, verdict)
    sign_evidence(folder, with_answer(told, given), signer)
    return check(folder, signer.public)


def _verify_folder(
    folder: Path, policy: Policy | None, population: object, people_file: object
) -> Verdict:
    """Recompute the promises of a folder, those about a population too if it is given."""
    try:
        manifest = Manifest.read_folder(folder)
    except InputError:
        # The verifier finds the same, and says it in its own words.
        return verify_folder(folder)
    people, labels = _population_labels(manifest, policy, population)
    return verify_folder(folder, population=people, generalization=labels, people=people_file)


def _require_unbroken(verdict: Verdict) -> None:
    """Raise if a check is broken."""
    if any(each.status == "broken" for each in verdict.checks):
        raise VerificationError(f"it was not signed, for it does not hold.\n{verdict}")


def _require_checked(verdict: Verdict) -> None:
    """Raise if something was not recomputed: a signature would vouch for it."""
    unchecked = [each.name for each in verdict.checks if each.status in _UNCHECKED]
    if unchecked:
        raise VerificationError(
            f"it was not signed, for {some(unchecked)} could not be checked. If a population is "
            "needed, give it with the policy: policy= and population=, or --policy and "
            "--population. If people are counted, give the people file: people_file=, or "
            f"--people-file.\n{verdict}"
        )


_UNCHECKED = ("unchecked", "not recounted", "not promised")
"""What a check says that was not made."""


def _vouches(evidence: Evidence, key: PublicKey, verdict: Verdict) -> bool:
    """Return whether the owner of a key signed already what could not be recomputed now."""
    unchecked = {each.name for each in verdict.checks if each.status in _UNCHECKED}
    held = {each["name"] for each in evidence.claims["checks"] if each["status"] == "holds"}
    return is_signed_by(evidence, key) and unchecked <= held


def _require_accounted(
    folder: Path,
    before: Evidence | None,
    trusted: Evidence | None,
    make_report: Callable[[], str] | None,
) -> None:
    """Raise if there is a file that neither the signer signed before nor this program made.

    Args:
        folder: The release, which is what its evidence says but for a report.
        before: Its evidence, of any origin.
        trusted: Its evidence if the signer signed it.
        make_report: Makes the report for all readers again.
    """
    there, _ = files_in(folder)
    manifest = Manifest.read_folder(folder)
    known = {MANIFEST, EVIDENCE, *(file.name for file in manifest.files)}
    signed = {} if trusted is None else {each.name: each for each in trusted.files}
    said = {} if before is None or manifest.kind is None else {each.name for each in before.files}
    own = _documents_of(folder, manifest)
    for name in there:
        if name in known or signed.get(name) == hash_file(folder / name):
            continue
        if name == REPORT:
            _require_own_report(folder, make_report)
        elif name in own:
            _require_own_document(folder, name, own[name])
        elif name not in said:
            raise VerificationError(
                f"it was not signed, for {name!r} is none of its files. Remove it, or publish "
                "the release again."
            )


def _documents_of(folder: Path, manifest: Manifest) -> dict[str, str]:
    """Return the texts that this program writes about a release, as far as they can be again.

    The verifier has compared the codebook with the rows; all others follow from it.
    """
    if not (folder / CODEBOOK).is_file():
        return {}
    with (folder / CODEBOOK).open(encoding="utf-8", newline="") as file:
        text = file.read()
    codebook = Codebook.from_csv(text)
    found = {CODEBOOK: text, CODEBOOK_TEXT: codebook.to_markdown()}
    if manifest.kind is None:
        found[README] = write_readme(manifest, codebook)
    return found


def _require_own_document(folder: Path, name: str, text: str) -> None:
    """Raise if a text in a folder is not what this program says of the release."""
    if (folder / name).read_bytes() != text.encode("utf-8"):
        raise VerificationError(
            f"it was not signed, for {name} is not what this version writes about this release: a "
            "signature would vouch for what it says. Publish the release again."
        )


def _require_own_report(folder: Path, make_report: Callable[[], str] | None) -> None:
    """Raise if the report in a folder is not what this program says of the release."""
    if make_report is None or (folder / REPORT).read_bytes() != make_report().encode("utf-8"):
        raise VerificationError(
            f"it was not signed, for {REPORT} is not the report that is made of this release: a "
            f"signature would vouch for what it says. Remove it, and write it again with: sfumato "
            f"report {folder.name} --public -o {folder.name}/{REPORT} --key KEY"
        )


def require_unchanged(folder: Path) -> Evidence:
    """Return the evidence of a folder that is what was published, but for a report on it."""
    found = check(folder)
    broken = {each.name for each in found.checks if each.status != "holds"}
    if broken <= {"files", "sha256"}:
        there = REPORT in files_in(folder)[0]
        report = hash_file(folder / REPORT) if there else None
        evidence = with_report(read_evidence(folder), report)
        found = compare(folder, evidence, None)
        if found.holds:
            return evidence
    raise VerificationError(
        f"it is left as it is, for it is not what was published: {EVIDENCE} says so. Publish it "
        f"again, or remove {EVIDENCE} if the change was yours.\n{found}"
    )


def _refuse_another_signer(folder: Path, signer: SigningKey) -> None:
    before = read_evidence(folder).signature
    if before is not None and before.public_key != signer.public.raw:
        raise OutputError(
            f"{str(folder)!r} is signed by another key, {PublicKey(before.public_key)}. "
            "Replace that signature with --force (force=True)."
        )


# Enclosing a public report in the release that it is about, and in its evidence.


def is_inside(folder: Path | None, path: Path) -> bool:
    """Return whether a file would lie in a release, whatever links lead there.

    >>> is_inside(Path("release"), Path("release/../release/report.html"))
    True
    >>> is_inside(Path("release"), Path("report.html"))
    False
    """
    # The file itself may be a link: it would be replaced where it is, not where it leads to.
    place = path.parent.resolve()
    return folder is not None and folder.resolve() in (place, *place.parents)


def require_place(
    folder: Path | None, path: Path, *, public: bool, key: SigningKey | None = None
) -> None:
    """Raise before any work is done if a report may not be in a place.

    Args:
        folder: The release it is about.
        path: The file it shall be.
        public: Whether it is a page for all readers.
        key: Signs the release again, if the report joins it.
    """
    if folder is not None and is_inside(folder, path):
        _require_enclosable(folder, path, public=public, key=key)
    elif release_around(path) is not None:
        raise OutputError(
            f"{str(path)!r} lies in another release, whose evidence names every file. "
            "Write it somewhere else."
        )


def _require_enclosable(folder: Path, path: Path, *, public: bool, key: SigningKey | None) -> None:
    if not public or path.parent.resolve() / path.name != folder.resolve() / REPORT:
        raise OutputError(
            f"{str(path)!r} lies in the release itself, which all readers get. Only a report for "
            f"the public (--public) may join it, as {REPORT}. Write it beside the release."
        )
    signer = _signer_of(folder)
    if signer is not None and key is None:
        raise OutputError(
            f"{str(folder)!r} is signed, and a report in it has to be signed with the rest. Give "
            "the key (--key), or write the report beside the release."
        )
    if signer is not None and key is not None and signer != key.public:
        raise OutputError(
            f"{str(folder)!r} is signed by another key, {signer}. Give that one, or write the "
            "report beside the release."
        )


def enclose(
    folder: Path,
    text: str,
    key: SigningKey | None = None,
    *,
    answer: Callable[[], Mapping[str, Any]],
) -> Path:
    """Write the report into its release and take it into the evidence: both or neither.

    Args:
        folder: The release; it must be what was published.
        text: The report, as HTML.
        key: Signs the release, after it was verified once more.
        answer: Asked if it is signed, and the owner of the key was not told the answer before:
            whether it may be published. It raises if that is not signed.
    """
    path, data = folder / REPORT, text.encode("utf-8")
    _require_enclosable(folder, path, public=True, key=key)
    evidence = require_unchanged(folder) if os.path.lexists(folder / EVIDENCE) else None
    before = path.read_bytes() if path.exists() else None
    signed = evidence is not None and key is not None and _signer_of(folder) == key.public
    told = answer_in(read_evidence(folder)) if signed else None
    if key is not None and told is None:
        told = answer()
    write_whole(path, data)
    try:
        if key is not None:
            sign_folder(
                folder,
                key,
                force=False,
                make_report=lambda: text,
                answer=lambda: told or {},
            )
        elif evidence is not None:
            sign_evidence(folder, with_report(evidence, FileHash.of(REPORT, data)), None)
    except BaseException:
        _restore(path, before)
        raise
    return path


def _signer_of(folder: Path) -> PublicKey | None:
    if not os.path.lexists(folder / EVIDENCE):
        return None
    try:
        signature = read_evidence(folder).signature
    except (InputError, OSError) as error:
        why = getattr(error, "strerror", None) or error
        raise OutputError(
            f"the {EVIDENCE} in {str(folder)!r} cannot be read: {why}. Nothing is added to such a "
            "release; write the report beside it."
        ) from None
    return None if signature is None else PublicKey(signature.public_key)


def _restore(path: Path, before: bytes | None) -> None:
    with suppress(OSError, OutputError):
        if before is None:
            path.unlink()
        else:
            write_whole(path, before)
