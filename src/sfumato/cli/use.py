"""Commands about usefulness: errors of answers, estimates, and correlations."""

from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli.command import command
from sfumato.cli.options import (
    AccountOption,
    ForceOption,
    JsonOption,
    OriginalArgument,
    PeopleFileOption,
    PublishedArgument,
    QiOption,
    ReleasesArgument,
    RolesOption,
    SeedOption,
    SensitiveOption,
    conditions,
    name_releases,
    refuse_existing,
    split_names,
    write_text,
)
from sfumato.cli.output import clean, finish, note, progress_bar
from sfumato.errors import ParameterError


@command(
    examples="sfumato utility people.csv release/ -p policy.yaml\n"
    "sfumato utility people.csv release/ decoupled/ slices/ -p policy.yaml --queries 5000\n"
    "sfumato utility people.csv published.csv --qi age,zip --sensitive illness --json",
    python='releases = {"whole": "release", "apart": "decoupled"}\n'
    'print(sf.utility("people.csv", releases, policy="policy.yaml"))',
)
def utility(  # noqa: PLR0917 - options of a command line
    original: OriginalArgument,
    releases: ReleasesArgument,
    policy: RolesOption = None,
    qi: QiOption = None,
    sensitive: SensitiveOption = None,
    queries: Annotated[
        int, typer.Option(metavar="N", help="How many counting queries are asked.")
    ] = 1000,
    classify: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN", help="Measure how well a decision tree predicts this column."
        ),
    ] = None,
    seed: SeedOption = 0,
    people_file: PeopleFileOption = None,
    json: JsonOption = False,
) -> None:
    """Measure how useful releases still are.

    Random counting queries are put to the original and to each release, the correlations between
    columns are compared, and means, variances, quantiles and regressions of numbers; a model tries
    to tell published rows from original ones. All releases are asked the same. The policy's
    hierarchies say what labels stand for. The exit code is 0: this measures, and judges nothing.
    """
    from sfumato.tasks.utility import utility as task

    with progress_bar("Putting questions to the tables", quiet=json) as progress:
        found = task(
            original,
            name_releases(releases),
            policy=policy,
            quasi_identifiers=None if qi is None else split_names(qi),
            sensitive=None if sensitive is None else split_names(sensitive),
            queries=queries,
            classify=classify,
            seed=seed,
            people_file=people_file,
            progress=progress,
        )
    finish(found, json=json)


# `sfumato estimate`: count with nothing but a release.


@command(
    examples='sfumato estimate decoupled/ --where "age=30..45" --where "illness=flu"\n'
    'sfumato estimate slices/ --where "sex=f,m" --where "salary=..3000" --json\n'
    'sfumato estimate release/ --where "job=cook" -p policy.yaml --data people.csv\n'
    'sfumato estimate people.csv --where "illness=flu" -p policy.yaml --epsilon 0.2 --account '
    "clinic.account",
    python='print(sf.estimate("slices", {"age": (30, 45), "illness": "flu", "sex": ["f", "m"]}))',
)
def estimate(
    what: PublishedArgument,
    where: Annotated[
        list[str],
        typer.Option(
            metavar="COLUMN=VALUES",
            help="A value, values between commas, or a range low..high; may be repeated.",
        ),
    ],
    data: Annotated[
        str | None,
        typer.Option(
            metavar="DATA", help="The table it was made of, to know which values there are."
        ),
    ] = None,
    policy: Annotated[
        Path | None,
        typer.Option(
            "--policy", "-p", metavar="FILE", help="Read labels by the hierarchies of a policy."
        ),
    ] = None,
    epsilon: Annotated[
        float | None,
        typer.Option(
            metavar="NUMBER",
            help="Count in the table itself, which is given in place of a release, with this "
            "noise: how much one person may change.",
        ),
    ] = None,
    account: AccountOption = None,
    json: JsonOption = False,
) -> None:
    """Estimate how many rows have given values.

    It answers as an analyst would who has only the release. Rows behind a label are taken to be
    spread evenly over what it stands for, and columns published apart to have nothing to do with
    each other within a group. Beside the estimate stand the fewest and the most rows it can be in
    any table behind the release; where counts have noise, these hold with 95 % confidence.
    """
    from sfumato.tasks.estimate import estimate as task

    with progress_bar("Counting what is published", quiet=json):
        asked = conditions(where)
        if epsilon is None and account is None:
            finish(task(what, asked, original=data, policy=policy), json=json)
            return
        if epsilon is None:
            why = "what was published costs nothing more"
            raise ParameterError("account", str(account), "given together with --epsilon", why=why)
        if data is not None:
            why = "the table itself is counted"
            raise ParameterError("data", data, "left out with --epsilon", why=why)
        noise = {"epsilon": epsilon}
        found = task(what, asked, policy=policy, noise=noise, account=account)
    finish(found, json=json)


# `sfumato correlations`: which columns have how much to do with each other.


@command(
    examples="sfumato correlations people.csv --qi age,zip,job --sensitive illness\n"
    "sfumato correlations people.csv -p policy.yaml --measure cramers-v --draw correlations.svg\n"
    "sfumato correlations release/",
    python='print(sf.tools.correlations("people.csv", policy="policy.yaml"))',
)
def correlations(
    what: PublishedArgument,
    policy: RolesOption = None,
    qi: QiOption = None,
    sensitive: SensitiveOption = None,
    measure: Annotated[
        str, typer.Option(metavar="NAME", help="phi-square, cramers-v or mutual-information.")
    ] = "phi-square",
    draw: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a heat map as SVG there.")
    ] = None,
    force: ForceOption = False,
    json: JsonOption = False,
) -> None:
    """Show which columns predict each other best.

    Pairs are between 0 (nothing) and 1; the darker, the stronger. Columns that are tied belong
    into one slice, as in decouple --method slicing: what they reveal about each other stays known.
    """
    from sfumato.tasks.utility import correlations as task

    if draw is not None:
        refuse_existing(draw, force=force, private="the drawing")
    with progress_bar("Measuring pairs of columns", quiet=json):
        found = task(
            what,
            quasi_identifiers=None if qi is None else split_names(qi),
            sensitive=None if sensitive is None else split_names(sensitive),
            policy=policy,
            measure=measure,
        )
    if draw is not None:
        write_text(draw, found.svg(), force=force, private="the drawing")
        note(f"Written: {clean(draw)}")
    finish(found, json=json)
