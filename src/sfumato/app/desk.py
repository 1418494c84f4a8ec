"""The desk: what is being worked on. A folder, a table, the policy, and what was computed."""

import hashlib
import json
import os
import re
import secrets
import shutil
import threading
import unicodedata
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from sfumato.app.history import History
from sfumato.app.jobs import Job, Jobs, StopWish, Work
from sfumato.dataclasses import dataclass
from sfumato.errors import InputError, OutputError, SfumatoError, reason_of
from sfumato.files import read_small, refuse_release, sweep, write_file
from sfumato.files.confinement import Confinement
from sfumato.files.private import is_release
from sfumato.files.reading import Reading
from sfumato.policy import Policy
from sfumato.policy.editing import edit_text
from sfumato.tables.formats import data_endings
from sfumato.text import visible
from sfumato.typing import Progress

if TYPE_CHECKING:
    from sfumato.comparison.live import LiveTable

PRIVATE_FOLDER = ".sfumato-app"
"""What the app keeps in the folder while it is at work; at a regular end it is removed."""

GIVEN = "policy"
"""The setting that names the policy that the app was started with."""

_WHAT = "the state of the app"
_POLICY = "policy.yaml"
_STATE = ("settings", "seed", "reasons", "uncertain", "source", "release", "policy_file", "written")
_LARGEST = 16 << 20

DATABASE_ENDINGS = (".duckdb", ".db", ".ddb")

Kind = Literal["file", "upload", "database", "sample"]


@dataclass(frozen=True)
class TableSource:
    """Where the table comes from, as a task takes it."""

    address: str
    """A path, or the address of a table in a database."""

    name: str
    """What it is called on pages: no folder, no password."""

    kind: Kind = "file"
    encoding: str = field(default="", compare=False)
    """How the letters of a text file are written, if somebody was asked; see `Reading`."""

    @property
    def reading(self) -> Reading:
        """How it is read before a policy says so."""
        return Reading(encoding=self.encoding or None)


class Message(NamedTuple):
    """What a page has to say once."""

    kind: Literal["error", "note", "done"]
    text: str


