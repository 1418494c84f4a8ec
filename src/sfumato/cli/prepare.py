"""Commands before a release: draft a policy, inspect a table, compare policies."""

import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.cli.command import BROKEN, command
from sfumato.cli.options import (
    DataArgument,
    ForceOption,
    HouseholdOption,
    JsonOption,
    PersonOption,
    ProfileOption,
    RolesOption,
    refuse_existing,
    split_names,
    write_text,
)
from sfumato.cli.output import clean, finish, note, progress_bar, put, say, show, write_json
from sfumato.errors import ParameterError, UnknownNameError

if TYPE_CHECKING:
    from sfumato.comparison.frontier import Comparison
    from sfumato.drafting.policy import Draft
    from sfumato.showing.content import Content


@command(
    examples="sfumato init patients.csv\n"
    "sfumato init patients.csv -o - | less\n"
    "sfumato init panel.csv --person idcode --weight w --drop note --role age=quasi-identifier\n"
    "sfumato init patients.csv --from policy.yaml --role ward=sensitive --k 10 -o new.yaml",
    python='print(sf.draft("patients.csv").text)\n'
    'draft = sf.draft("panel.csv", person="idcode", roles={"age": "quasi-identifier"}, k=10)\n'
    'draft = sf.draft("patients.csv", from_policy="policy.yaml", roles={"ward": "sensitive"})',
)
def init(  # noqa: PLR0917 - options of a command line
    data: DataArgument,
    output: Annotated[
        str,
        typer.Option("--output", "-o", metavar="FILE", help="Where to write it; - for stdout."),
    ] = "policy.yaml",
    role: Annotated[
        list[str] | None,
        typer.Option(
            "--role",
            metavar="COLUMN=ROLE",
            help="The role of a column, in place of a guess; may be repeated.",
        ),
    ] = None,
    person: PersonOption = None,
    weight: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMNS",
            help="How many people of a population each row of a survey stands for; may be "
            "repeated.",
        ),
    ] = None,
    household: HouseholdOption = None,
    drop: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMNS",
            help="Columns not to publish, between commas; may be repeated.",
        ),
    ] = None,
    k: Annotated[
        int | None,
        typer.Option("--k", metavar="N", help="How many people at least must look alike."),
    ] = None,
    language: Annotated[
        str | None,
        typer.Option(
            metavar="en|de|fr|es|it|nl",
            help="The language of labels. Without it, that of the policy it starts from, or of "
            "the table where that is clear.",
        ),
    ] = None,
    start: Annotated[
        Path | None,
        typer.Option(
            "--from",
            metavar="FILE",
            help="A policy to start from: what it says stays, with its comments; only what is "
            "said here, and columns it does not know, are drafted.",
        ),
    ] = None,
    prefer: Annotated[
        str | None,
        typer.Option(
            metavar="columns|detail|apart",
            help="Which draft to write: keep columns, keep detail in fewer of them, or publish "
            "sensitive ones apart. Without it, the one that loses least.",
        ),
    ] = None,
    profile: ProfileOption = None,
    ask: Annotated[
        bool,
        typer.Option(
            "--ask", help="Ask about the columns whose meaning is in doubt; Enter takes the guess."
        ),
    ] = False,
    every: Annotated[
        bool,
        typer.Option(
            "--all",
            help="Show all columns with the whole reason, what singles people out, and what each "
            "quasi-identifier costs.",
        ),
    ] = False,
    domains: Annotated[
        bool,
        typer.Option(
            "--domains",
            help="Draft what each column can hold, too, for sfumato synthesize: read off the "
            "table, so that nothing is drawn from it until you confirm it.",
        ),
    ] = False,
    force: ForceOption = False,
) -> None:
    """Draft a policy for a table.

    What each column is, is guessed from its name and values; hierarchies are built, the columns
    that single people out are shown, and what the policy would cost. Read the draft and correct
    it: only you know who will see the release and what they know already.
    """
    to_stdout = output == "-"
    target = Path(output)
    if not to_stdout:
        refuse_existing(target, force=force, private=_DRAFT)
        _refuse_to_replace(target, data)
        _require_place(target)
    if ask:
        _require_terminal()
    from sfumato.releases.release import public_name
    from sfumato.showing.content import Content
    from sfumato.tasks.draft import draft as task
    from sfumato.tasks.draft import inspect

    said: dict[str, Any] = {
        "roles": read_roles(role or []),
        "person": person,
        "weight": split_names(weight or []),
        "household": household,
        "drop": split_names(drop or []),
        "k": k,
        "language": language,
        "from_policy": start,
        "prefer": prefer,
        "domains": domains,
        # The policy may be written elsewhere, and a file is looked for beside it.
        "profile": profile and _in_full(profile),
    }
    with progress_bar() as progress:
        draft = task(data, **said, progress=progress)
    if ask:
        draft = _ask(data, draft, said)
    if start is not None and not to_stdout:
        draft = _seen_from(draft, start.parent, target.parent)
    with progress_bar() as progress:
        inspection = inspect(data, policy=draft.policy, progress=progress)
    price = () if draft.price is None else (draft.price.content(),)
    if not to_stdout:
        # Before anything is shown: a reader of the first lines alone closes the pipe.
        write_text(target, draft.text, force=force, private=_DRAFT)
    if every:
        show(draft.content(inspection), inspection.short_content(), *price, err=to_stdout)
    else:
        risk = Content(f"{inspection.headline}.")
        show(draft.content(every=False), risk, *map(_without_costs, price), err=to_stdout)
    if to_stdout:
        put(draft.text)
        return
    say(
        f"\nWrote {clean(target)}. Read it, correct it, then:\n"
        f"  sfumato anonymize {quote(clean(public_name(data)))} -p {quote(clean(target))}"
        " -o release"
    )


