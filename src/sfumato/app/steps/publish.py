"""Publish: the release with its reports and its signature, what is in it, and its ledger."""

import os
import tempfile
from dataclasses import replace
from math import ceil
from pathlib import Path
from typing import Any

from starlette.responses import FileResponse, Response

from sfumato.app.desk import DATABASE_ENDINGS, Desk
from sfumato.app.fields import Fields
from sfumato.app.releasing import (
    Choices,
    ReleaseWish,
    decoupling_of,
    free_name,
    people_name,
    report_name,
)
from sfumato.app.steps import ALL, Answer, Context
from sfumato.app.synthetic import (
    ACCOUNT,
    SyntheticChoices,
    SyntheticWish,
    context_of,
    require_promise,
    with_domain,
    with_drafted_domains,
)
from sfumato.app.synthetic import TEXTS as SYNTHETIC_TEXTS
from sfumato.app.texts import translator
from sfumato.dataclasses import dataclass
from sfumato.decouplings import DECOUPLINGS
from sfumato.errors import InputError, OutputError, ParameterError, require_int, require_number
from sfumato.evidence import EVIDENCE, REPORT, SigningKey, keygen
from sfumato.evidence.keys import is_locked
from sfumato.files import replace_folder
from sfumato.files.private import is_release
from sfumato.models import MODELS, PrivacyModel
from sfumato.policy import Policy
from sfumato.releases.codebook import CODEBOOK, CODEBOOK_TEXT
from sfumato.releases.manifest import MANIFEST
from sfumato.releases.opening import open_release
from sfumato.releases.places import refuse_what_is_there
from sfumato.releases.readme import README
from sfumato.schema import Role
from sfumato.tables.formats import require_format, written_formats
from sfumato.typing import Progress

step = ALL["publish"]

JOB, LEDGER_JOB = "publish", "ledger"
KEY, PUBLIC_KEY, LEDGER = ".key", ".pub", ".ledger"
"""How the files of private keys, of public keys and of ledgers end."""

_MOST_ROOMS = 12

_ONE_LEVEL = "full-domain"
"""The method of releases that ledgers begin with: every newcomer has one group."""