class Desk:
    """What is being worked on, by one person in one folder.

    The policy is the state: `change` makes a new one, `undo` and `redo` go back and forth, and
    everything that was computed is kept together with the fingerprint of what it was computed of.
    All of it is on disk before a page is answered.

    Nothing outside of the folder is read or written, whatever a page, an address or a policy
    names: `limits` decides that, of everything that is opened.

    Args:
        folder: Where the policy, releases and reports are written, and data is looked for.
        servers: Whether pages may open tables of database servers.
    """

    def __init__(self, folder: Path, *, servers: bool = True) -> None:
        self.folder = folder.resolve()
        self.private = self.folder / PRIVATE_FOLDER
        self.limits = Confinement(self.folder, private=self.private, servers=servers)
        """The folder, and what was named on the command line besides."""

        found = self._make_private()
        self.lock = threading.RLock()
        self.jobs = Jobs(self.limits)
        self.history = History(self.private)
        self.source: TableSource | None = None
        self.release: Path | None = None
        """A release that was opened to be judged, or that was made here last."""

        self.policy_file = self.folder / _POLICY
        self.settings: dict[str, str] = {}
        """What was chosen of the pages themselves: language and theme."""

        self.reasons: dict[str, str] = {}
        """Why the draft gave each column its role."""

        self.uncertain: tuple[str, ...] = ()
        """The columns whose meaning is in doubt."""

        self.seed: int | None = None
        self._messages: list[Message] = []
        self._saying = threading.Lock()
        self._received: dict[Path, Path] = {}
        self._written: str | None = None
        self._read: tuple[str, Policy] | None = None
        if found is not None:
            self._take_in(found)

    # What is on disk.

    def _make_private(self) -> dict[str, Any] | None:
        """Make the private folder; return what an app noted there that did not end regularly.

        A folder that came from elsewhere, as in an archive, may hold a state that names files and
        servers of its maker's choice. So a state belongs to the folder that it was written in, by
        a number that the file system gave, and what belongs to another is removed.
        """
        if self.private.is_symlink():
            raise OutputError(
                f"cannot work in {str(self.folder)!r}: {PRIVATE_FOLDER} in it is a link to another "
                "place. Remove it, or choose another folder with --folder."
            )
        try:
            found = self._read_state()
            if found is None and self.private.exists():
                shutil.rmtree(self.private)
            self.private.mkdir(mode=0o700, parents=True, exist_ok=True)
            self.private.chmod(0o700)
        except OSError as error:
            raise OutputError(
                f"cannot work in {str(self.folder)!r}: {reason_of(error)}. Choose another folder "
                "with --folder."
            ) from None
        return found

    def _read_state(self) -> dict[str, Any] | None:
        try:
            found = json.loads(read_small(self._state, "a state", _LARGEST))
            own = found["place"] == self._place and set(_STATE) <= found.keys()
        except (SfumatoError, OSError, ValueError, LookupError, TypeError, AttributeError):
            return None
        return found if own else None

    @property
    def _place(self) -> list[int]:
        about = self.private.stat()
        return [about.st_ino, about.st_uid]

    @property
    def _state(self) -> Path:
        return self.private / "state.json"

    def _take_in(self, found: dict[str, Any]) -> None:
        self.settings = found["settings"]
        self.seed = found["seed"]
        self.reasons = found["reasons"]
        self.uncertain = tuple(found["uncertain"])
        for each in found.get("named", ()):
            self.limits.allow(str(each))
        self._written = found["written"]
        with suppress(SfumatoError, TypeError):
            self.policy_file = self.inside(found["policy_file"])
        with suppress(SfumatoError, TypeError):
            # None is no name either.
            self.release = self.inside(found["release"])
        try:
            if found["source"] is not None:
                self.source = self._require_inside(TableSource(**found["source"]))
        except (SfumatoError, TypeError):
            # It was moved, or servers are not allowed any more.
            self.say("note", "The table that was open cannot be opened any more. Open it again.")

    def save(self) -> None:
        """Write down what holds, so that a crash loses nothing."""
        with self.lock:
            release = None if self.release is None else os.path.relpath(self.release, self.folder)
            told = {
                "place": self._place,
                # Pages set some of them while it is written.
                "settings": dict(self.settings),
                "seed": self.seed,
                "reasons": self.reasons,
                "uncertain": self.uncertain,
                "source": None if self.source is None else asdict(self.source),
                "release": release,
                "policy_file": os.path.relpath(self.policy_file, self.folder),
                "written": self._written,
                "named": sorted(self.limits.named),
            }
            write_file(self._state, json.dumps(told), private=_WHAT)

    def end(self) -> None:
        """Stop all work and remove everything that is not the user's: a regular end."""
        self.jobs.end()
        shutil.rmtree(self.private, ignore_errors=True)

    def sweep(self) -> None:
        """Remove what an app that was killed left in its private folder, and its unfinished work.

        What is needed to go on stays: the table that is open, the policy with its history. Only
        for a folder that no other app works in; see `opening.py`.
        """
        with self.lock:
            needed = {self._state, self._uploads, *self.history.files}
            if self.source is not None:
                needed.add(Path(self.source.address))
            if self._uploads.is_symlink():
                self._uploads.unlink()
            for place in (self.private, self._uploads):
                for path in [*place.iterdir()] if place.is_dir() else ():
                    if path in needed:
                        continue
                    if path.is_dir() and not path.is_symlink():
                        shutil.rmtree(path, ignore_errors=True)
                    else:
                        path.unlink(missing_ok=True)
        sweep(self.folder)

    # The policy and its history.

    @property
    def text(self) -> str | None:
        """The policy as text; None before there is one."""
        return self.history.text

    @property
    def policy(self) -> Policy | None:
        """The policy, with file names as they are written in it; None before there is one."""
        text, read = self.text, self._read
        if text is None:
            return None
        if read is None or read[0] != text:
            read = self._read = text, Policy.from_yaml(text, origin=self.policy_file.name)
        return read[1]

    def require_policy(self) -> Policy:
        """Return the policy; an error that says where one comes from if there is none."""
        policy = self.policy
        if policy is None:
            raise InputError("there is no policy yet. Open a table first: a policy is drafted then")
        return policy

    @property
    def task_policy(self) -> Policy:
        """The policy as a task takes it: the files it names are in the folder."""
        return self.require_policy().relative_to(self.folder)

    def require_source(self) -> TableSource:
        """Return where the table comes from; an error if none is open."""
        if self.source is None:
            raise InputError("no table is open. Open one on the first page (Data)")
        return self.source

    def change(self, policy: Policy | str, step: str, what: str, *, joins: bool = False) -> None:
        """Make a policy the state, checked, and write it into the folder.

        Args:
            policy: The policy, which is put into the present text, or a text of its own.
            step: The step that changes it.
            what: What is changed, in a few words.
            joins: Whether it is one change with the same one a moment ago, as a slider makes.
        """
        with self.lock:
            text = policy if isinstance(policy, str) else self._say_in_text(policy)
            read = self.parse(text)
            if text == self.text:
                return
            self.history.add(text, step, what, joins=joins)
            self._read = text, read
            self._publish_text(text)

    def parse(self, text: str, origin: str | None = None) -> Policy:
        """Return a policy whose files all lie in the folder; raise if one does not."""
        from sfumato.app.confining import require_files_inside

        with self.limits.active():
            policy = Policy.from_yaml(text, origin=origin or self.policy_file.name)
            require_files_inside(policy, self.limits)
        return policy

    def _say_in_text(self, policy: Policy) -> str:
        """Return the present text with what differs; comments stay."""
        return policy.to_yaml() if self.text is None else edit_text(self.text, policy)

    def undo(self) -> bool:
        """Return whether there was a change to take back, and take it back."""
        with self.lock:
            text = self.history.undo()
            return self._take(text)

    def redo(self) -> bool:
        """Make the last change that was taken back again; False if there is none."""
        with self.lock:
            text = self.history.redo()
            return self._take(text)

    def _take(self, text: str | None) -> bool:
        if text is None:
            return False
        self._publish_text(text)
        return True

    def _publish_text(self, text: str) -> None:
        what = "the policy, which may hold values of the data,"
        self.limits.path(self.policy_file.parent)
        refuse_release(self.policy_file, what)
        # What is half written lies where the next start removes it.
        part = self.private / "policy.part"
        write_file(part, text, private=what)
        try:
            part.replace(self.policy_file)
        except OSError as error:
            raise OutputError(
                f"cannot write {self.policy_file.name!r}: {reason_of(error)}. Nothing was changed."
            ) from None
        self._written = _digest(text)
        self.save()

    def read_back(self) -> None:
        """Read the policy file again if it was edited by hand since it was written."""
        with self.lock:
            if self._written is None:
                return
            try:
                with self.limits.active():
                    text = read_small(self.policy_file, "a policy", _LARGEST).decode()
            except (OSError, UnicodeDecodeError, SfumatoError):
                # It was moved or removed: what holds is still here, and is written again later.
                return
            if _digest(text) == self._written or text == self.text:
                return
            self._written = _digest(text)
            try:
                self.parse(text)
            except SfumatoError as error:
                self.say(
                    "error",
                    f"{self.policy_file.name} was edited, and cannot be used any more: {error} "
                    "What was there before is still used here.",
                )
                self.save()
                return
            self.history.add(text, "file", "edited by hand")
            self.save()
            self.say("note", f"{self.policy_file.name} was edited by hand, and is taken in.")

    # The table.

    def open_source(self, source: TableSource) -> None:
        """Open another table in place of the one before; see `start_anew` for its policy."""
        source = self._require_inside(source)
        with self.lock:
            self.jobs.end()
            self.source = source
            self.release = None
            self.reasons, self.uncertain = {}, ()
            self.save()

    def take(self, source: TableSource) -> None:
        """Open another table with a policy of its own, and begin to read it."""
        with self.lock:
            self.open_source(source)
            self.start_anew()
            self.start_reading()

    def _require_inside(self, source: TableSource) -> TableSource:
        """Return a source that lies in the folder, or was named on the command line."""
        if source.kind == "database":
            return replace(source, address=self.inside_address(source.address))
        self.limits.path(source.address, own=source.kind != "file")
        return source

    def start_anew(self) -> None:
        """Forget the history, because another table was opened; the policy file stays."""
        with self.lock:
            self.history.clear()
            self._read = None
            self._written = None
            self.policy_file = _unused_path(self.folder, "policy", ".yaml")
            self.save()

    @property
    def live(self) -> "LiveTable | None":
        """The table with its counts in memory; None while it is being read, or if none is open."""
        job = self.jobs.get("open")
        found: LiveTable | None = job.result if job is not None and job.ready else None
        return found

    def require_live(self) -> "LiveTable":
        """Return the table with its counts; wait for it if it is being read."""
        self.require_source()
        job = self.start_reading()
        job.wait()
        if job.error is not None:
            raise InputError(job.error)
        found = self.live
        if found is None:
            raise InputError(
                "reading the table was stopped. Open it again on the first page (Data)"
            )
        return found

    def start_reading(self) -> Job:
        """Read the table into counts, beside the pages, and draft a policy if there is none."""
        with self.lock:
            job = self.jobs.get("open")
            if job is not None and (job.running or job.ready):
                return job
            return self.jobs.start("open", self._read_table)

    def _read_table(self, report: Progress) -> "LiveTable":
        from sfumato.comparison.live import LiveTable
        from sfumato.tasks.draft import draft

        source = self.require_source()
        if self.text is None and not self._take_fitting(source):
            said = {"encoding": source.encoding} if source.encoding else None
            drafted = draft(source.address, input=said, progress=report)
            with self.lock:
                if self.source is not source:
                    # Another table was opened meanwhile: the draft is none for it.
                    raise StopWish
                self.reasons, self.uncertain = dict(drafted.reasons), drafted.uncertain
                self.change(drafted.text, "data", "drafted")
        return LiveTable.open(source.address, self.task_policy, progress=report)

    def _take_fitting(self, source: TableSource) -> bool:
        """Return whether a policy was given, or lies in the folder, that fits; and use it."""
        given = self.settings.get(GIVEN)
        for name in dict.fromkeys(filter(None, (given, _POLICY))):
            if not (self.folder / name).is_file():
                continue
            try:
                text = self._read_fitting(source, name)
            except (SfumatoError, OSError, UnicodeDecodeError) as error:
                if name == given:
                    self.say("note", f"{name} is not used, because it does not fit: {error}")
                continue
            with self.lock:
                if self.source is not source:
                    raise StopWish
                self.policy_file = self.folder / name
                self.change(text, "file", "found in the folder")
            self.say("note", f"{name} lies in the folder and fits the table, so it is used.")
            return True
        return False

    def _read_fitting(self, source: TableSource, name: str) -> str:
        """Return the text of a policy of the folder; raise if it does not fit the table."""
        from sfumato.releases.preparing import open_prepared

        text = read_small(self.inside(name), "a policy", _LARGEST).decode()
        policy = self.parse(text, name)
        if source.encoding and policy.input.encoding is None:
            policy = replace(policy, input=replace(policy.input, encoding=source.encoding))
            text = edit_text(text, policy)
        policy = policy.relative_to(self.folder)
        policy.check_against(open_prepared(source.address, policy).columns)
        return text

    def settle(self, names: Iterable[str]) -> None:
        """Note of columns that their meaning is not in doubt any more."""
        with self.lock:
            known = set(names)
            self.uncertain = tuple(name for name in self.uncertain if name not in known)
            self.save()

    # What was computed.

    @property
    def fingerprint(self) -> str:
        """A digest of everything that results depend on: the table, the policy and the seed."""
        source = self.source
        return _digest(f"{source and source.address}\n{self.seed}\n{self.text}")

    def start(self, name: str, work: Work) -> Job:
        """Begin some work on the present state; a newer one of the same name stops it."""
        return self.jobs.start(name, work, key=self.fingerprint)

    def is_old(self, job: Job | None) -> bool:
        """Return whether a result was computed of another policy or table."""
        return job is not None and job.key != self.fingerprint

    # What pages say once.

    def say(self, kind: Literal["error", "note", "done"], text: str) -> None:
        """Keep a message for the next page."""
        with self._saying:
            self._messages.append(Message(kind, visible(text)))

    def take_messages(self) -> list[Message]:
        """Return what is to be said, and forget it."""
        with self._saying:
            told, self._messages = self._messages, []
        return told

    # Files: nothing is read or written outside of the folder.

    def inside(self, name: str) -> Path:
        """Return a file or folder of the desk by its name; an error if it lies elsewhere.

        Args:
            name: Relative to the folder, as `release` or `2026/people.csv`.
        """
        if Path(name).is_absolute():
            raise InputError(f"{name!r} is no name of a file in {self.folder.name!r}")
        return self.limits.path(name)

    def inside_address(self, address: str) -> str:
        """Return the address of a table in a database, with files of the folder by their paths.

        Args:
            address: As it was typed; a path in it is relative to the folder.
        """
        from sfumato.tables import confine_address

        return confine_address(address.strip(), self.limits)

    def leads_inside(self, path: Path) -> bool:
        """Return whether something that lies in the folder is no link that leads elsewhere."""
        try:
            self.limits.path(path)
        except SfumatoError:
            return False
        return True

    def say_place(self, name: str) -> str:
        """Return where something of the folder lies, as people write it: from home, if it is there.

        Args:
            name: Relative to the folder.
        """
        path = self.folder / name
        home = Path.home().resolve()
        return f"~/{path.relative_to(home).as_posix()}" if path.is_relative_to(home) else str(path)

    def new_path(self, name: str, ending: str = "") -> Path:
        """Return where something new may be written: in the folder, under a plain name.

        Args:
            name: Its name; it may have the ending already.
            ending: What the names of such files end with.
        """
        bare = name.strip().removesuffix(ending)
        plain = re.fullmatch(r"[^/\\\x00-\x1f]{1,120}", bare) and not bare.startswith(".")
        if not plain or not _can_be_seen(bare):
            raise InputError(
                f"{bare!r} is no name for a file: give one that can be seen, without slashes, as "
                "in release-1"
            )
        return self.inside(bare + ending)

    def data_files(self) -> list[Path]:
        """Return the files of the folder that may hold a table, by name."""
        found = [
            path
            for path in self.folder.iterdir()
            if not path.name.startswith(".")
            and path.name.lower().endswith((*data_endings(), *DATABASE_ENDINGS))
            and path.is_file()
            and self.leads_inside(path)
        ]
        return sorted(found, key=lambda path: path.name.lower())

    def releases(self) -> list[Path]:
        """Return the releases that lie in the folder, by name."""
        folders = [
            each
            for each in self.folder.iterdir()
            if each.is_dir() and each != self.private and self.leads_inside(each)
        ]
        return sorted(each for each in folders if is_release(each))

    @property
    def _uploads(self) -> Path:
        return self.private / "uploads"

    @contextmanager
    def receiving(self, name: str) -> Iterator[Path]:
        """Yield the file that an upload is written to; it is kept whole or not at all."""
        uploads = self._uploads
        self.limits.path(uploads, own=True)
        uploads.mkdir(mode=0o700, exist_ok=True)
        plain = re.sub(r"[^\w. ()+=,@-]", "_", Path(name.replace("\\", "/")).name).lstrip(".-")
        stem, dot, ending = (plain or "table").partition(".")
        part = uploads / f".{secrets.token_hex(8)}.part"
        try:
            part.touch(mode=0o600)
            yield part
            with self.lock:
                # Another of the same name may have come meanwhile.
                path = _unused_path(uploads, stem[:100] or "table", f"{dot}{ending[:20]}")
                part.replace(path)
                self._received[part] = self.received = path
        finally:
            part.unlink(missing_ok=True)

    received: Path
    """What was received last."""

    def name_received(self, part: Path) -> Path:
        """Return where something lies that was written to a file that `receiving` gave."""
        return self._received.pop(part)

    def take_received(self, part: Path, kind: Literal["upload", "sample"]) -> None:
        """Open what was written to a file that `receiving` gave, under its own name."""
        path = self.name_received(part)
        self.take(TableSource(str(path), path.name, kind))


_BLANKS = frozenset("\u115f\u1160\u2800\u3164\uffa0")
"""Letters and signs that are drawn as nothing."""


def _can_be_seen(name: str) -> bool:
    """Return whether a list that has a name shows it.

    >>> _can_be_seen("1"), _can_be_seen("\u200b"), _can_be_seen("\u3164 ")
    (True, False, False)
    """
    return any(unicodedata.category(c)[0] in "LNPS" and c not in _BLANKS for c in name)


def _unused_path(folder: Path, stem: str, ending: str) -> Path:
    """Return a path that is not taken: `policy.yaml`, `policy-2.yaml` and so on."""
    number = 1
    while True:
        path = folder / f"{stem}{'' if number == 1 else f'-{number}'}{ending}"
        if not os.path.lexists(path):
            return path
        number += 1


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
