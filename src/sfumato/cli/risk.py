"""Commands about risk: what a release still tells, and whether it may be published."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.cli.command import BROKEN, command
from sfumato.cli.options import (
    EarlierOption,
    ForceOption,
    JsonOption,
    OriginalArgument,
    OutsideOption,
    PeopleFileOption,
    PopulationOption,
    ProfileOption,
    PublishedArgument,
    QiOption,
    ReleasesArgument,
    RolesOption,
    SeedOption,
    SensitiveOption,
    SupportOption,
    name_releases,
    refuse_existing,
    split_names,
    write_text,
)
from sfumato.cli.output import (
    clean,
    finish,
    is_quiet,
    note,
    progress_bar,
    put,
    say,
    show,
    write_json,
)
from sfumato.errors import InputError

if TYPE_CHECKING:
    from sfumato.leaks.findings import Findings, Inference
    from sfumato.showing.content import Content


@command(
    examples="sfumato detect release/\n"
    "sfumato detect release/ --alpha 0.75 --known Government=State-gov --known 'Age=30-50'\n"
    "sfumato detect published.csv --qi age,zip --sensitive illness --draw drawings/\n"
    "sfumato detect release/ --network 'age -> illness, job -> illness'\n"
    "sfumato detect release/ --learner weka-ics --most-given 0 --order age,zip,sex --prior 0.5",
    python='findings = sf.detect("release", alpha=0.5)\nprint(findings)\n'
    'print(findings.infer({"Government": "State-gov"}))',
)
def detect(  # noqa: PLR0917 - options of a command line
    what: PublishedArgument,
    alpha: Annotated[
        float, typer.Option(metavar="SHARE", help="Report findings with a probability above this.")
    ] = 0.5,
    policy: RolesOption = None,
    qi: QiOption = None,
    sensitive: SensitiveOption = None,
    known: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN=VALUE", help="Something an adversary knows of a person."),
    ] = None,
    learner: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="How networks are learned: ic, weka-ics, …; else as the policy says.",
        ),
    ] = None,
    most_given: Annotated[
        int | None,
        typer.Option(metavar="N", help="The most columns independence is tested given."),
    ] = None,
    order: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMNS", help="The columns that come first, for weka-ics."),
    ] = None,
    network: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|ARROWS",
            help="A network instead of a learned one: a .bif file, or 'age -> zip, zip -> sex'.",
        ),
    ] = None,
    prior: Annotated[
        float | None,
        typer.Option(metavar="NUMBER", help="Added to every cell of a table; 0 for plain shares."),
    ] = None,
    support: SupportOption = None,
    size: Annotated[
        int, typer.Option(metavar="N", help="Most facts an adversary knows, for the facts shown.")
    ] = 2,
    tables: Annotated[
        bool, typer.Option("--tables", help="Show the tables of conditional probabilities too.")
    ] = False,
    draw: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Write the networks and tables as SVG there."),
    ] = None,
    export: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the network over all columns: .bif .graphml .dot"),
    ] = None,
    people_file: PeopleFileOption = None,
    json: JsonOption = False,
) -> None:
    """Find the dependencies an adversary could use.

    Bayesian networks are learned on the published rows, or one is given; every rule that
    predicts a value with more than alpha is reported, with how many people it exposes. Facts need
    no rule: what a class or a known value reveals (the literature's knowledge breach) is counted
    exactly. The exit code is 0: finding leaks is what the command is for.
    """
    from sfumato.conditions import find_values
    from sfumato.files import refuse_release
    from sfumato.tasks.detect import detect as task

    if draw is not None:
        refuse_release(draw / "network.svg", "the drawing")
    if export is not None:
        refuse_release(export, "the network")
    with progress_bar(quiet=json) as progress:
        findings = task(
            what,
            quasi_identifiers=None if qi is None else split_names(qi),
            sensitive=None if sensitive is None else split_names(sensitive),
            policy=policy,
            alpha=alpha,
            learner=_learner(learner, most_given),
            network=network,
            order=None if order is None else split_names(order),
            prior=prior,
            support=support,
            people_file=people_file,
            progress=progress,
        )
        inferred = findings.infer(find_values(findings.counts.columns, known)) if known else None
        if progress is not None:
            progress("facts", 0, None)
        # Facts are counted when they are asked for: here, where it is shown that something is done.
        shown = (
            () if json or is_quiet() else _contents(findings, inferred, size=size, tables=tables)
        )
    written: list[Path] = []
    if draw is not None or export is not None:
        from sfumato.tasks.detect import draw_findings, export_network

        written += draw_findings(findings, draw) if draw is not None else []
        written += [export_network(findings, export)] if export is not None else []
    if json:
        plain = findings.to_dict()
        plain["facts"] = [fact.to_dict() for fact in findings.facts(size=size)]
        if tables:
            plain["tables"] = [
                {"networks": list(networks), **table.to_dict()}
                for networks, table in findings.dependencies
            ]
        if inferred is not None:
            plain["inferred"] = [one.to_dict() for one in inferred.values()]
        write_json(plain)
    elif not is_quiet():
        show(*shown)
        for path in written:
            note(f"Written: {clean(path)}")


def _contents(
    findings: "Findings", inferred: "dict[str, Inference] | None", *, size: int, tables: bool
) -> "tuple[Content, ...]":
    from sfumato.leaks.findings import inference_content, tables_content

    return (
        findings.content(size=size),
        *([tables_content(findings)] if tables else []),
        *([] if inferred is None else [inference_content(inferred)]),
    )


def _learner(name: str | None, most_given: int | None) -> str | dict[str, Any] | None:
    """Return a learner as it is asked for; what is not said is left to the policy."""
    if most_given is None:
        return name
    return {**({} if name is None else {"learner": name}), "most_given": most_given}


# `sfumato breach`: what a decoupled table leaves to guess.


@command(
    examples="sfumato breach decoupled/\n"
    "sfumato breach decoupled/ --group 'Age=[30-50]' --known Government=State-gov\n"
    "sfumato breach published.csv --qi age,zip --sensitive illness,salary --alpha 0.5",
    python='exposure = sf.breach("decoupled", alpha=0.5)\nprint(exposure)\n'
    'print(exposure.person({"Age": "[30-50]"}, {"Government": "State-gov"}))',
)
def breach(  # noqa: PLR0917 - options of a command line
    what: PublishedArgument,
    group: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN=VALUE", help="A published quasi-identifier of a person."),
    ] = None,
    known: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN=VALUE", help="A sensitive value an adversary knows."),
    ] = None,
    alpha: Annotated[
        float | None,
        typer.Option(metavar="SHARE", help="Count who is above this, and how many more may come."),
    ] = None,
    data: Annotated[
        str | None,
        typer.Option(
            metavar="RELEASE_OR_FILE", help="What a decoupled release was made of, to compare with."
        ),
    ] = None,
    policy: RolesOption = None,
    qi: QiOption = None,
    sensitive: SensitiveOption = None,
    most: Annotated[int, typer.Option(metavar="N", min=1, help="How many guesses are shown.")] = 10,
    json: JsonOption = False,
) -> None:
    """Show how well decoupled values can be guessed.

    A decoupled release is taken as it is; another release or table is decoupled in memory, and
    what it told before stands beside. With --group the answer is about one person. The exit
    code is 0: looking for breaches is what the command is for.
    """
    from sfumato.conditions import find_values
    from sfumato.tasks.breach import breach as task

    with progress_bar(quiet=json) as progress:
        exposure = task(
            what,
            quasi_identifiers=None if qi is None else split_names(qi),
            sensitive=None if sensitive is None else split_names(sensitive),
            policy=policy,
            original=data,
            alpha=alpha,
            progress=progress,
        )
    columns = [table.column for table in exposure.grouped.sensitive]
    held = find_values(columns, known or [])
    if group:
        wanted = find_values(exposure.grouped.quasi_identifiers, group)
        person = exposure.person(wanted, held)
        if json:
            write_json({"person": person.to_dict(most=most, alpha=alpha)})
        elif not is_quiet():
            show(person.content(most=most, alpha=alpha))
    elif held:
        found = exposure.holders(held)
        if json:
            write_json({"holders": [one.to_dict() for one in found]})
        elif not is_quiet():
            from sfumato.leaks.breach import holders_content

            show(holders_content(found, most))
    elif json:
        write_json(exposure.to_dict(most=most))
    elif not is_quiet():
        show(exposure.content(most=most))


# `sfumato membership`: can others tell who is in the data at all?


@command(
    examples="sfumato membership people.csv release/ -p policy.yaml\n"
    "sfumato membership people.csv release/ buckets/ slices/ -p policy.yaml\n"
    "sfumato membership people.csv published.csv --qi age,zip --json",
    python='releases = {"whole": "release", "slices": "slices"}\n'
    'print(sf.tools.membership("people.csv", releases, policy="policy.yaml"))',
)
def membership(  # noqa: PLR0917 - options of a command line
    original: OriginalArgument,
    releases: ReleasesArgument,
    policy: RolesOption = None,
    qi: QiOption = None,
    sensitive: SensitiveOption = None,
    fakes: Annotated[
        int, typer.Option(metavar="N", help="How many made-up people are drawn at most.")
    ] = 10_000,
    confidence: Annotated[
        float, typer.Option(metavar="SHARE", help="How sure the interval of a sample is.")
    ] = 0.95,
    seed: SeedOption = 0,
    json: JsonOption = False,
) -> None:
    """Show who can be found to be in the data.

    Real and made-up people are compared with the groups of releases. Shown are how many groups a
    real and a made-up person match, and the share of made-up people who match none: of those others
    can tell that they are not in the data. The nearer to 100 %, the more matching says about the
    rest. The exit code is 0: this measures, and judges nothing.
    """
    from sfumato.tasks.membership import membership as task

    with progress_bar(quiet=json) as progress:
        found = task(
            original,
            name_releases(releases),
            policy=policy,
            quasi_identifiers=None if qi is None else split_names(qi),
            sensitive=None if sensitive is None else split_names(sensitive),
            fakes=fakes,
            confidence=confidence,
            seed=seed,
            progress=progress,
        )
    finish(found, json=json)


# `sfumato explain`: what a release tells about one person.


@command(
    examples="sfumato explain release/ age=41 zip=25961 nationality=Japanese\n"
    "sfumato explain release/ age=41 zip=25961 --not 'Heart Disease' --draw person.svg\n"
    "sfumato explain decoupled/ age=41 --known occupation=Sales --prior 'Heart Disease=0.001'\n"
    "sfumato explain published.csv age=41 --qi age,zip --sensitive illness",
    python='found = sf.explain("release", {"age": 41, "zip": 25961}, '
    'knows={"not": "Heart Disease"})\nprint(found)',
)
def explain(  # noqa: PLR0917 - options of a command line
    what: PublishedArgument,
    person: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="COLUMN=VALUE",
            help="Known of the person: quasi-identifiers as they really are.",
        ),
    ] = None,
    ruled_out: Annotated[
        list[str] | None,
        typer.Option("--not", metavar="VALUE", help="A sensitive value the person does not have."),
    ] = None,
    known: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN=VALUE", help="A sensitive value the person has."),
    ] = None,
    prior: Annotated[
        list[str] | None,
        typer.Option(
            metavar="VALUE=SHARE",
            help="How likely a value was to the adversary before the release.",
        ),
    ] = None,
    others: Annotated[
        list[str] | None,
        typer.Option(
            metavar="VALUE=SHARE",
            help="How likely a value of --prior is among others, from whom the person differs.",
        ),
    ] = None,
    column: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="The sensitive column that is asked about.")
    ] = None,
    policy: RolesOption = None,
    qi: QiOption = None,
    sensitive: SensitiveOption = None,
    data: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="The original, for hierarchies that are built from the data."
        ),
    ] = None,
    people_file: PeopleFileOption = None,
    draw: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw the beliefs, as SVG, into this file.")
    ] = None,
    force: ForceOption = False,
    json: JsonOption = False,
) -> None:
    """Show what others could learn about one person.

    Every class, group or bucket that fits what is known is taken, and what is believed of each
    value stands beside what is believed of all people. Where several columns have a
    value, write column=value. The exit code is 0, also if no person fits.
    """
    if draw is not None:
        refuse_existing(draw, force=force, private="the drawing")
    knows: dict[str, Any] = {
        "not": list(ruled_out or []),
        "is": _read_pairs(known or []),
        "prior": {value: _share(share, value) for value, share in _read_shares(prior or [])},
        "others": {value: _share(share, value) for value, share in _read_shares(others or [])},
    }
    from sfumato.tasks.explain import explain as task

    with progress_bar("Looking for the person", quiet=json):
        found = task(
            what,
            _read_pairs(person or []),
            knows=knows,
            column=column,
            policy=policy,
            quasi_identifiers=None if qi is None else split_names(qi),
            sensitive=None if sensitive is None else split_names(sensitive),
            data=data,
            people_file=people_file,
        )
    if draw is not None and found.beliefs:
        write_text(draw, found.svg(column), force=force, private="the drawing")
        note(f"Written: {clean(draw)}")
    elif draw is not None:
        say("Nothing was drawn: no person fits.")
    finish(found, json=json)


def _read_pairs(given: Sequence[str]) -> dict[str, str | None]:
    """Read `column=value`; nothing after the sign is a missing value."""
    from sfumato.conditions import split_conditions

    return {name: value or None for name, value in split_conditions(given).items()}


def _read_shares(given: Sequence[str]) -> list[tuple[str, str]]:
    """Cut at the last sign: a value may hold one itself."""
    for text in given:
        if "=" not in text:
            raise InputError(f"{text!r} must be a value and a share. Write it as 'flu=0.01'.")
    return [(value, share) for value, _, share in (text.rpartition("=") for text in given)]


def _share(text: str, value: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InputError(
            f"{value}: {text!r} is not a share. Give a number from 0 to 1, such as 0.01."
        ) from None


# `sfumato verify`: may a release or a table be published?


@command(
    examples="sfumato verify release/\n"
    "sfumato verify published.csv -p policy.yaml\n"
    "sfumato verify theirs.csv --qi age,zip --sensitive illness --threshold 0.5\n"
    "sfumato verify release/ --format junit\n"
    "sfumato verify release/ -p policy.yaml --population people.csv\n"
    "sfumato verify release/ -p policy.yaml --data people.csv --remedies\n"
    "sfumato verify release/ -p policy.yaml --profile hipaa-safe-harbor",
    python='print(sf.verify("release"))\nprint(sf.verify("published.csv", "policy.yaml"))',
)
def verify(  # noqa: PLR0917 - options of a command line
    what: PublishedArgument,
    policy: Annotated[
        Path | None,
        typer.Option(
            "--policy",
            "-p",
            metavar="FILE",
            help="The policy to hold it to. A plain file needs one, or --qi and --sensitive; "
            "nothing in it is generalised.",
        ),
    ] = None,
    population: PopulationOption = None,
    qi: QiOption = None,
    sensitive: SensitiveOption = None,
    exact_spelling: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAMES",
            help="Sensitive columns, between commas, in which hiv and HIV are different values.",
        ),
    ] = None,
    attacks: Annotated[
        list[str] | None,
        typer.Option("--attack", metavar="NAMES", help="Only these attacks, between commas."),
    ] = None,
    only_promises: Annotated[
        bool, typer.Option("--only-promises", help="Recompute the promises, and attack nothing.")
    ] = False,
    threshold: Annotated[
        float | None,
        typer.Option(
            metavar="P",
            help="Probability from which a person is at risk; else the policy's, or 0.75.",
        ),
    ] = None,
    people: Annotated[
        int | None,
        typer.Option(metavar="N", help="How many may be at risk; else the policy's, or none."),
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit with 1 if the answer is 'with care', too.")
    ] = False,
    everything: Annotated[
        bool,
        typer.Option("--all", help="Show all reasons, promises, attacks and assumptions."),
    ] = False,
    data: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="The table it was made of, to attack who is in it and, with the policy, how it "
            "was made.",
        ),
    ] = None,
    outside: OutsideOption = None,
    earlier: EarlierOption = None,
    people_file: PeopleFileOption = None,
    profile: ProfileOption = None,
    remedies: Annotated[
        bool,
        typer.Option(
            "--remedies",
            help="Try what can be done about it, with --data and --policy, and show what each "
            "remedy costs.",
        ),
    ] = False,
    form: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="text|json|markdown|junit|sarif",
            help="Print the answer in this form to stdout, and nothing else.",
        ),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Check whether a release may be published.

    Every promise is recomputed, from the published rows alone, and every attack is run. A person
    is at risk if something about them is as good as known to an adversary, and was not before. The
    exit code is 0 if all promises hold, no person is at risk and no column names people, and 1 if
    not; with --strict it is 1 unless the answer is yes.
    """
    from sfumato.errors import ParameterError
    from sfumato.releases.release import public_name
    from sfumato.reports.verdicts import FORMATS, format_assessment
    from sfumato.tasks.verify import verify as task

    chosen = "json" if json else form
    if chosen is not None and chosen not in FORMATS:
        raise ParameterError("--format", chosen, "one of " + ", ".join(FORMATS))
    with progress_bar() as progress:
        found = task(
            what,
            policy,
            population=population,
            quasi_identifiers=None if qi is None else split_names(qi),
            sensitive=None if sensitive is None else split_names(sensitive),
            exact_spelling=() if exact_spelling is None else split_names(exact_spelling),
            attacks=not only_promises if attacks is None else split_names(attacks),
            threshold=threshold,
            people=people,
            data=data,
            outside=outside,
            earlier=earlier,
            people_file=people_file,
            remedies=remedies,
            profile=profile,
            progress=progress,
        )
    if chosen is not None:
        put(format_assessment(found, chosen, subject=public_name(what)))
    else:
        show(found.details() if everything else found.content())
    if not found.holds or (strict and found.answer != "yes"):
        raise typer.Exit(BROKEN)
