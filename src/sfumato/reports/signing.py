"""Signing a release together with the report that lies in it."""

from os import PathLike
from pathlib import Path

from sfumato.evidence import EvidenceVerdict, Key
from sfumato.evidence.keys import signing_key
from sfumato.policy import GivenPolicy, policy_of
from sfumato.releases.opening import open_release
from sfumato.releases.release import DecoupledRelease, Release
from sfumato.reports.report import report
from sfumato.tasks.evidence import sign_release
from sfumato.tasks.signing import answer_to_sign


def sign(
    release: Release | DecoupledRelease | str | PathLike[str],
    key: Key,
    *,
    policy: GivenPolicy | None = None,
    population: object = None,
    people_file: object = None,
    force: bool = False,
    even_so: bool | str = False,
) -> EvidenceVerdict:
    """Sign a release that was written before, after verifying it once more.

    The signature stands in `evidence.json` and covers the name, size and hash of every file in
    the folder, and the claims. In a database it stands in a table beside the release, and covers
    every row of its tables, in any order, their columns and types, the manifest and the claims.
    Promises: nothing is signed that does not keep its promises, that could not be checked, or
    that was changed after it was published; claims are computed again unless the same key signed
    them before. A `report.html` is signed only if it is the report that `sf.report(release,
    public=True)` makes; any other file is refused. Does not promise that the roles are right.
    Needs the extra `sign`.

    Args:
        release: The folder of a release, the address of one in a database, or what `sf.anonymize`
            or `sf.decouple` wrote.
        key: The private key, or its file.
        policy: The policy it was made with, if a model compares with a population: its
            hierarchies give the population's labels. What `sf.anonymize` returned knows its own.
        population: A path or table of all people the data was drawn from; None takes the
            policy's. Without it k-map and delta-presence cannot be checked, and are not signed
            unless the same key signed them when the release was made.
        people_file: The people file, if the release counts people; what `sf.anonymize` returned
            has it. Without it promises about people are not signed, likewise.
        force: Replace the signature of another key.
        even_so: Sign it although the answer of `sf.verify` is *no*, because people are at risk or a
            column names people. A text is the reason, which the evidence carries. What does not
            keep its promises is never signed.

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
    own = release.policy if isinstance(release, Release | DecoupledRelease) else None
    rules = own if policy is None else policy_of(policy)
    # Opened once: a file of a database that is open for reading cannot be opened for writing.
    opened = open_release(release, rules, people_file=people_file)
    return sign_release(
        opened,
        signer,
        population=population,
        force=force,
        make_report=_public_report,
        answer=lambda: answer_to_sign(
            opened, opened.policy, population=population, even_so=even_so
        ),
    )


def _public_report(folder: Path) -> str:
    return report(folder, public=True).to_html()
