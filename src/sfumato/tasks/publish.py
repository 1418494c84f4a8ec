"""Publish: start a ledger from a decoupled release, and let later releases grow on it."""

from os import PathLike
from pathlib import Path

from sfumato.checks import require_int, require_number
from sfumato.decouplings.base import GroupedTables
from sfumato.errors import InputError, ParameterError
from sfumato.evidence import Key
from sfumato.ledger.store import WAIT
from sfumato.policy import Policy
from sfumato.publishing.increments import IncrementJob
from sfumato.publishing.outputs import FolderOutput, IncrementOutput, TablesOutput
from sfumato.publishing.start import Publication, called, start_ledger
from sfumato.releases.release import MANIFEST, Decoupled, Release
from sfumato.releases.stored import GivenTables, is_stored, manifest_beside, output_of
from sfumato.tables import FORMATS
from sfumato.tasks.evidence import key_for


def publish(  # noqa: PLR0913 - all but two have a default and are named
    data: object = None,
    ledger: str | PathLike[str] = "",
    *,
    alpha: float | None = None,
    k: int | None = None,
    policy: Policy | str | PathLike[str] | None = None,
    source: object = None,
    output: str | PathLike[str] | None = None,
    delete: object = None,
    correct: object = None,
    hold: bool = True,
    whole: bool = False,
    again: bool = False,
    dry_run: bool = False,
    format: str | None = None,  # noqa: A002 - the word users know
    wait: float = WAIT,
    key: Key | None = None,
    seed: int | None = None,
) -> Publication:
    """Record a decoupled release in a new ledger, or publish new rows on one that exists.

    With a ledger that does not exist yet, `data` is a decoupled release, and `alpha` the most
    that its tables may tell: the probability of any combination of sensitive values, to somebody
    who knows a person's group and one of the values. With a ledger that exists, `data` are new
    rows, raw or generalised like the release. Each is *admitted*, *refused* because alpha would
    be exceeded, or *waits* until it can be published with others.

    Promises: a group within alpha stays within alpha, and one above it never tells more than it
    did; no refused row could have been admitted besides; every group keeps the policy's
    models and k; with `hold`, the rows that join or leave a group between two releases are at
    least k and within alpha by themselves. The ledger and the release are both written or
    neither is, whatever interrupts it: what the ledger knows and nobody could see yet gets its
    name at the next publish. Does not promise anything against somebody who knows the
    values of other people in a group, or who has the ledger itself.

    Args:
        data: A decoupled release (its folder, its first table in a database, what `sf.decouple`
            gave, or a `GroupedTables`), or new rows: a path, pandas, Polars, Arrow, or a table of a
            database, where they are counted and stay. None if rows are only deleted or corrected.
        ledger: The file. It is private: rows that wait are in it.
        alpha: The limit, above 0 and at most 1; for a ledger that exists, None or its own.
        k: The fewest rows of a group; None takes the k that is promised.
        policy: The roles, hierarchies and models; new rows are generalised by it.
        source: The table the first release was made of, for hierarchies that depend on it.
        output: The folder to write the tables of the increment to. For rows of a database also
            `table:april`, or such an address, in the same database: the first table is called
            that, and the others after it.
        delete: Rows to remove, given as they were published or raw.
        correct: Rows to change: each column as it should be, and as `old_…` what was published.
        hold: Hold rows back until at least k join a group and are within alpha by themselves.
        whole: Write all tables and not only those of the newcomers. Always so if rows left.
        again: Take an increment that was given before.
        dry_run: Decide and report, and change nothing.
        format: csv, parquet or feather; None takes csv.
        wait: Seconds to wait for another publish on the same ledger.
        key: The private key to sign the release with, or its file; see `sf.keygen`.
        seed: Fixes all that is random, for tests; not for publication.

    Example:
        >>> import pyarrow as pa, tempfile
        >>> import sfumato as sf
        >>> table = pa.table({"age": ["30s"] * 4, "ill": ["flu", "flu", "gout", "hiv"]})
        >>> decoupled = sf.decouple(table, quasi_identifiers=["age"], sensitive=["ill"])
        >>> ledger = tempfile.mkdtemp() + "/clinic.ledger"
        >>> print(publish(decoupled, ledger, alpha=0.5, k=2))
        ledger started with 4 rows, alpha 0.5
        >>> new = pa.table({"age": ["30s"] * 3, "ill": ["gout", "flu", "flu"]})
        >>> print(publish(new, ledger))
        release 2: 2 rows admitted, 1 refused, 0 held back; 0 wait in the ledger
    """
    if not str(ledger):
        raise ParameterError("ledger", ledger, "the name of a file")
    if seed is not None:
        require_int("seed", seed, at_least=0)
    require_number("wait", wait, at_least=0)
    if format is not None and format not in FORMATS:
        raise ParameterError("format", format, "one of " + ", ".join(FORMATS))
    if policy is not None and not isinstance(policy, Policy):
        # The whole path, so that files it names are found from any folder.
        policy = Policy.load(Path(policy).expanduser().resolve())
    file = Path(ledger)
    if not file.exists():
        _refuse_for_start(delete=delete, correct=correct, output=output, key=key)
        return start_ledger(data, file, alpha, k, policy, source, dry_run=dry_run)
    tables = GivenTables(data, delete, correct)
    if _is_release(data, tables):
        raise InputError(
            f"{str(file)!r} is a ledger already, and {called(data)} is a release, not new rows. "
            "Give the rows to add, or another name for a new ledger."
        )
    job = IncrementJob(
        file,
        hold=hold,
        whole=whole,
        again=again,
        dry_run=dry_run,
        seed=seed,
        output=_output(output, tables, format, key),
    )
    return job.run(data, delete, correct, tables, _given(alpha, k, policy), wait)


def _output(
    output: str | PathLike[str] | None, tables: GivenTables, form: str | None, key: Key | None
) -> IncrementOutput | None:
    """Say where the release goes; refuse what cannot be written, before any work is done."""
    stored = output_of(output, tables.first, force=False, format=form)
    signer = key_for(key, output)
    if stored is not None and tables.database is not None:
        tables.database.for_ledger("").require_unused(stored.names(["", "manifest"]))
        return TablesOutput(tables.database, stored, signer)
    return None if output is None else FolderOutput(Path(output), form or "csv", signer)


def _refuse_for_start(**given: object) -> None:
    for name, value in given.items():
        if value is not None:
            raise ParameterError(
                name, value, "left out when a ledger is started", why="nothing was published yet"
            )


def _is_release(data: object, tables: GivenTables) -> bool:
    if isinstance(data, Release | Decoupled | GroupedTables):
        return True
    if is_stored(data):
        return manifest_beside(tables.open(data)) is not None
    return isinstance(data, str | PathLike) and (Path(data).expanduser() / MANIFEST).is_file()


def _given(alpha: float | None, k: int | None, policy: Policy | None) -> dict[str, object]:
    whole = None if policy is None else Policy.from_yaml(policy.to_yaml(), folder=Path.cwd())
    given = {"alpha": alpha, "k": k, "policy": whole}
    return {name: value for name, value in given.items() if value is not None}