def _without_costs(price: "Content") -> "Content":
    """Return a price without the table of what each quasi-identifier costs."""
    from sfumato.showing.content import ContentTable

    parts = [
        part
        for part in price.parts
        if not (isinstance(part, ContentTable) and part.headings[0].name == "quasi-identifier")
    ]
    return replace(price, parts=tuple(parts))


_ANSWERS = {
    "k": ("quasi-identifier", "others know it"),
    "s": ("sensitive", "secret"),
    "h": ("plain", "harmless"),
    "o": ("dropped", "leave it out"),
}


def _require_terminal() -> None:
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise ParameterError(
            "ask",
            True,
            "given in a terminal only",
            why="questions need a person to answer them. Leave --ask out, and edit the draft",
        )


def read_roles(texts: Sequence[str]) -> dict[str, str]:
    """Read the roles of columns; the last equals sign is the one between name and role.

    >>> read_roles(["age=quasi-identifier", "a=b=plain"])
    {'age': 'quasi-identifier', 'a=b': 'plain'}
    """
    found: dict[str, str] = {}
    for text in texts:
        name, sign, role = text.rpartition("=")
        if not sign or not name or not role:
            why = "as in --role age=quasi-identifier"
            raise ParameterError("role", text, "COLUMN=ROLE", why=why)
        if found.setdefault(name.strip(), role.strip()) != role.strip():
            raise ParameterError("role", text, f"one role for {name.strip()!r}, given two")
    return found


def _seen_from(draft: "Draft", before: Path, folder: Path) -> "Draft":
    """Return a draft that names the files of the policy it started from as seen from a folder."""
    from sfumato.policy.editing import edit_text
    from sfumato.policy.named_files import named_files

    if before.resolve() == folder.resolve() or not named_files(draft.policy):
        return draft
    policy = draft.policy.relative_to(Path(os.path.relpath(before, folder)))
    return replace(draft, policy=policy, text=edit_text(draft.text, policy))


def _in_full(profile: str) -> str:
    return str(Path(profile).resolve()) if profile.endswith((".yaml", ".yml")) else profile


def _ask(data: str, draft: "Draft", said: dict[str, Any]) -> "Draft":
    """Return a draft after questions about the columns that are in doubt."""
    from sfumato.tasks.draft import draft as task

    roles: dict[str, str] = dict(said["roles"])
    choices = ", ".join(f"{key}: {means}" for key, (_, means) in _ANSWERS.items())
    doubtful = draft.uncertain
    say(f"{len(doubtful)} columns are in doubt. {choices}; Enter takes the guess.")
    for name in doubtful:
        guessed = draft.roles[name].value
        say(f"\n{name}: {draft.reasons[name]}. Guessed: {guessed}.")
        answer = _read_answer(name)
        if answer is None or answer == guessed:
            continue
        roles[name] = answer
        with progress_bar() as progress:
            draft = task(data, **{**said, "roles": roles}, progress=progress)
        if draft.price is not None:
            say(f"  {answer}: {draft.price.headline}")
    return draft