_SEALED = "sandbox; default-src 'none'; frame-ancestors 'none'"
_REPORT_POLICY = (
    "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)
"""What a report's own head allows, and nothing of the app's: it is a page of no origin."""

PURPOSES = {
    README: "what it is and how to use it, for its readers",
    CODEBOOK: "what columns and labels mean, as a table",
    CODEBOOK_TEXT: "what columns and labels mean, to read",
    MANIFEST: "what was done and is promised, for programs",
    EVIDENCE: "the hash of every file, and the signature",
    REPORT: "the public report",
    "schema.sql": "the tables and how to join them, for databases",
}
_DATA = "published data"
TEXTS = (*PURPOSES.values(), _DATA, *SYNTHETIC_TEXTS)


@dataclass(frozen=True)
class MadeRelease:
    """What came of publishing."""

    name: str
    checks: int
    """How many promises the verifier recomputed from the written files; all of them hold."""

    warnings: tuple[str, ...]
    answer: str
    """Whether it may be published."""

    held: str = ""
    """Why it was not published: the answer is *no*, and nobody insisted."""


@dataclass(frozen=True)
class ShownFile:
    """A file of a release."""

    name: str
    size: int
    purpose: str


# The page.


@step.page
def show(desk: Desk, asked: Fields) -> Context:
    """Return what is chosen, the release that was made, and the ledgers there are."""
    policy, choices = desk.require_policy(), Choices.of(desk)
    target = desk.folder / choices.name
    releases = [path.name for path in desk.releases()]
    shown = _shown_release(desk, asked, releases)
    ledgers = _files(desk, LEDGER)
    ledger = asked.text("ledger", "")
    prepared = _prepared_for(policy)
    return {
        "choices": choices,
        "formats": written_formats(),
        "keys": [(path.name, _needs_password(path)) for path in _files(desk, KEY)],
        "taken": os.path.lexists(target),
        "replaceable": target.is_dir() and is_release(target),
        "free": free_name(desk),
        "decoupling": decoupling_of(policy),
        "counts_people": policy.counted_person is not None,
        "job": desk.jobs.get(JOB),
        "releases": releases,
        "shown": shown,
        "files": [] if shown is None else _list(desk.folder / shown),
        "own_report": shown is not None and (desk.folder / report_name(shown)).is_file(),
        "signed_with": choices.key,
        "ledgers": [path.name for path in ledgers],
        "ledger": ledger if ledger in [p.name for p in ledgers] else _last(ledgers),
        "ledger_job": desk.jobs.get(LEDGER_JOB),
        "startable": [name for name in releases if _has_cells(desk.folder / name)],
        "data_files": [p.name for p in desk.data_files() if not _is_database(p)],
        "next_increment": free_name(desk, "increment"),
        "default_ledger": f"{desk.folder.name}{LEDGER}",
        "identifiers": [] if policy.person else _identifiers(policy),
        "prepared": prepared,
        "synthetic": context_of(
            desk,
            [path.name for path in _files(desk, ACCOUNT)],
            asked.text("synthetic", "") or free_name(desk, "synthetic"),
        ),
        "usual_alpha": 0.5 if prepared or ledgers else _usual_alpha(desk, policy),
    }


def _identifiers(policy: Policy) -> list[str]:
    """Return the columns of which one must be said to be a person's; none if there is no doubt."""
    names = policy.with_role(Role.IDENTIFIER)
    return list(names) if len(names) > 1 else []


def _prepared_for(policy: Policy) -> float | None:
    """Return the alpha that releases of a policy can begin a ledger with; None if it may be none.

    Each sensitive column must have its limit in every group, one level for all rows, and a table
    of its own.
    """
    limits = _shares_of(policy)
    unsure = _identifiers(policy) if policy.person is None else []
    decoupling = decoupling_of(policy)
    if unsure or policy.method.name != _ONE_LEVEL:
        return None
    if decoupling is None or decoupling.why_no_ledger is not None:
        return None
    if not policy.sensitive or not set(policy.sensitive) <= limits.keys():
        return None
    # A share is one over a number: what is left beyond it is of the machine.
    return ceil(100 * max(limits[name] for name in policy.sensitive) - 1e-9) / 100


def _shares_of(policy: Policy) -> dict[str, float]:
    """Return the largest share that a policy lets any value of a column have of a group."""
    named = [(getattr(each, "column", ""), each.largest_share) for each in policy.models]
    return {column: share for column, share in named if column and share is not None}


def _limit_share(column: str, share: float) -> PrivacyModel:
    """Return the promise that no value of a column has a larger share of a group."""
    made = (kind.limiting_share(column, share) for kind in MODELS.values())
    return next(model for model in made if model is not None)


def _usual_alpha(desk: Desk, policy: Policy) -> float:
    """Return an alpha that can be kept: above the share of the commonest sensitive value."""
    live, most = desk.live, 0.0
    for name in policy.sensitive if live is not None else ():
        assert live is not None  # noqa: S101 - as was just asked
        rows = live.table.count((name,)).rows
        most = max(most, float(rows.max()) / live.rows) if len(rows) else most
    return min(max(0.5, ceil(20 * (most + 0.05)) / 20), 0.99)


def _shown_release(desk: Desk, asked: Fields, releases: list[str]) -> str | None:
    name = asked.text("release", "")
    if name in releases:
        return name
    last = None if desk.release is None else desk.release.name
    return last if last in releases else None


def _list(folder: Path) -> list[ShownFile]:
    """Return the files of a release, data first."""
    files = [path for path in folder.iterdir() if path.is_file() and not path.is_symlink()]
    found = [
        ShownFile(path.name, path.stat().st_size, PURPOSES.get(path.name, _DATA)) for path in files
    ]
    return sorted(found, key=lambda each: (each.purpose != _DATA, each.name))


def _files(desk: Desk, ending: str) -> list[Path]:
    found = [p for p in desk.folder.iterdir() if p.name.endswith(ending) and p.is_file()]
    return sorted(p for p in found if not p.name.startswith(".") and desk.leads_inside(p))


def _last(paths: list[Path]) -> str:
    return max(paths, key=lambda path: path.stat().st_mtime).name if paths else ""


def _is_database(path: Path) -> bool:
    return path.name.lower().endswith(DATABASE_ENDINGS)


def _needs_password(path: Path) -> bool:
    try:
        return is_locked(path)
    except ParameterError:
        return False


def _has_cells(folder: Path) -> bool:
    """Return whether a ledger can be kept of a release."""
    try:
        found = open_release(folder).manifest
    except (InputError, OSError):
        return False
    if found is None or found.together or found.drawn is not None:
        return False
    kind = DECOUPLINGS.get(found.kind or "")
    return kind is not None and kind.why_no_ledger is None


# Choosing and making.


@step.action("set")
def choose(desk: Desk, asked: Fields) -> Answer:
    """Keep what is chosen; with one of the two buttons, publish it too."""
    choices = Choices(
        name=asked.text("name", "").strip(),
        format=asked.text("format", ""),
        key=asked.text("key", ""),
        public=asked.flag("public"),
        private=asked.flag("private"),
        people=asked.flag("people"),
        because=_reason_in(asked),
    )
    if choices.format:
        require_format(choices.format)
    if choices.name:
        desk.new_path(choices.name)
    if choices.key:
        _key_file(desk, choices.key)
    seed = asked.text("seed", "").strip()
    with desk.lock:
        desk.seed = asked.integer("seed") if seed else None
        choices.save(desk)
    if asked.text("do", "") in ("publish", "replace"):
        start(desk, asked.text("passphrase", ""), replace_it=asked.text("do") == "replace")
    return None


@step.action("key")
def make_key(desk: Desk, asked: Fields) -> Answer:
    """Make a pair of keys in the folder, and choose it."""
    name = asked.text("name").strip().removesuffix(KEY)
    desk.new_path(name)
    keygen(desk.new_path(name), passphrase=asked.text("passphrase", "") or None)
    replace(Choices.of(desk), key=f"{name}{KEY}").save(desk)
    desk.say(
        "done",
        f"{name}{KEY} signs in your name: keep it to yourself. Give {name}{PUBLIC_KEY} to your "
        "readers by a way they trust.",
    )
    return None


def _reason_in(asked: Fields) -> str:
    """Return why it is published although the answer is no; empty if nobody insists."""
    word, reason = asked.text("word", "").strip(), asked.text("because", "").strip()
    if not word and not reason:
        return ""
    if word.casefold() not in ("no", translator(asked.language)("no").casefold()):
        raise InputError("to publish it although the answer is no, type that word: no")
    if not reason:
        raise InputError("say why it is published although the answer is no: the evidence has it")
    return reason


def start(desk: Desk, passphrase: str, *, replace_it: bool) -> None:
    """Begin to publish what is chosen; what can be refused is refused before any work."""
    choices = Choices.of(desk)
    wish = ReleaseWish(
        desk.require_source().address,
        desk.task_policy,
        choices.format or None,
        desk.seed,
        _open_key(desk, choices, passphrase),
        even_so=choices.because or False,
    )
    _start(desk, wish, choices, _beside(desk, choices), replace_it=replace_it)


def _open_key(desk: Desk, choices: Choices, passphrase: str) -> SigningKey | None:
    """Return the key that is chosen; None if the release is not signed."""
    if not choices.key:
        return None
    return SigningKey.load(_key_file(desk, choices.key), passphrase or None)


def _start(
    desk: Desk, wish: ReleaseWish, choices: Choices, beside: list[str], *, replace_it: bool
) -> None:
    """Begin to make what is wished for, unless something of its name is there.

    Args:
        desk: What is worked on.
        wish: What is made.
        choices: How it is called, and what belongs to it.
        beside: The private files that will lie beside it.
        replace_it: Whether it takes the place of a release of its name.
    """
    target = desk.new_path(choices.name)
    if os.path.lexists(target) and is_release(target) and not replace_it:
        raise OutputError(
            f"there is a release {choices.name!r} already, and it is left as it is. Choose another "
            f"name, as {free_name(desk)!r}, or replace it."
        )
    refuse_what_is_there(target, force=replace_it)
    if not replace_it:
        for name in beside:
            if os.path.lexists(desk.folder / name):
                raise OutputError(
                    f"{name!r} is there already, and is left as it is. Choose another name for the "
                    "release, or move it away."
                )
    desk.start(JOB, lambda report: _make(desk, wish, choices, beside, target, report))


def _beside(desk: Desk, choices: Choices) -> list[str]:
    """Return the private files that will lie beside a release."""
    policy = desk.require_policy()
    counted = policy.counted_person is not None and policy.decouple is None
    return [
        *([report_name(choices.name)] if choices.private else []),
        *([people_name(choices.name)] if choices.people and counted else []),
    ]


def _key_file(desk: Desk, name: str) -> Path:
    path = desk.inside(name)
    if path.parent != desk.folder or not name.endswith(KEY) or not path.is_file():
        raise InputError(f"there is no key {name!r} in the folder. Choose another, or make one")
    return path


def _make(
    desk: Desk,
    wish: ReleaseWish,
    choices: Choices,
    beside: list[str],
    target: Path,
    report: Progress,
) -> MadeRelease:
    """Make everything in a private place, and put it into the folder when all of it is there."""
    from sfumato.reports.report import report as describe
    from sfumato.tasks.signing import AnswerIsNoError
    from sfumato.tasks.verify import verify

    with tempfile.TemporaryDirectory(prefix="making-", dir=desk.private) as place:
        stage = Path(place)
        folder, own = stage / choices.name, stage / report_name(choices.name)
        people = stage / people_name(choices.name)
        people_file = people if people.name in beside else None
        try:
            made = wish.make(folder, stage, people_file=people_file, progress=report)
        except AnswerIsNoError as error:
            return MadeRelease(choices.name, 0, (), "no", error.why)
        kept = people_file if people_file is not None and people_file.is_file() else None
        found = verify(made, wish.policy, data=wish.source, people_file=kept, progress=report)
        if found.answer == "no" and not wish.even_so:
            return MadeRelease(choices.name, 0, (), found.answer, found.why[0])
        if choices.public:
            public = describe(folder, public=True, progress=report)
            public.save(folder / REPORT, key=wish.key, even_so=wish.even_so)
        if choices.private:
            private = describe(
                folder, data=wish.source, policy=wish.policy, people_file=kept, progress=report
            )
            private.save(own)
        report("publish", 1, 1)
        with desk.lock:
            _put(folder, target)
            for name in beside:
                if (stage / name).is_file():
                    (stage / name).replace(desk.folder / name)
            desk.release = target
            # The next one gets a name of its own.
            replace(choices, name="", because="").save(desk)
    return MadeRelease(choices.name, len(made.verdict.checks), tuple(made.warnings), found.answer)


def _put(folder: Path, target: Path) -> None:
    """Rename a finished release; the one that was to be replaced goes only now."""
    if target.is_dir() and any(target.iterdir()):
        replace_folder(folder, target)
    else:
        folder.rename(target)


# Synthetic rows.


@step.action("domain")
def confirm_domain(desk: Desk, asked: Fields) -> Answer:
    """State what a column can hold, as a person who knows it."""
    name = asked.text("column")
    changed = with_domain(desk.require_policy(), name, asked.text("domain", ""))
    desk.change(changed, "publish", f"domain of {name}")
    return None


@step.action("draft-domains")
def draft_domains(desk: Desk, asked: Fields) -> Answer:
    """Read domains off the table for a person to confirm."""
    changed = with_drafted_domains(desk, desk.require_policy())
    desk.change(changed, "publish", "drafted domains")
    return None


@step.action("synthetic")
def choose_synthetic(desk: Desk, asked: Fields) -> Answer:
    """Keep the budget that is chosen; with the button, draw the rows, too."""
    account = asked.text("account", "")
    chosen = SyntheticChoices(
        asked.number("epsilon"),
        asked.number("delta"),
        asked.integer("contributions", 1),
        asked.text("unit", "person"),
        account,
    )
    require_number("epsilon", chosen.epsilon, above=0, at_most=100)
    require_number("delta", chosen.delta, at_least=0, below=1e-3)
    require_int("contributions", chosen.contributions, at_least=1)
    file = _account_file(desk, account) if account else None
    chosen.save(desk)
    if asked.text("do", "") != "publish":
        return None
    policy = desk.task_policy
    require_promise(policy, chosen)
    choices = replace(Choices.of(desk), name=asked.text("name").strip(), because="")
    wish = SyntheticWish(
        desk.require_source().address,
        policy,
        choices.format or None,
        None,
        _open_key(desk, choices, asked.text("passphrase", "")),
        budget=chosen,
        account=file,
    )
    beside = [report_name(choices.name)] if choices.private else []
    _start(desk, wish, choices, beside, replace_it=False)
    return None


@step.action("open-account")
def open_account(desk: Desk, asked: Fields) -> Answer:
    """Open an account in the folder, and choose it."""
    from sfumato.tasks.account import account as task

    name = asked.text("name").strip().removesuffix(ACCOUNT) + ACCOUNT
    delta = asked.number("delta", 0.0)
    task(desk.new_path(name), epsilon=asked.number("epsilon"), delta=delta or None)
    replace(SyntheticChoices.of(desk), account=name).save(desk)
    desk.say("done", f"{name} is open: what is drawn from now on is written down there first.")
    return None


@step.part("account")
def show_account(desk: Desk, asked: Fields) -> Context:
    """Return what was spent on the table; adding it up takes the extra."""
    from sfumato.tasks.account import account as task

    name = asked.text("account")
    return {"name": name, "account": task(_account_file(desk, name))}


def _account_file(desk: Desk, name: str) -> Path:
    path = desk.inside(name)
    if path.parent != desk.folder or not name.endswith(ACCOUNT) or not path.is_file():
        raise InputError(f"there is no account {name!r} in the folder any more")
    return path


# What is in a release.


@step.part("evidence")
def evidence(desk: Desk, asked: Fields) -> Context:
    """Return whether a release is what was written and signed, to the last byte."""
    from sfumato.tasks.evidence import check_evidence

    folder = _release(desk, asked.text("release"))
    for public in _files(desk, PUBLIC_KEY):
        try:
            found = check_evidence(folder, public)
        except (InputError, ParameterError):
            continue
        if found.holds:
            return {"verdict": found, "public_key": public.name}
    return {"verdict": check_evidence(folder), "public_key": ""}


@step.file("file")
def give_file(desk: Desk, asked: Fields) -> Response:
    """Return a file of a release, to be saved and not shown."""
    folder, name = _release(desk, asked.text("release")), asked.text("name")
    if name not in [each.name for each in _list(folder)]:
        raise InputError(f"there is no file {name!r} in that release")
    return _attachment(folder / name)


@step.file("report")
def give_report(desk: Desk, asked: Fields) -> Response:
    """Show a report as a page that has no rights at all: the public one, or the publisher's."""
    folder = _release(desk, asked.text("release"))
    path = folder / REPORT
    if asked.flag("own"):
        path = desk.inside(report_name(folder.name))
    if not path.is_file() or path.is_symlink():
        raise InputError("there is no such report any more")
    headers = {"content-security-policy": _REPORT_POLICY, "referrer-policy": "no-referrer"}
    return FileResponse(path, media_type="text/html; charset=utf-8", headers=headers)


def _attachment(path: Path) -> Response:
    return FileResponse(
        path,
        media_type="application/octet-stream",
        filename=path.name,
        headers={"content-security-policy": _SEALED},
    )


def _release(desk: Desk, name: str) -> Path:
    path = desk.inside(name)
    if path not in desk.releases():
        raise InputError(f"there is no release {name!r} in the folder any more")
    return path


# The ledger.


@step.part("ledger")
def ledger(desk: Desk, asked: Fields) -> Context:
    """Return who joined when, who waits, and how many more each group takes."""
    from sfumato.ledger.publishing.ledger import Ledger
    from sfumato.showing.content import Markup

    name = asked.text("ledger")
    found = Ledger.open(_ledger_file(desk, name))
    overview, room = found.overview(), found.headroom(most=_MOST_ROOMS)
    return {
        "name": name,
        "overview": overview,
        "timeline": Markup(overview.svg()),
        "room": room,
        "faults": found.verify(),
        "k": found.k,
        "alpha": found.alpha,
    }


def _ledger_file(desk: Desk, name: str) -> Path:
    path = desk.inside(name)
    if path.parent != desk.folder or not name.endswith(LEDGER) or not path.is_file():
        raise InputError(f"there is no ledger {name!r} in the folder any more")
    return path


@step.action("prepare-ledger")
def prepare_ledger(desk: Desk, asked: Fields) -> Answer:
    """Change the policy so that a ledger can begin with its release: one change to undo."""
    policy, alpha = desk.require_policy(), asked.number("alpha")
    if not 0 < alpha < 1:
        raise ParameterError("alpha", alpha, "a number above 0 and below 1")
    if not policy.sensitive:
        raise InputError("there is no sensitive column, so a ledger has nothing to limit")
    kept = [m for m in policy.models if m.largest_share is None]
    limits = [_limit_share(column, alpha) for column in policy.sensitive]
    parted = next(kind.name for kind in DECOUPLINGS.values() if kind.why_no_ledger is None)
    person = asked.text("person", "")
    if person:
        if person not in _identifiers(policy):
            raise InputError(f"{person!r} is no identifier of the policy. Choose another column")
        policy = policy.replace(person=person)
    prepared = policy.replace(
        method=_ONE_LEVEL, models=[*kept, *limits], decouple={"method": parted}
    )
    desk.change(prepared, "publish", "prepared for a ledger")
    desk.say("done", "The policy is prepared. Publish the release, then start the ledger from it.")
    return None


@step.action("start-ledger")
def start_ledger(desk: Desk, asked: Fields) -> Answer:
    """Start a ledger from a parted release."""
    from sfumato.ledger.publishing.ledger import start_ledger as task

    release = _release(desk, asked.text("release"))
    path, alpha = desk.new_path(asked.text("name"), LEDGER), asked.number("alpha")
    k = asked.integer("k") if asked.text("k", "").strip() else None
    policy = desk.task_policy
    source = desk.require_source().address if asked.flag("source") else None
    above, hide = asked.flag("above"), asked.flag("hide_waiting")

    def work(report: Progress) -> Any:  # noqa: ANN401 - a publication
        report("publish", 0, None)
        return task(release, path, alpha, k, policy, source, above=above, hide_waiting=hide)

    desk.start(LEDGER_JOB, work)
    return None


@step.action("increment")
def publish_increment(desk: Desk, asked: Fields) -> Answer:
    """Publish the next increment, or only say what would become of it."""
    from sfumato.ledger.publishing.ledger import Ledger

    path = _ledger_file(desk, asked.text("ledger"))
    rows = desk.inside(asked.text("data"))
    if rows not in desk.data_files():
        raise InputError(f"there is no table {asked.text('data')!r} in the folder any more")
    dry = asked.text("do", "") == "try"
    output = None if dry else desk.new_path(asked.text("name").strip())
    if output is not None:
        refuse_what_is_there(output, force=False)
    key = None
    if asked.text("key", "") and not dry:
        file = _key_file(desk, asked.text("key"))
        key = SigningKey.load(file, asked.text("passphrase", "") or None)
    form, whole = asked.text("format", "") or None, asked.flag("whole")
    even_so = asked.flag("even_so")

    def work(report: Progress) -> Any:  # noqa: ANN401 - a publication
        report("publish", 0, None)
        return Ledger.open(path).publish(
            rows,
            output=output,
            whole=whole,
            dry_run=dry,
            format=form,
            key=key,
            even_so=even_so,
        )

    desk.start(LEDGER_JOB, work)
    return None
