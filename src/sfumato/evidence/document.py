"""The evidence of a release, in a folder or a database, and a reader that believes none of it."""

import json
import os
import re
import stat
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any, BinaryIO, Literal, NamedTuple, Self, TypeAlias

import pyarrow as pa
import rfc8785

from sfumato.dataclasses import dataclass
from sfumato.errors import InputError, OutputError, reason_of, some
from sfumato.evidence.keys import (
    EVIDENCE,
    MANIFEST,
    PublicKey,
    SigningKey,
    has_library,
    require_library,
)
from sfumato.files.confinement import require_inside
from sfumato.files.dialect import Dialect
from sfumato.showing.content import Content, Sentence
from sfumato.verifier import Check, DatabaseRelation, Verdict
from sfumato.verifier.promises import status

# JSON that can be written in one way only, as RFC 8785 says, and a reader that insists on it: what
# has one form has one hash, and no byte of it can change without being noticed. Reference:
# Rundgren, Jordan and Erdtman, JSON Canonicalization Scheme, doi:10.17487/RFC8785.

LARGEST = 2**53 - 1
"""Whole numbers up to here are the same to every reader of JSON."""


def canonical(value: Any) -> bytes:  # noqa: ANN401 - any value of JSON
    """Write a value in its one form.

    >>> canonical({"b": [1.0, 1e-7, None], "a": "é"}).decode()
    '{"a":"é","b":[1,1e-7,null]}'
    """
    try:
        return rfc8785.dumps(value)
    except RecursionError:
        raise InputError("it is nested too deeply") from None
    except rfc8785.FloatDomainError:
        raise InputError("it holds a number that is not finite") from None
    except rfc8785.IntegerDomainError:
        raise InputError("it holds a whole number that not every reader can hold") from None
    except ValueError as error:
        # The library lets the error of a key pass, and wraps that of a text.
        if isinstance(error.__cause__ or error, UnicodeEncodeError):
            raise InputError("it holds a text that is not Unicode") from None
        raise InputError(f"it holds what JSON cannot: {error}") from None


def read_canonical(data: bytes) -> dict[str, Any]:
    """Read an object; every other way of writing it is an error.

    >>> read_canonical(b'{"a":1}')
    {'a': 1}
    >>> read_canonical(b'{"a": 1}')
    Traceback (most recent call last):
    sfumato.errors.InputError: it is not in canonical form
    """
    value = read_object(data)
    if canonical(value) != data:
        raise InputError("it is not in canonical form")
    return value


def read_object(data: bytes) -> dict[str, Any]:
    """Read a JSON object in which nothing is said twice and all numbers are numbers."""
    try:
        value = json.loads(
            data.decode("utf-8"),
            object_pairs_hook=_unambiguous,
            parse_constant=_refuse_constant,
            parse_int=_whole,
        )
    except RecursionError:
        raise InputError("it is nested too deeply") from None
    except InputError:
        raise
    except ValueError as error:
        raise InputError(f"it is not JSON: {str(error)[:200]}") from None
    if not isinstance(value, dict):
        raise InputError("it is not a JSON object")
    return value


