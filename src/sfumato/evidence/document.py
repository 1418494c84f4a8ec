"""What stands in evidence, in a folder or a database, and a reader that believes none of it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sfumato.errors import InputError, some
from sfumato.evidence.canonical import LARGEST, canonical, read_canonical
from sfumato.evidence.hashes import FileHash, is_plain_name
from sfumato.evidence.tables import TableHash

EVIDENCE = "evidence.json"
MANIFEST = "manifest.json"
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
    """Who signed, and what came out."""

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
        """Give the bytes that are signed: those of the file if it were not."""
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
        """Give the bytes of the file."""
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
    """Read evidence, and refuse whatever has not the right shape to the last byte."""
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
    size = _whole(size, f"the size of {name[:60]!r} must be a number of bytes")
    return FileHash(name, _hex(digest, 32, "a SHA-256").hex(), size)


def _whole(value: object, otherwise: str) -> int:
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
    rows = _whole(table.get("rows"), f"the rows of {name[:60]!r} must be a number")
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
