"""Evidence of releases that are tables of a database: made, signed and checked there."""

from collections.abc import Callable, Mapping
from dataclasses import replace

import pyarrow as pa
from pyarrow import types as t

from sfumato.errors import InputError, OutputError, VerificationError
from sfumato.evidence import (
    Evidence,
    EvidenceVerdict,
    Form,
    PublicKey,
    SigningKey,
    StoredTable,
    check_stored,
    evidence_of_tables,
    read_stored,
    signed_text,
)
from sfumato.releases.database import relation_of, tables_of
from sfumato.releases.manifest import Manifest
from sfumato.tables import DatabaseTable
from sfumato.verifier import Check, Verdict, verify_stored, verify_tables
from sfumato.verifier.promises import status
from sfumato.verifier.release import promises_in


def attestation(
    manifest: str, tables: Mapping[str, DatabaseTable], verdict: Verdict, key: SigningKey
) -> str:
    """Return the evidence of tables that were just verified, signed.

    Args:
        manifest: What their manifest says, as it is written.
        tables: By the names that it has for them, whatever they are called now.
        verdict: What the verifier found in them.
        key: Signs it.
    """
    hashed = {name: _hashable(table) for name, table in tables.items()}
    return signed_text(evidence_of_tables(manifest, hashed, verdict), key)


def sign_tables(table: DatabaseTable, key: SigningKey, *, force: bool) -> EvidenceVerdict:
    """Sign a release in a database, after verifying it once more; see `sf.sign`."""
    text = table.manifest()
    if text is None:
        raise InputError(f"there is no manifest beside {table.name}. Give a release.")
    verdict = _verify(table, text)
    written = table.evidence()
    if written is None:
        if not verdict.holds:
            raise VerificationError(f"it was not signed, for it does not hold.\n{verdict}")
        tables = tables_of(table, Manifest.read_stored(text))
        hashed = {name: _hashable(each) for name, each in tables.items()}
        evidence = evidence_of_tables(text, hashed, verdict)
    else:
        if any(each.status == "broken" for each in verdict.checks):
            raise VerificationError(f"it was not signed, for it does not hold.\n{verdict}")
        evidence = _require_unchanged(table, written, key, force=force)
    table.store_evidence(signed_text(evidence, key))
    return check_tables(table, key.public)


def check_tables(table: DatabaseTable, public_key: PublicKey | None = None) -> EvidenceVerdict:
    """Compare a release in a database with its evidence; see `sf.check_evidence`."""
    manifest, evidence = table.manifest(), table.evidence()
    if manifest is None and evidence is None:
        raise InputError(
            f"there is neither a manifest nor evidence beside {table.name}. Give a release."
        )
    return check_stored(manifest, evidence, _opener(table, evidence), public_key)


def evidence_checks(table: DatabaseTable) -> list[Check]:
    """Check whether a release in a database is what its evidence says, if it has any."""
    if table.evidence() is None:
        return []
    found = [each for each in check_tables(table).checks if each.status != "holds"]
    detail = "; ".join(f"{each.name}: {each.detail}" for each in found)
    return [Check("evidence", status(holds=not found), detail=detail)]


def _verify(table: DatabaseTable, text: str) -> Verdict:
    manifest = Manifest.read_stored(text)
    if manifest.kind is None:
        return verify_stored(relation_of(table), text)
    relations = {name: relation_of(each) for name, each in tables_of(table, manifest).items()}
    claims = manifest.claims()
    return verify_tables(relations, claims, promises_in(claims))


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
    return replace(evidence, signature=None)


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