def _read_answer(name: str) -> str | None:
    """Return the role that was chosen; None for the one that was guessed."""
    while True:
        given = typer.prompt(f"What is {clean(name)}?", default="", show_default=False, err=True)
        text = str(given).strip().lower()[:1]
        if not text:
            return None
        if text in _ANSWERS:
            return _ANSWERS[text][0]
        say(f"Answer {', '.join(_ANSWERS)}, or Enter.")


_DRAFT = "the draft, which holds values of the data,"


def _refuse_to_replace(target: Path, data: str) -> None:
    from sfumato.errors import OutputError

    if target.exists() and Path(data).exists() and target.samefile(data):
        raise OutputError(f"{str(target)!r} is the data itself. Choose another name.")


def _require_place(target: Path) -> None:
    """Raise before any work if nothing can be written there."""
    from sfumato.errors import OutputError

    folder = target.parent
    if not folder.is_dir():
        raise OutputError(
            f"cannot write {str(target)!r}: there is no folder {str(folder)!r}. Nothing was "
            "left behind. Make it first, or choose another."
        )
    if not os.access(folder, os.W_OK | os.X_OK):
        raise OutputError(
            f"nothing can be written in the folder {str(folder)!r}. Change its permissions, or "
            "choose another."
        )


# `sfumato check-policy`: what a new file would change.


