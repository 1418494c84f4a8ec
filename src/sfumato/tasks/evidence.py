"""Evidence of a release: sign, and check what a publisher signed."""

from collections.abc import Callable, Mapping
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any

from sfumato.errors import InputError
from sfumato.evidence import (
    EvidenceVerdict,
    PublicKey,
    SigningKey,
    check,
)
from sfumato.releases.evidence import check_tables, sign_folder, sign_tables
from sfumato.releases.opening import Published, open_release
from sfumato.releases.release import DecoupledRelease, Release


def sign_release(
    release: Published,
    signer: SigningKey,
    *,
    population: object = None,
    force: bool = False,
    make_report: Callable[[Path], str] | None = None,
    answer: Callable[[], Mapping[str, Any]],
) -> EvidenceVerdict:
    """Sign a release that was written before; see `sf.sign`.

    Args:
        release: The release, opened with the policy it was made with and its people file.
        signer: The private key.
        population: All people the data was drawn from; None takes the policy's.
        force: Replace the signature of another key.
        make_report: Makes the report for all readers of a folder.
        answer: Asked when nothing else is in the way: whether it may be published, and what that
            assumes. It raises if that is not signed.
    """
    if release.database is not None:
        return sign_tables(
            release.database,
            signer,
            force=force,
            policy=release.policy,
            population=population,
            people_file=release.people_file,
            answer=answer,
        )
    folder = _folder_of(release)
    return sign_folder(
        folder,
        signer,
        force=force,
        policy=release.policy,
        population=population,
        people_file=release.people_file,
        make_report=None if make_report is None else partial(make_report, folder),
        answer=answer,
    )


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
        files      holds   7              7
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