def _unambiguous(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        keys = [key for key, _ in pairs]
        twice = sorted({key for key in keys if keys.count(key) > 1})
        raise InputError(f"keys stand there more than once: {some(twice)}")
    return value


def _refuse_constant(name: str) -> None:
    raise InputError(f"it holds {name}, which is not JSON")


def _whole(text: str) -> int | float:
    value = int(text)
    return value if abs(value) <= LARGEST else float(text)


# The files of a folder and their hashes. A folder may come from a stranger: links are not followed,
# only plain files are opened, and nothing is read that is larger than expected.

_BLOCK = 1 << 20
_SEPARATORS = set("/\\:\0")


@dataclass(frozen=True)
class FileHash:
    """A file as evidence describes it."""

    name: str
    sha256: str
    size: int

    @classmethod
    def of(cls, name: str, data: bytes) -> Self:
        """Describe a file that holds these bytes."""
        return cls(name, sha256(data).hexdigest(), len(data))

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that JSON can hold."""
        return {"name": self.name, "sha256": self.sha256, "size": self.size}


def is_plain_name(name: str) -> bool:
    r"""Return whether a name is that of a file in a folder, not a way to somewhere else.

    >>> [is_plain_name(name) for name in ("data.csv", "../data.csv", "..", "C:x", "a\\b", "")]
    [True, False, False, False, False, False]
    """
    return bool(name) and name not in (".", "..") and not set(name) & _SEPARATORS


def files_in(folder: Path) -> tuple[list[str], list[str]]:
    """List the plain files of a folder, and all that is not one: folders, links, devices."""
    plain: list[str] = []
    strange: list[str] = []
    with os.scandir(folder) as entries:
        for entry in entries:
            good = entry.is_file(follow_symlinks=False) and is_plain_name(entry.name)
            (plain if good else strange).append(entry.name)
    return sorted(plain), sorted(strange)


def hash_file(path: Path, *, expected_size: int | None = None) -> FileHash:
    """Hash a file; one of another size than expected is not read, and its hash is empty."""
    with _open_plain(path) as (file, size):
        if expected_size is not None and size != expected_size:
            return FileHash(path.name, "", size)
        digest, read = sha256(), 0
        while block := file.read(_BLOCK):
            digest.update(block)
            read += len(block)
    return FileHash(path.name, digest.hexdigest(), read)


def read_small(path: Path, *, most: int) -> bytes:
    """Read a whole file that must not be large."""
    with _open_plain(path) as (file, _):
        data = file.read(most + 1)
    if len(data) > most:
        raise InputError(f"it is larger than {most // 2**20} MB")
    return data


@contextmanager
def _open_plain(path: Path) -> Iterator[tuple[BinaryIO, int]]:
    require_inside(path)
    # A pipe would block, and a link may have come since the folder was listed.
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    handle = os.open(path, flags | getattr(os, "O_BINARY", 0))
    with os.fdopen(handle, "rb") as file:
        about = os.fstat(handle)
        if not stat.S_ISREG(about.st_mode):
            raise InputError("it is not a plain file")
        yield file, about.st_size


# The hash of a table in a database: the same whatever order its rows are in.
#
# The database hashes its rows and gathers the hashes, so that at most 4096 hashes leave it and no
# row does. A row is the text of its cells, each with its length before it, so that no two
# different rows are one text. Equal rows are counted, hashes are put in order, and 4096 parts of
# them, by their first digits, are hashed once more: to change a cell, add a row or take one away
# without changing the result means to break SHA-256. (Adding hashes up would not need an order,
# but is broken in no time: Wagner, A Generalized Birthday Problem, 2002,
# doi:10.1007/3-540-45708-9_19.)


Form: TypeAlias = Literal[
    "text", "float", "binary", "date", "time", "timestamp", "moment", "nested"
]
"""How the cells of a column are written down; `text` is how the database writes them."""


@dataclass(frozen=True)
class TableHash:
    """A table as evidence describes it."""

    name: str
    rows: int
    sha256: str

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that JSON can hold."""
        return {"name": self.name, "rows": self.rows, "sha256": self.sha256}


class StoredTable(NamedTuple):
    """A table of a database that can be hashed."""

    relation: DatabaseRelation
    types: Mapping[str, str]
    """What the database calls the type of each column."""

    forms: Mapping[str, Form]


def hash_table(name: str, table: StoredTable) -> TableHash:
    """Hash a table inside its database.

    >>> duckdb = Dialect(text="VARCHAR", collation='"binary"', sha256="sha256({})")
    >>> answer = lambda sql: [("0a3", 2, "ff")]
    >>> people = DatabaseRelation(("people",), {"age": "text"}, duckdb, answer)
    >>> hash_table("people", StoredTable(people, {"age": "VARCHAR"}, {"age": "text"})).rows
    2
    """
    answer = table.relation.query(statement(table))
    if isinstance(answer, pa.Table):
        answer = list(zip(*(column.to_pylist() for column in answer.columns), strict=True))
    parts = sorted((str(part), int(str(rows)), str(digest)) for part, rows, digest in answer)
    columns = [[column, table.types[column]] for column in table.relation.columns]
    digest = sha256(canonical({"columns": columns, "parts": parts})).hexdigest()
    return TableHash(name, sum(rows for _, rows, _ in parts), digest)


def statement(table: StoredTable) -> str:
    """Write what a database is asked: for each first three digits, how many rows, and their hash.

    >>> duckdb = Dialect(text="VARCHAR", collation='"binary"', sha256="sha256({})")
    >>> people = DatabaseRelation(("people",), {"age": "text"}, duckdb, lambda sql: [])
    >>> print(statement(StoredTable(people, {"age": "VARCHAR"}, {"age": "text"})))
    SELECT substr(line, 1, 3) AS part, CAST(sum(times) AS BIGINT) AS people,
    sha256(string_agg(line, ' ' ORDER BY line)) AS digest FROM
    (SELECT concat(hash, ':', CAST(count(*) AS VARCHAR)) AS line, count(*) AS times FROM
    (SELECT sha256(CASE WHEN "age" IS NULL THEN '-' ELSE
    concat(length(CAST("age" AS VARCHAR)), ':', CAST("age" AS VARCHAR)) END) AS hash
    FROM "people") AS hashed GROUP BY hash) AS counted GROUP BY substr(line, 1, 3)
    """
    relation = table.relation
    dialect = relation.dialect
    if dialect.sha256 is None:
        raise InputError(f"the database of {relation.name[-1]} cannot hash its tables")
    cells = [_cell(dialect.quote(name), form, dialect) for name, form in table.forms.items()]
    # A function has at most a hundred arguments in PostgreSQL.
    row = dialect.sha256.format(" || ".join(cells))
    source = dialect.quote(*relation.name)
    hashes = f"SELECT {row} AS hash FROM {source}"  # noqa: S608 - names are quoted
    line = f"concat(hash, ':', CAST(count(*) AS {dialect.text}))"
    counted = f"SELECT {line} AS line, count(*) AS times FROM ({hashes}) AS hashed GROUP BY hash"  # noqa: S608
    part, digest = "substr(line, 1, 3)", dialect.sha256.format(dialect.joined_lines)
    return (
        f"SELECT {part} AS part, CAST(sum(times) AS BIGINT) AS people, {digest} AS digest "  # noqa: S608
        f"FROM ({counted}) AS counted GROUP BY {part}"
    )


def _cell(name: str, form: Form, dialect: Dialect) -> str:
    """Write a cell with its length before it; a missing one is no text of any length."""
    text = dialect.cells.get(form, f"CAST({{}} AS {dialect.text})").format(name)
    return f"CASE WHEN {name} IS NULL THEN '-' ELSE concat(length({text}), ':', {text}) END"


MOST_BYTES = 16 * 2**20
"""The largest evidence that is read."""

ALGORITHM = "ed25519"
FORMAT = 1
_OF = "sfumato release"
_TABLES = "database"
_KEYS = {"claims", "evidence_of", "files", "format"}
_HEX = re.compile(r"[0-9a-f]+")


@dataclass(frozen=True)
class Signature:
    """A public key and what its owner made of the message."""

    public_key: bytes
    value: bytes


@dataclass(frozen=True)
class Evidence:
    """The files of a release and its claims, signed or not."""

    files: tuple[FileHash, ...]
    """All files of the folder but the evidence itself, in the order of their names."""

    claims: Mapping[str, Any]
    signature: Signature | None = None
    tables: tuple[TableHash, ...] = ()
    """The tables of a release in a database, the first one first; its only file is the manifest."""

    def message(self) -> bytes:
        """Return the bytes that are signed: those of the file without its signature."""
        tables = [table.to_dict() for table in self.tables]
        return canonical(
            {
                "claims": self.claims,
                **({_TABLES: tables} if tables else {}),
                "evidence_of": _OF,
                "files": [file.to_dict() for file in self.files],
                "format": FORMAT,
            }
        )

    def to_bytes(self) -> bytes:
        """Return the bytes of the file."""
        if self.signature is None:
            return self.message()
        # "signature" is the last of the keys, and the message has one form only.
        signature = canonical(
            {
                "algorithm": ALGORITHM,
                "public_key": self.signature.public_key.hex(),
                "value": self.signature.value.hex(),
            }
        )
        return self.message()[:-1] + b',"signature":' + signature + b"}"


def parse_evidence(data: bytes) -> Evidence:
    """Read evidence; whatever has not the right shape, to the last byte, is an error."""
    plain = read_canonical(data)
    if plain.get("evidence_of") != _OF:
        raise InputError(f"it is not evidence of a {_OF}")
    if isinstance(plain.get("format"), bool) or plain.get("format") != FORMAT:
        raise InputError(f"its format is not known here, only format {FORMAT}")
    if set(plain) - {"signature", _TABLES} != _KEYS:
        raise InputError(f"its keys must be {some(sorted(_KEYS))}, and 'signature' if it is signed")
    evidence = Evidence(
        _files(plain["files"]),
        _claims(plain["claims"]),
        _signature(plain["signature"]) if "signature" in plain else None,
        _tables(plain[_TABLES]) if _TABLES in plain else (),
    )
    if evidence.to_bytes() != data:
        raise InputError("it says something besides what evidence says")
    return evidence


def _files(plain: object) -> tuple[FileHash, ...]:
    if not isinstance(plain, list):
        raise InputError("'files' must be a list")
    files = tuple(map(_file, plain))
    names = [file.name for file in files]
    if names != sorted(set(names)):
        raise InputError("'files' must name each file once, in the order of names")
    if MANIFEST not in names or EVIDENCE in names:
        raise InputError(f"'files' must have {MANIFEST!r} and not {EVIDENCE!r}")
    return files


def _file(plain: object) -> FileHash:
    file = plain if isinstance(plain, dict) else {}
    name, digest, size = (file.get(key) for key in ("name", "sha256", "size"))
    if not isinstance(name, str) or not is_plain_name(name):
        raise InputError(f"{str(name)[:60]!r} is not a name for a file in this folder")
    size = _require_whole(size, f"the size of {name[:60]!r} must be a number of bytes")
    return FileHash(name, _hex(digest, 32, "a SHA-256").hex(), size)


def _require_whole(value: object, otherwise: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= LARGEST:
        raise InputError(otherwise)
    return value


def _tables(plain: object) -> tuple[TableHash, ...]:
    if not isinstance(plain, list) or not plain:
        raise InputError(f"{_TABLES!r} must be a list of at least one table")
    tables = tuple(map(_table, plain))
    if len({table.name for table in tables}) < len(tables):
        raise InputError(f"{_TABLES!r} must name each table once")
    return tables


def _table(plain: object) -> TableHash:
    table = plain if isinstance(plain, dict) else {}
    name, digest = table.get("name"), table.get("sha256")
    if not isinstance(name, str) or not name:
        raise InputError(f"{str(name)[:60]!r} is not a name for a table")
    rows = _require_whole(table.get("rows"), f"the rows of {name[:60]!r} must be a number")
    return TableHash(name, rows, _hex(digest, 32, "a SHA-256").hex())


def _claims(plain: object) -> dict[str, Any]:
    checks = plain.get("checks") if isinstance(plain, dict) else None
    good = isinstance(checks, list) and all(
        isinstance(check, dict)
        and isinstance(check.get("name"), str)
        and isinstance(check.get("status"), str)
        for check in checks
    )
    if not isinstance(plain, dict) or not good:
        raise InputError("'claims' must be an object with a list of checks")
    return plain


def _signature(plain: object) -> Signature:
    signature = plain if isinstance(plain, dict) else {}
    if signature.get("algorithm") != ALGORITHM:
        raise InputError(f"the algorithm of its signature must be {ALGORITHM!r}")
    return Signature(
        _hex(signature.get("public_key"), 32, "a public key"),
        _hex(signature.get("value"), 64, "a signature"),
    )


def _hex(value: object, length: int, what: str) -> bytes:
    if not isinstance(value, str) or len(value) != 2 * length or not _HEX.fullmatch(value):
        raise InputError(f"{what} must be {length} bytes as small hexadecimal digits")
    return bytes.fromhex(value)


# Claims are the promises of the manifest and the verifier's answer to each. Everything in them is
# public already: it is in the manifest, or was computed from the published rows. They hold no time,
# no name and no path of a machine.

_ANSWER = "answer"
"""The claim that is the signer's own: whether it may be published, and what that assumes."""

_CLAIMED = ("sfumato", "kind", "increment", "rows", "models", "hiding", "accepted", "reproducible")


def claims_of(manifest: Mapping[str, Any], checks: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Build the claims: what a manifest promises, and what was checked.

    >>> claims_of({"sfumato": "1.0", "rows": {"published": 4}, "notes": []}, [])
    {'sfumato': '1.0', 'rows': {'published': 4}, 'checks': []}
    """
    taken = {key: _exact(manifest[key]) for key in _CLAIMED if key in manifest}
    return {**taken, "checks": [_exact(check) for check in checks]}


def with_answer(evidence: Evidence, answer: Mapping[str, Any] | None) -> Evidence:
    """Add what the signer was told about publishing it: the answer, and what it assumes.

    Args:
        evidence: The evidence; its signature, if it has one, is no longer good.
        answer: The answer as plain values; None leaves out what another signer was told.
    """
    claims = {key: value for key, value in evidence.claims.items() if key != _ANSWER}
    if answer is not None:
        claims[_ANSWER] = _exact(answer)
    return replace(evidence, claims=claims, signature=None)


def answer_in(evidence: Evidence) -> Mapping[str, Any] | None:
    """Return what the signer was told about publishing it; None if nothing was."""
    told = evidence.claims.get(_ANSWER)
    return told if isinstance(told, Mapping) else None


def checks_of(verdict: Verdict) -> list[dict[str, Any]]:
    """List what the verifier found, check by check.

    >>> from sfumato.verifier import Check
    >>> checks_of(Verdict((Check("k-anonymity", "holds", {"k": 2}, {"k": 5}),)))
    [{'name': 'k-anonymity', 'status': 'holds', 'promised': {'k': 2}, 'found': {'k': 5}}]
    """
    wanted = ("name", "status", "promised", "found")
    plain = (check.to_dict() for check in verdict.checks)
    return [{key: each[key] for key in wanted if each[key] is not None} for each in plain]


def disagreement(
    claims: Mapping[str, Any], manifest: Mapping[str, Any], hashes: Mapping[str, str]
) -> str:
    """Describe what the manifest does not claim, or what did not hold; "" if there is nothing."""
    checks = claims["checks"]
    promised = {key: value for key, value in claims.items() if key != _ANSWER}
    if canonical(promised) != canonical(claims_of(manifest, checks)):
        return "the manifest claims something else"
    for file in _objects(manifest.get("files")):
        name = file.get("name")
        if not isinstance(name, str) or hashes.get(name) != file.get("sha256"):
            return f"the manifest has another hash of {name!r}"
    failed = [check["name"] for check in checks if check["status"] != "holds"]
    if failed:
        return f"{failed[0]!r} did not hold when it was published"
    held = {check["name"] for check in checks}
    lacking = [m for m in _objects(manifest.get("models")) if m.get("model") not in held]
    if lacking:
        return f"{lacking[0].get('model')!r} was promised and not checked"
    checked = [check for check in checks if check["name"] == "associations"]
    if len(checked) < len(_objects(manifest.get("hiding"))):
        return "the promise that no rule reveals a value was not checked"
    return ""


def _objects(value: object) -> list[dict[str, Any]]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _exact(value: Any) -> Any:  # noqa: ANN401 - any value of JSON
    """Write whole numbers as text that JSON readers would round."""
    if isinstance(value, Mapping):
        return {key: _exact(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_exact(item) for item in value]
    large = isinstance(value, int) and abs(value) > LARGEST
    return str(value) if large else value


# Check a release folder against its evidence, with nothing but the folder and a public key.


@dataclass(frozen=True)
class EvidenceVerdict(Verdict):
    """Whether a folder is what its evidence says, and who signed that.

    Example:
        >>> from sfumato.verifier import Check
        >>> print(EvidenceVerdict((Check("files", "holds"),), note="Not signed."))
        Holds: all 1 checks.
        check  result
        files  holds
        Not signed.
    """

    signed_by: str | None = None
    """The public key of a signature that was checked; None if there is no such."""

    note: str = ""
    """What the signature shows, in words."""

    not_covered: tuple[str, ...] = ()
    """What a reader must take on trust, in words."""

    def to_dict(self) -> dict[str, Any]:
        told = {"note": self.note, "not_covered": list(self.not_covered)}
        return {**super().to_dict(), "signed_by": self.signed_by, **told}

    def content(self) -> Content:
        """Return the checks, what the signature shows, and what is left to trust."""
        found = super().content()
        said = [Sentence(text) for text in (self.note, *self.not_covered) if text]
        return replace(found, parts=(*found.parts, *said))


MOST_MANIFEST = 64 * 2**20

REPORT = "report.html"
"""The one file that may join a release after it was published."""


def write_evidence(
    folder: Path,
    verdict: Verdict,
    key: SigningKey | None = None,
    answer: Mapping[str, Any] | None = None,
) -> Evidence:
    """Write `evidence.json` for all files of a folder, as the last of them.

    Args:
        folder: A release that is complete.
        verdict: What the verifier found in it.
        key: Signs it at once.
        answer: Whether it may be published, and what that assumes, as the signer was told.
    """
    names, strange = files_in(folder)
    if strange:
        raise InputError(f"there is more than plain files in {str(folder)!r}: {some(strange)}")
    manifest = read_object(read_small(folder / MANIFEST, most=MOST_MANIFEST))
    files = tuple(hash_file(folder / name) for name in names if name != EVIDENCE)
    told = Evidence(files, claims_of(manifest, checks_of(verdict)))
    return sign_evidence(folder, told if answer is None else with_answer(told, answer), key)


def sign_evidence(folder: Path, evidence: Evidence, key: SigningKey | None) -> Evidence:
    """Write evidence into its folder, signed if there is a key."""
    evidence = sign_document(evidence, key)
    write_whole(folder / EVIDENCE, evidence.to_bytes())
    return evidence


def sign_document(evidence: Evidence, key: SigningKey | None) -> Evidence:
    """Sign evidence if there is a key, and check that readers will be able to read it."""
    if key is not None:
        signature = Signature(key.public.raw, key.sign(evidence.message()))
        evidence = replace(evidence, signature=signature)
    parse_evidence(evidence.to_bytes())
    return evidence


def with_report(evidence: Evidence, report: FileHash | None) -> Evidence:
    """Add a report to evidence that was written before it, which removes the signature."""
    others = [file for file in evidence.files if file.name != REPORT]
    files = others if report is None else [*others, report]
    return Evidence(tuple(sorted(files, key=lambda file: file.name)), evidence.claims)


def read_evidence(folder: Path) -> Evidence:
    """Read the evidence in a folder; evidence of tables is an error."""
    evidence = parse_evidence(read_small(folder / EVIDENCE, most=MOST_BYTES))
    if evidence.tables:
        raise InputError("it is evidence of tables in a database")
    return evidence


def write_whole(path: Path, data: bytes) -> None:
    """Write a file whole or not at all, readable as the other files of a release are."""
    require_inside(path, OutputError)
    temporary = None
    try:
        handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        Path(temporary).chmod(0o777 & (path.parent / MANIFEST).stat().st_mode)
        Path(temporary).replace(path)
    except OSError as error:
        raise OutputError(
            f"cannot write {str(path)!r}: {reason_of(error)}. Nothing was changed."
        ) from None
    finally:
        if temporary is not None:
            with suppress(OSError):
                Path(temporary).unlink()


class SignatureFinding(NamedTuple):
    """The result of looking at a signature."""

    checks: tuple[Check, ...] = ()
    """Empty if no signature was asked for, or none can be checked."""

    signed_by: str | None = None
    note: str = ""


def judge_signature(evidence: Evidence, wanted: PublicKey | None) -> SignatureFinding:
    """Judge the signature of evidence, against a key if one is known."""
    if evidence.signature is not None:
        return _judge(evidence, evidence.signature, wanted)
    if wanted is not None:
        return _broken_signature(wanted, "it is not signed")
    note = "Not signed: a person who can change the files can change the evidence with them."
    return SignatureFinding(note=note)


def _judge(evidence: Evidence, signature: Signature, wanted: PublicKey | None) -> SignatureFinding:
    signer = PublicKey(signature.public_key)
    if wanted is not None and signer != wanted:
        return _broken_signature(wanted, "it is signed by another key", signer)
    if not has_library():
        note = (
            'Its signature was not checked: that needs pip install "sfumato[sign]", and the public '
            f"key of the publisher. It names {signer}"
        )
        return SignatureFinding(note=note)
    if not signer.verifies(signature.value, evidence.message()):
        return _broken_signature(wanted, "the signature is not of this evidence")
    whose = (
        "the key that was given"
        if wanted is not None
        else "a key that was compared with none; give the public key of the publisher"
    )
    good = Check("signature", "holds", _text(wanted), str(signer))
    return SignatureFinding((good,), str(signer), f"Signed by {whose}: {signer}")


def _broken_signature(
    wanted: PublicKey | None, detail: str, found: PublicKey | None = None
) -> SignatureFinding:
    return SignatureFinding((Check("signature", "broken", _text(wanted), _text(found), detail),))


def is_signed_by(evidence: Evidence, key: PublicKey) -> bool:
    """Return whether the owner of a key signed this very evidence."""
    signature = evidence.signature
    return (
        signature is not None
        and signature.public_key == key.raw
        and key.verifies(signature.value, evidence.message())
    )


def _text(key: PublicKey | None) -> str | None:
    return None if key is None else str(key)


def check(folder: Path, public_key: PublicKey | None = None) -> EvidenceVerdict:
    """Hash every file again, and compare names, sizes, hashes, claims and signature.

    Args:
        folder: The release folder; everything in it may be forged.
        public_key: The publisher's. Without it, any key may have signed.
    """
    if public_key is not None:
        require_library()
    plain, _ = _list_files(folder)
    if EVIDENCE not in plain:
        detail = f"there is no {EVIDENCE} that is a plain file"
        return EvidenceVerdict((Check("evidence", "broken", detail=detail),))
    try:
        evidence = read_evidence(folder)
    except (InputError, OSError) as error:
        return EvidenceVerdict((Check("evidence", "broken", detail=_why(error)),))
    return compare(folder, evidence, public_key)


def compare(folder: Path, evidence: Evidence, public_key: PublicKey | None) -> EvidenceVerdict:
    """Compare a folder with evidence, wherever that comes from."""
    plain, strange = _list_files(folder)
    checks = [
        Check("evidence", "holds"),
        _files_check(evidence, plain, strange),
        _hashes_check(folder, evidence, plain),
        _claims_check(folder, evidence),
    ]
    judged = judge_signature(evidence, public_key)
    left = not_covered(evidence)
    return EvidenceVerdict((*checks, *judged.checks), judged.signed_by, judged.note, left)


_WITH_POPULATION = ("k-map", "delta-presence")
"""The models that compare with people who are not in the release."""


def not_covered(evidence: Evidence) -> tuple[str, ...]:
    """Describe what readers of a release cannot find out from it, and must believe its signer.

    >>> claims = {"models": [{"model": "k-map", "k": 5}], "checks": []}
    >>> not_covered(Evidence((), claims))[0]
    'Taken on trust: k-map compares with a population that is not in the release.'
    """
    names = [model.get("model") for model in _objects(evidence.claims.get("models"))]
    found = [
        f"Taken on trust: {name} compares with a population that is not in the release."
        for name in _WITH_POPULATION
        if name in names
    ]
    if any(file.name == REPORT for file in evidence.files):
        found.append(
            f"Taken on trust: what {REPORT} says; sfumato verify finds out what it reports."
        )
    return tuple(found)


def _list_files(folder: Path) -> tuple[list[str], list[str]]:
    if not folder.is_dir():
        raise InputError(f"{str(folder)!r} is not a folder. Give the folder of a release.")
    plain, strange = files_in(folder)
    if not {MANIFEST, EVIDENCE} & {*plain, *strange}:
        raise InputError(
            f"there is neither {MANIFEST} nor {EVIDENCE} in {str(folder)!r}. Give the folder of "
            "a release."
        )
    return plain, strange


def _files_check(evidence: Evidence, plain: list[str], strange: list[str]) -> Check:
    known = {file.name for file in evidence.files}
    there = set(plain) - {EVIDENCE}
    missing, extra = sorted(known - there), sorted({*(there - known), *strange})
    details = [
        f"missing, or not plain files: {some(missing)}" if missing else "",
        f"not in the evidence, or not plain files: {some(extra)}" if extra else "",
    ]
    detail = "; ".join(filter(None, details))
    return Check("files", status(holds=not detail), len(known), len(there) + len(strange), detail)


def _hashes_check(folder: Path, evidence: Evidence, plain: list[str]) -> Check:
    changed = []
    for file in evidence.files:
        if file.name not in plain:
            continue
        try:
            same = hash_file(folder / file.name, expected_size=file.size) == file
        except (InputError, OSError):
            same = False
        if not same:
            changed.append(file.name)
    detail = f"changed: {some(changed)}" if changed else ""
    return Check("sha256", status(holds=not changed), detail=detail)


def _claims_check(folder: Path, evidence: Evidence) -> Check:
    hashes = {file.name: file.sha256 for file in evidence.files}
    try:
        data = read_small(folder / MANIFEST, most=MOST_MANIFEST)
        if FileHash.of(MANIFEST, data).sha256 != hashes[MANIFEST]:
            return Check("claims", "broken", detail=f"{MANIFEST} was changed")
        detail = disagreement(evidence.claims, read_object(data), hashes)
    except (InputError, OSError) as error:
        return Check("claims", "broken", detail=f"{MANIFEST}: {_why(error)}")
    except RecursionError:
        return Check("claims", "broken", detail=f"{MANIFEST} is nested too deeply")
    return Check("claims", status(holds=not detail), detail=detail)


def _why(error: Exception) -> str:
    return str(getattr(error, "strerror", None) or error)
