"""Evidence of a release: sign, and check what a publisher signed."""

import os
from contextlib import suppress
from os import PathLike
from pathlib import Path

from sfumato.errors import InputError, OutputError, VerificationError
from sfumato.evidence import (
    EVIDENCE,
    REPORT,
    Evidence,
    EvidenceVerdict,
    FileHash,
    Key,
    PublicKey,
    SigningKey,
    check,
    compare,
    files_in,
    hash_file,
    read_evidence,
    sign_evidence,
    with_report,
    write_evidence,
    write_whole,
)
from sfumato.evidence.keys import signing_key
from sfumato.releases.evidence import check_tables, sign_tables
from sfumato.releases.manifest import MANIFEST
from sfumato.releases.opening import Published, open_release
from sfumato.releases.release import DecoupledRelease, Release
from sfumato.verifier import Verdict, verify_folder


def sign(
    release: Release | DecoupledRelease | str | PathLike[str], key: Key, *, force: bool = False
) -> EvidenceVerdict:
    """Sign a release that was written before, after verifying it once more.

    The signature stands in `evidence.json` and covers the name, size and hash of every file in
    the folder, and the claims. In a database it stands in a table beside the release, and covers
    every row of its tables, in any order, their columns and types, the manifest and the claims.
    Promises: nothing is signed that does not keep its promises, or
    that was changed after it was published; only `report.html` may have been added, and is
    signed with the rest. Does not promise that the roles are right.
    Needs the extra `sign`.

    Args:
        release: The folder of a release, the address of one in a database, or what `sf.anonymize`
            or `sf.decouple` wrote.
        key: The private key, or its file.
        force: Replace the signature of another key.

    Example:
        >>> import pyarrow as pa, tempfile
        >>> import sfumato as sf
        >>> table = pa.table({"age": ["30s"] * 4, "ill": ["flu", "flu", "gout", "hiv"]})
        >>> release = sf.decouple(table, quasi_identifiers=["age"], sensitive=["ill"],
        ...     output=tempfile.mkdtemp() + "/release")
        >>> key = sf.evidence.SigningKey.generate()
        >>> sf.sign(release, key).holds
        True
    """
    signer = signing_key(key)
    opened = open_release(release)
    if opened.database is not None:
        return sign_tables(opened.database, signer, force=force)
    folder = _folder_of(opened)
    if not (folder / MANIFEST).is_file():
        raise InputError(
            f"there is no {MANIFEST} in {str(folder)!r}. Give the folder of a release."
        )
    verdict = verify_folder(folder)
    if (folder / EVIDENCE).exists():
        require_unbroken(verdict)
        evidence = require_unchanged(folder)
        if not force:
            _refuse_another_signer(folder, signer)
        sign_evidence(folder, evidence, signer)
    else:
        if not verdict.holds:
            raise VerificationError(f"it was not signed, for it does not hold.\n{verdict}")
        write_evidence(folder, verdict, signer)
    return check(folder, signer.public)


def check_evidence(
    release: Release | DecoupledRelease | str | PathLike[str],
    public_key: str | PathLike[str] | PublicKey | None = None,
) -> EvidenceVerdict:
    """Find out whether a release is, to the last byte, what its publisher signed.

    Promises: with a public key, that the files, their names and the claims are those that the
    owner of the key signed, and that no file was added or taken away; in a database, that the
    tables have the very rows, columns and types that were signed, in whatever order. Without one,
    only that files or tables and evidence belong together. Does not promise that the claims are
    true: `sf.verify` recomputes them. Nor that there is no newer release.

    Args:
        release: The folder of a release, the address of one in a database, or what `sf.anonymize`
            or `sf.decouple` wrote.
        public_key: The publisher's public key, or its file. Needs the extra `sign`.

    Example:
        >>> import pyarrow as pa, tempfile
        >>> import sfumato as sf
        >>> table = pa.table({"age": ["30s"] * 4, "ill": ["flu", "flu", "gout", "hiv"]})
        >>> key = sf.evidence.SigningKey.generate()
        >>> release = sf.decouple(table, quasi_identifiers=["age"], sensitive=["ill"],
        ...     output=tempfile.mkdtemp() + "/release", key=key)
        >>> _ = (release.folder / "README.md").write_text("You can trust me.")
        >>> print(sf.check_evidence(release, key.public))
        Broken: 1 of 5 checks does not hold.
        check      result  promised       found
        evidence   holds
        files      holds   5              5
        sha256     broken
        claims     holds
        signature  holds   ed25519:...    ed25519:...
          sha256: changed: 'README.md'
        Signed by the key that was given: ed25519:...
    """
    if public_key is not None and not isinstance(public_key, PublicKey):
        public_key = PublicKey.load(public_key)
    opened = open_release(release)
    if opened.database is not None:
        return check_tables(opened.database, public_key)
    return check(_folder_of(opened), public_key)


def _folder_of(release: Published) -> Path:
    if release.folder is not None:
        return release.folder
    if isinstance(release.given, str | PathLike):
        return Path(release.given).expanduser()
    raise InputError("a release in memory has no evidence. Write it to a folder.")


def require_unbroken(verdict: Verdict) -> None:
    """Raise if a check is broken; what needs a population to be recomputed may be unchecked."""
    if any(each.status == "broken" for each in verdict.checks):
        raise VerificationError(f"it was not signed, for it does not hold.\n{verdict}")


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
    elif all((path.parent / name).is_file() for name in (MANIFEST, EVIDENCE)):
        raise OutputError(
            f"{str(path)!r} lies in another release, whose evidence names every file. "
            "Write it somewhere else."
        )


def _require_enclosable(folder: Path, path: Path, *, public: bool, key: SigningKey | None) -> None:
    if not public or path.parent.resolve() / path.name != folder.resolve() / REPORT:
        raise OutputError(
            f"{str(path)!r} lies in the release itself, which everybody gets. Only a report for "
            f"everybody (--public) may join it, as {REPORT}. Write it beside the release."
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


def enclose(folder: Path, text: str, key: SigningKey | None = None) -> Path:
    """Write the report into its release and take it into the evidence: both or neither.

    Args:
        folder: The release; it must be what was published.
        text: The report, as HTML.
        key: Signs the release, after it was verified once more.
    """
    path, data = folder / REPORT, text.encode("utf-8")
    _require_enclosable(folder, path, public=True, key=key)
    if key is not None:
        require_unbroken(verify_folder(folder))
    evidence = require_unchanged(folder) if os.path.lexists(folder / EVIDENCE) else None
    before = path.read_bytes() if path.exists() else None
    write_whole(path, data)
    try:
        if evidence is not None:
            sign_evidence(folder, with_report(evidence, FileHash.of(REPORT, data)), key)
        elif key is not None:
            sign(folder, key)
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
