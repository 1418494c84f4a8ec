"""Evidence of a release in a database: made by its publisher, checked by a reader.

It covers every row of its tables, in any order, their columns and types, and the text of the
manifest. Rows stay in the database, which does the hashing: a reader who does not trust its
answers cannot trust the rows either.
"""

from collections.abc import Callable, Mapping

from sfumato.errors import InputError, some
from sfumato.evidence.document import (
    MOST_BYTES,
    Evidence,
    EvidenceVerdict,
    FileHash,
    StoredTable,
    TableHash,
    checks_of,
    claims_of,
    disagreement,
    hash_table,
    judge_signature,
    parse_evidence,
    read_object,
    sign_document,
)
from sfumato.evidence.keys import MANIFEST, PublicKey, SigningKey, require_library
from sfumato.verifier import Check, Verdict
from sfumato.verifier.promises import status

Open = Callable[[str], StoredTable]
"""Opens a table by the name the manifest has for it, or raises `InputError`."""


def evidence_of_tables(
    manifest: str, tables: Mapping[str, StoredTable], verdict: Verdict
) -> Evidence:
    """Make evidence of tables that were just verified.

    Args:
        manifest: What their manifest says, as it is written.
        tables: By the names that it has for them, the first one first.
        verdict: What the verifier found in them.
    """
    data = manifest.encode("utf-8")
    return Evidence(
        (FileHash.of(MANIFEST, data),),
        claims_of(read_object(data), checks_of(verdict)),
        tables=tuple(hash_table(name, table) for name, table in tables.items()),
    )


def signed_text(evidence: Evidence, key: SigningKey) -> str:
    """Sign evidence and return its text."""
    return sign_document(evidence, key).to_bytes().decode("utf-8")


def read_stored(text: str) -> Evidence:
    """Read the evidence of a release in a database; anything else is an error."""
    if len(text) > MOST_BYTES:
        raise InputError(f"it is larger than {MOST_BYTES // 2**20} MB")
    evidence = parse_evidence(text.encode("utf-8", errors="surrogatepass"))
    if not evidence.tables or [file.name for file in evidence.files] != [MANIFEST]:
        raise InputError("it is evidence of a folder")
    return evidence


def check_stored(
    manifest: str | None,
    evidence: str | None,
    opened: Open,
    public_key: PublicKey | None = None,
) -> EvidenceVerdict:
    """Hash every table again, and compare with the evidence.

    Args:
        manifest: What stands beside the table; None if nothing does. It may be forged.
        evidence: The text beside the table, in the same way.
        opened: Opens a table that the evidence names.
        public_key: The publisher's. Without it, any key may have signed.
    """
    if public_key is not None:
        require_library()
    if evidence is None:
        detail = "there is no evidence beside the table"
        return EvidenceVerdict((Check("evidence", "broken", detail=detail),))
    try:
        read = read_stored(evidence)
    except InputError as error:
        return EvidenceVerdict((Check("evidence", "broken", detail=str(error)),))
    judged = judge_signature(read, public_key)
    checks = [
        Check("evidence", "holds"),
        *_tables_checks(read, opened),
        _claims_check(manifest, read),
        *judged.checks,
    ]
    return EvidenceVerdict(tuple(checks), judged.signed_by, judged.note)


def _tables_checks(evidence: Evidence, opened: Open) -> list[Check]:
    """Check which tables are not there, and which are not what they were."""
    missing, changed = [], []
    for table in evidence.tables:
        try:
            found = hash_table(table.name, opened(table.name))
        except InputError as error:
            missing.append(f"{table.name}: {error}")
            continue
        if found != table:
            changed.append(_describe_change(table, found))
    known = len(evidence.tables)
    return [
        Check("tables", status(holds=not missing), known, known - len(missing), "; ".join(missing)),
        Check("sha256", status(holds=not changed), detail="; ".join(changed)),
    ]


def _describe_change(table: TableHash, found: TableHash) -> str:
    if found.rows == table.rows:
        return f"changed: {some([table.name])}"
    return f"changed: {some([table.name])}, which has {found.rows} rows and not {table.rows}"


def _claims_check(manifest: str | None, evidence: Evidence) -> Check:
    data = (manifest or "").encode("utf-8", errors="surrogatepass")
    [file] = evidence.files
    if FileHash.of(MANIFEST, data) != file:
        return Check("claims", "broken", detail="the manifest was changed")
    try:
        plain = read_object(data)
        detail = disagreement(evidence.claims, plain, {}) or _other_tables(plain, evidence)
    except (InputError, RecursionError) as error:
        return Check("claims", "broken", detail=f"the manifest cannot be read: {error}")
    return Check("claims", status(holds=not detail), detail=detail)


def _other_tables(manifest: Mapping[str, object], evidence: Evidence) -> str:
    """Describe whether manifest and evidence speak of different tables; "" if not."""
    one = manifest.get("table")
    named = [one] if isinstance(one, dict) else manifest.get("files")
    tables = [each for each in named if isinstance(each, dict)] if isinstance(named, list) else []
    claimed = [(table.get("name"), table.get("rows")) for table in tables]
    same = claimed == [(table.name, table.rows) for table in evidence.tables]
    return "" if same else "the manifest names other tables, or another number of rows"