@command(
    examples="sfumato check-policy policy.yaml june.csv\n"
    "sfumato check-policy policy.yaml june.csv --before may.csv",
    python='found = sf.check_policy("policy.yaml", "june.csv", before="may.csv")\n'
    "print(found)\nassert found.fits",
)
def check_policy(
    policy: Annotated[Path, typer.Argument(metavar="POLICY", help="The policy file.")],
    data: DataArgument,
    before: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="The file that the policy was written for: what it did not have is told, too.",
        ),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Show what a new file would change in a policy.

    New and missing columns, values without a place, types, keys of people that repeat, promises
    that cannot be kept. Values are counted, and named in a terminal only. The exit code is 1 if
    something must be settled before the file is published.
    """
    from sfumato.tasks.check_policy import check_policy as task

    with progress_bar(quiet=json) as progress:
        found = task(policy, data, before=before, progress=progress)
    if json:
        write_json(found.to_dict())
    else:
        # A log is read by more people than the owner.
        show(found.content(names=sys.stdout.isatty()))
    if not found.fits:
        raise typer.Exit(BROKEN)


# `sfumato widen`: one row per person.


@command(
    examples="sfumato widen visits.csv --person patient --order admitted -o wide.csv\n"
    "sfumato widen panel.parquet --person id --order year --most 5 -o wide.parquet",
    python='wide = sf.widen("visits.csv", person="patient", order="admitted")\n'
    'release = sf.anonymize(wide, "policy.yaml")',
)
def widen(  # noqa: PLR0917 - options of a command line
    data: DataArgument,
    person: Annotated[
        str,
        typer.Option(metavar="COLUMN", help="The column that is the same in all rows of a person."),
    ],
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", metavar="FILE", help="Where to write it: .csv, .parquet or .feather."
        ),
    ],
    order: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN", help="Order the rows of a person by it; else as they are given."
        ),
    ] = None,
    columns: Annotated[
        str | None,
        typer.Option(metavar="NAMES", help="The columns to take over, with commas between them."),
    ] = None,
    most: Annotated[
        int | None,
        typer.Option(metavar="N", help="Keep only the first N rows of each person."),
    ] = None,
    count: Annotated[
        str,
        typer.Option(metavar="NAME", help="The column with the number of rows that a person had."),
    ] = "rows",
    force: ForceOption = False,
    json: JsonOption = False,
) -> None:
    """Make one row per person.

    People may have several rows in the table you give. Columns that never change within a person
    stay one column; each other one becomes several, name_1, name_2 and so on, in the order that is
    given. The result is a table about people like the one it was made of, and not for publication.
    """
    from sfumato.tasks.widen import widen as task

    refuse_existing(output, force=force, private="the widened table")
    _refuse_to_replace(output, data)
    with progress_bar(quiet=json) as progress:
        made = task(
            data,
            person=person,
            order=order,
            columns=None if columns is None else split_names(columns),
            most=most,
            count=count,
            output=output,
            force=force,
            progress=progress,
        )
    finish(made, json=json, note=f"Wrote {clean(output)}.")


# `sfumato inspect`: the risk of a table as it is.


@command(
    examples="sfumato inspect patients.csv --qi age,sex,postcode --sensitive diagnosis\n"
    "sfumato inspect patients.csv -p policy.yaml\n"
    "sfumato inspect survey.csv --qi age,sex,education --fraction 0.01 --subsets 4",
    python='print(sf.inspect("patients.csv", quasi_identifiers=["age", "sex"]))',
)
def inspect(  # noqa: PLR0917 - options of a command line
    data: DataArgument,
    policy: RolesOption = None,
    qi: Annotated[
        list[str] | None,
        typer.Option(
            "--qi",
            metavar="COLUMNS",
            help="The quasi-identifiers, separated by commas: what others may know.",
        ),
    ] = None,
    sensitive: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMNS", help="What no adversary should learn, separated by commas."
        ),
    ] = None,
    weight: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="How many people of a population each row of a survey stands for.",
        ),
    ] = None,
    fraction: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE",
            help="The share of a population that is in the table, as 0.01.",
        ),
    ] = None,
    person: PersonOption = None,
    household: HouseholdOption = None,
    subsets: Annotated[
        int,
        typer.Option(
            metavar="SIZE",
            help="How many columns a set may have that is looked at for rows it singles out and "
            "for special uniques; 0 looks at none.",
        ),
    ] = 3,
    json: JsonOption = False,
) -> None:
    """Show how far a table gives people away.

    It is judged as it is and only looked at; nothing is written.
    """
    from sfumato.tasks.draft import inspect as task

    with progress_bar(quiet=json) as progress:
        inspection = task(
            data,
            quasi_identifiers=None if qi is None else split_names(qi),
            sensitive=split_names(sensitive or []),
            policy=policy,
            weight=weight,
            fraction=fraction,
            person=person,
            household=household,
            subsets=subsets,
            progress=progress,
        )
    finish(inspection, json=json)


# `sfumato compare`: what policies, methods and parameters cost, and what they leave at risk.


@command(
    examples="sfumato compare patients.csv policy.yaml --vary k=2,5,10 --html compare.html\n"
    "sfumato compare patients.csv policy.yaml --vary k=5,10 --vary method=full-domain,mondrian\n"
    "sfumato compare patients.csv old.yaml new.yaml --json\n"
    'sfumato compare patients.csv policy.yaml --vary k=2,5 --choose "k=5" -o chosen.yaml',
    python='found = sf.compare("patients.csv", "policy.yaml", vary={"k": [2, 5, 10]})\n'
    'print(found)\nfound.save("compare.html")\nprint(found["k=5"].policy.to_yaml())',
)
def compare(  # noqa: PLR0917 - options of a command line
    data: DataArgument,
    policies: Annotated[
        list[Path], typer.Argument(metavar="POLICY...", help="One policy file or several.")
    ],
    vary: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUES",
            help="A setting and its values, between commas: a parameter of the models (k, l, "
            "alpha, t), method, suppression or decouple. With several, every combination is tried.",
        ),
    ] = None,
    risk: Annotated[
        str | None,
        typer.Option(
            metavar="at-risk|belief|gain|prosecutor|mean",
            help="What is weighed against the loss; the share of people at risk unless told "
            "otherwise.",
        ),
    ] = None,
    loss: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The loss to weigh it against; query-error, table-error, classifier-error; or of "
            "numbers mean-error, variance-error, quantile-error, pearson-error, regression-error, "
            "distinguishability. normalized-loss unless told otherwise.",
        ),
    ] = None,
    threshold: Annotated[
        float | None,
        typer.Option(metavar="SHARE", help="Probability from which a person is at risk."),
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", metavar="N", min=1, help="How many policies to try at a time."),
    ] = None,
    html: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the comparison as an HTML page there."),
    ] = None,
    csv: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the figures there.")
    ] = None,
    epsilon: Annotated[
        list[float] | None,
        typer.Option(
            metavar="NUMBER",
            help="Show synthetic rows with this budget beside the policies; may be repeated.",
        ),
    ] = None,
    delta: Annotated[
        float | None, typer.Option(metavar="NUMBER", help="The delta of these budgets.")
    ] = None,
    choose: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Write the policy of this name or number to --output."),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Where --choose writes.")
    ] = None,
    force: ForceOption = False,
    json: JsonOption = False,
) -> None:
    """Weigh risk against loss for several policies.

    The table is counted once and nothing is published. Policies that no other one beats in both
    respects are marked; one that no release keeps is listed with the reason.
    """
    for target in (html, csv, output):
        if target is not None:
            refuse_existing(target, force=force, private=_COMPARISON)
    _require_both(choose, output)
    from sfumato.comparison.compare import compare as task
    from sfumato.comparison.variations import name_policies

    named = name_policies(policies, varied_by(vary or []))
    chosen = None if choose is None else _found(choose, list(named))
    with progress_bar(quiet=json) as progress:
        found = task(
            data,
            named,
            risk=risk,
            loss=loss,
            threshold=threshold,
            parallel=jobs,
            epsilon=tuple(epsilon or ()),
            delta=delta,
            progress=progress,
        )
    texts = {html: found.html, csv: found.csv}
    if chosen is not None and output is not None:
        texts[output] = lambda: _policy_for(found, chosen, output)
    # All is made before any is written: what fails leaves nothing behind.
    ready = {path: text() for path, text in texts.items() if path is not None}
    for path, text in ready.items():
        write_text(path, text, force=force, private=_COMPARISON)
        note(f"Written: {clean(path)}")
    finish(found, json=json)


_COMPARISON = "what a comparison found"


def _require_both(choose: str | None, output: Path | None) -> None:
    if (choose is None) != (output is None):
        raise ParameterError(
            "choose",
            choose,
            "given together with --output",
            why='one says which policy, the other where to: --choose "k=5" -o chosen.yaml',
        )


def varied_by(texts: list[str]) -> dict[str, list[object]] | None:
    """Read settings and their values as a policy file would read them.

    >>> varied_by(["k=2,5", "method=mondrian"])
    {'k': ['2', '5'], 'method': ['mondrian']}
    """
    from sfumato.policy.document import Plain

    found: dict[str, list[object]] = {}
    for text in texts:
        name, equals, values = (part.strip() for part in text.partition("="))
        if not name or not equals or not values:
            raise ParameterError("vary", text, "NAME=VALUES", why="for example k=2,5,10")
        if name in found:
            raise ParameterError("vary", text, "each setting once", why=f"{name}=2,5,10")
        found[name] = [Plain(value) for value in split_names([values])]
    return found or None


def _found(choose: str, names: list[str]) -> str:
    """Find what was chosen by its name, or by its number in the table."""
    numbers = {str(number): name for number, name in enumerate(names, 1)}
    chosen = choose if choose in names else numbers.get(choose)
    if chosen is None:
        raise UnknownNameError("policy", choose, names, where="the comparison")
    return chosen


def _policy_for(found: "Comparison", chosen: str, output: Path) -> str:
    """Write the policy that was chosen, with the files it names as they are seen from there."""
    from sfumato.comparison.variations import seen_from

    point = found[chosen].figures
    return seen_from(point.policy, output.parent).to_yaml()


# `sfumato schema`: what a policy file may hold, for editors and forms.


@command(
    examples="sfumato schema -o policy.schema.json",
    python="sf.Policy.json_schema(\n"
    "    searches=sf.search.SEARCHES,\n"
    "    methods=sf.partition.PARTITIONERS,\n"
    "    decouplings=sf.decouplings.DECOUPLINGS,\n"
    "    profiles=sf.profiles.PROFILES,\n"
    ")",
)
def schema(
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Where to write it; else to stdout."),
    ] = None,
    force: ForceOption = False,
) -> None:
    """Write the JSON Schema of policies.

    It has every model, hierarchy, loss, method, search, decoupling and profile with its settings.
    Editors that know it complete and check policies while they are written.
    """
    from sfumato.decouplings import DECOUPLINGS
    from sfumato.partition import PARTITIONERS
    from sfumato.policy import Policy
    from sfumato.profiles import PROFILES
    from sfumato.search import SEARCHES

    plain = Policy.json_schema(
        searches=SEARCHES, methods=PARTITIONERS, decouplings=DECOUPLINGS, profiles=PROFILES
    )
    if output is None:
        write_json(plain)
        return
    import json

    write_text(output, json.dumps(plain, indent=2, ensure_ascii=False) + "\n", force=force)
    say(f"Wrote {clean(output)}.")
