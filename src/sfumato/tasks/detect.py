"""Detect: what a published table still tells about people."""

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.attacks.adversary.target import secrecy_of
from sfumato.counts import FrequencySet
from sfumato.decouplings.base import file_names
from sfumato.errors import (
    InputError,
    ParameterError,
    PolicyError,
    UnknownColumnError,
    names_in,
    require_int,
    require_number,
)
from sfumato.files import refuse_release, write_file, write_folder
from sfumato.leaks import Findings, RiskLevels
from sfumato.leaks.exposure import random_table
from sfumato.leaks.findings import (
    ALL,
    KNOWN,
    TOLD,
    Fit,
    fit_columns,
    learn_networks,
    parts_of,
)
from sfumato.leaks.rules import PeopleRows
from sfumato.networks import (
    LEARNERS,
    ConditionalTable,
    Learner,
    Network,
    given_network,
    to_bif,
    to_dot,
    to_graphml,
)
from sfumato.networks.given import Given
from sfumato.policy import DetectionRule, GivenPolicy
from sfumato.policy.parts import member_settings
from sfumato.releases.drawn import require_rows_of_people
from sfumato.releases.opening import Published, PublishedTable, open_release
from sfumato.showing.heatmap import MOST_ROWS, heatmap_svg
from sfumato.showing.network import network_svg
from sfumato.text import join_words, text_of
from sfumato.typing import Progress, Value, silent

DEFAULT_SUPPORT = 5
"""Fewest rows behind a rule where no k is promised."""


def detect(  # noqa: PLR0913 - all but one have a default and are named
    data: object,
    *,
    quasi_identifiers: Sequence[str] | None = None,
    sensitive: Sequence[str] | None = None,
    policy: GivenPolicy | None = None,
    alpha: float = 0.5,
    learner: str | Mapping[str, Any] | Learner | None = None,
    network: Given | None = None,
    order: Sequence[str] | None = None,
    support: int | None = None,
    levels: RiskLevels | None = None,
    prior: float | None = None,
    people_file: object = None,
    progress: Progress | None = None,
) -> Findings:
    """Learn Bayesian networks on a table and report the rules and facts an adversary can use.

    Give a release, or any table with its roles: by a policy, or column by column. Rules are
    learned and need support; facts about sensitive values are counted exactly, and need none.
    Who knows better than a learner what depends on what gives the network instead; its tables
    are counted from the rows all the same. What is not said is taken from the policy's `detect`.

    Promises: every figure is a fact of the rows that are given; nothing is drawn at random. Of
    a decoupled release there are no rows: it is looked at as one of the tables that fit it,
    always the same one, dealt out by chance. Does not promise that there are no other leaks;
    see `Findings`.

    Args:
        data: A release, its folder, or a table: a path (CSV, Parquet, SPSS, Excel …), pandas,
            Polars, Arrow.
        quasi_identifiers: The columns others may know; a release knows its own.
        sensitive: The columns that should not become known of a person.
        policy: Where the roles come from if they are not named.
        alpha: What a probability must exceed to be reported; above 0, below 1.
        learner: How the structure is learned: a name of `sf.networks.LEARNERS`, a mapping of the
            name and its settings, `{"learner": "weka-ics", "most_given": 0}`, or a learner. What
            is left out is the policy's, else `ic`.
        network: A network instead of a learned one, over all columns: a BIF file, arrows as
            text, `"age -> zip, zip -> sex"`, a list of arrows or pairs, or a `Network`. Columns
            that it does not name depend on nothing.
        order: Columns that come first, in this order, for learners that depend on it; then the
            quasi-identifiers and the sensitive columns, as they are named.
        support: Fewest rows behind a rule; None takes the k that is promised, else 5.
        levels: The risk levels; None takes the policy's, else low, moderate from 0.2, high
            from 0.5 and very high from 0.75.
        prior: Added to every cell of a table; 0 gives plain shares, which is what an
            adversary sees, 0.5 smooths. Also which rules *hold* is decided on such tables; who
            is exposed is counted without it.
        people_file: The people file of a release that counts people; None takes the people that a
            release has when it was just made. Rules and facts then count people, every one once.
            Without it rows are counted, and a note says so.
        progress: Told how far each stage is.

    Example:
        >>> import pyarrow as pa
        >>> ages = ["30 to 50"] * 5 + ["51 to 90"] * 5
        >>> work = ["State", "State", "Private", "Private", "Self"] * 2
        >>> wed = ["single"] * 5 + ["married"] * 5
        >>> table = pa.table({"age": ages, "work": work, "marital": wed})
        >>> findings = detect(table, quasi_identifiers=["age"], sensitive=["work", "marital"])
        >>> print(findings.leaks[0])
        age → marital: up to 100 % (very high), 10 people
    """
    report = progress or silent
    require_number("alpha", alpha, above=0)
    if alpha >= 1:
        raise ParameterError("alpha", alpha, "below 1", why="no probability exceeds 1")
    if prior is not None:
        require_number("prior", prior, at_least=0)
    if support is not None:
        require_int("support", support, at_least=1)
    release = open_release(
        data,
        policy,
        quasi_identifiers=quasi_identifiers,
        sensitive=sensitive,
        people_file=people_file,
    )
    require_rows_of_people(release, "about whom rules and facts would tell something")
    asked = DetectionRule() if release.policy is None else release.policy.detect
    if network is None and learner is None:
        network, learner = asked.network, asked.learner
    elif network is not None and learner is not None:
        why = "a network that is given is not learned"
        raise ParameterError("learner", learner, "left out beside a network", why=why)
    learn = _learner("ic" if learner is None else learner, asked)
    given = None if network is None else given_network(network, release.columns)
    first = _columns_first(asked.order if order is None else order, release.columns)
    whose = _people_in(release)
    if whose is not None:
        counts = whose.counts.project(release.columns)
    elif release.kind.in_one_piece:
        counts = release.table.count(
            release.columns, progress=lambda done, total: report("count", done, total)
        ).fold(release.folded)
        counts = release.without_general_stars(counts)
    else:
        groups = release.groups.fold(release.folded)
        counts = random_table(groups, np.random.default_rng(0)).project(release.columns)
    named = () if given is None else tuple(name for edge in given.network.edges for name in edge)
    fit = fit_columns(counts, release.quasi_identifiers, release.sensitive, keep=named)
    fit = fit.in_order(first)
    if given is None:
        networks, notes = learn_networks(_samples(counts, whose), fit, learn, report), fit.notes
    else:
        networks, notes = parts_of(given.network, fit), (*fit.notes, _given_note(fit, named))
    if release.counts_people:
        notes = (*notes, _ROWS_COUNTED if whose is None else _PEOPLE_COUNTED)
    return Findings(
        counts=counts,
        quasi_identifiers=release.quasi_identifiers,
        sensitive=release.sensitive,
        networks=networks,
        alpha=alpha,
        support=support or release.k or DEFAULT_SUPPORT,
        levels=levels or release.risk_levels,
        prior=asked.prior if prior is None else float(prior),
        notes=notes,
        secrecy=secrecy_of(
            release.policy, {name: counts.column(name).known for name in release.sensitive}
        ),
        dealt=not release.kind.in_one_piece,
        learner=None if given is not None else member_settings(learn, "learner"),
        belief=None if given is None else given.belief,
        whose=whose,
    )


_PEOPLE_COUNTED = (
    "people have several rows here. Rules and facts count people, every one once; networks are "
    "learned from rows, of which a person's equal ones count once, and their tables count rows"
)

_ROWS_COUNTED = (
    "people have several rows here, and everything is counted in rows, for nothing says whose they "
    "are: fewer people may be meant. Give the people file (people_file=, --people-file)"
)


def _people_in(release: Published) -> PeopleRows | None:
    """Return the rows of people who may have several, if anything says whose they are."""
    people = release.people if isinstance(release, PublishedTable) else None
    if people is None or not isinstance(release, PublishedTable) or release.person is None:
        return None
    counts = people.fold(release.folded).project((*release.columns, release.person))
    return PeopleRows(counts, release.person, release.quasi_identifiers)


def _samples(counts: FrequencySet, whose: PeopleRows | None) -> FrequencySet:
    """Return what is learned from: rows, of which a person's equal ones count once."""
    if whose is None:
        return counts
    once = whose.counts
    return FrequencySet(once.columns, once.codes, np.ones_like(once.rows)).project(counts.names)


def _learner(wanted: str | Mapping[str, Any] | Learner, asked: DetectionRule) -> Learner:
    if isinstance(wanted, str):
        return LEARNERS[wanted]()
    if isinstance(wanted, Mapping) and "learner" not in wanted:
        # Other settings of the one that the policy asks for.
        usual = asked.learner or LEARNERS["ic"]()
        wanted = {**member_settings(usual, "learner"), **wanted}
    try:
        made = DetectionRule(learner=wanted).learner
    except PolicyError as error:
        raise InputError("; ".join(f"learner: {text}" for _, text in error.faults)) from None
    assert made is not None  # noqa: S101 - only nothing is read as none
    return made


def _columns_first(order: Sequence[str], columns: Sequence[str]) -> tuple[str, ...]:
    names = names_in("order", order)
    for name in names:
        if name not in columns:
            raise UnknownColumnError(name, columns, where="the columns that are looked at")
    return names


def _given_note(fit: Fit, named: Collection[str]) -> str:
    alone = [name for name in fit.everything if name not in named]
    note = "the network was given, not learned: rules are looked for along its arrows only"
    if not alone:
        return note
    return f"{note}, and {join_words(alone, most=10)} {'is' if len(alone) == 1 else 'are'} in none"


# Writing findings as pictures, and networks as files other programs read.


_TITLES = {
    KNOWN: "Dependencies among quasi-identifiers",
    TOLD: "Dependencies among sensitive columns",
    ALL: "Dependencies among all columns",
}
_MOST_NAMES = 5
"""Parents that the name of a file has."""

_MOST_NAME = 30
"""Characters of a column that the name of a file has."""


def draw_findings(findings: Findings, folder: str | Path) -> list[Path]:
    """Draw every network, with the rules above alpha marked, and every table of theirs.

    Files are called after what they show: `network-all.svg`, `table-ill-given-age.svg`.

    Args:
        findings: What was found.
        folder: Where to write; made if it is not there. Files of the same name are replaced.
    """
    target = Path(folder)
    refuse_release(target / "network.svg", "the drawing")
    drawn = {f"network-{name}.svg": svg for name, svg in draw_networks(findings).items()}
    tables = [table for _, table in findings.dependencies]
    names = file_names([_what(each.child.name, each.names) for each in tables], "table-", most=120)
    for name, table in zip(names, tables, strict=True):
        drawn[f"{name}.svg"] = table_svg(table, findings.alpha)
    return write_folder(target, drawn, private="the drawing")


def draw_networks(findings: Findings) -> dict[str, str]:
    """Return the drawing of every network, with the rules above alpha marked."""
    return {name: _network(findings, name, network) for name, network in findings.networks.items()}


def _what(child: str, parents: Sequence[str]) -> str:
    """Return the name of a table: what is told, and what is known."""
    shown = [name[:_MOST_NAME] for name in parents[:_MOST_NAMES]]
    more = [f"{len(parents) - len(shown)}-more"] if len(parents) > len(shown) else []
    return f"{child[:_MOST_NAME]}-given-{'-'.join([*shown, *more])}"


def _network(findings: Findings, name: str, network: Network) -> str:
    groups = dict.fromkeys(findings.quasi_identifiers, "quasi-identifier")
    groups |= dict.fromkeys(findings.sensitive, "sensitive")
    return network_svg(
        network,
        marked=marked_edges(findings, network),
        groups={column: groups[column] for column in network.columns},
        title=_TITLES[name] + (" (given)" if findings.learner is None else ""),
    )


def marked_edges(findings: Findings, network: Network) -> dict[tuple[str, str], float]:
    """Return the edges that carry a rule above alpha, and how strong its strongest entry is."""
    marked: dict[tuple[str, str], float] = {}
    for rule in findings.rules:
        for column in rule.known:
            for edge in ((column.name, rule.told.name), (rule.told.name, column.name)):
                if edge in network.edges:
                    marked[edge] = max(marked.get(edge, 0.0), rule.strongest)
    return marked


def table_svg(table: ConditionalTable, alpha: float) -> str:
    """Draw a table as a heat map: what is known down the side, what is told across."""
    order = np.argsort(-table.support, kind="stable")
    rows, others = order[:MOST_ROWS], order[MOST_ROWS:]
    with_mark = np.isin(others, table.combination[table.probability > alpha]).sum()
    told = table.child.values
    probabilities = np.repeat(table.rest[rows, None], len(told), axis=1)
    for at, row in enumerate(rows.tolist()):
        entries = slice(table.starts[row], table.starts[row + 1])
        probabilities[at, table.value[entries]] = table.probability[entries]
    labels = [
        [
            _text(parent.values[code])
            for parent, code in zip(table.parents, table.combinations[:, row], strict=True)
        ]
        for row in rows.tolist()
    ]
    return heatmap_svg(
        labels,
        list(map(_text, told)),
        probabilities,
        title=f"{table.child.name}, given {', '.join(table.names)}",
        support=table.support[rows].tolist(),
        mark_above=alpha,
        parts=table.names,
        more=(len(others), int(with_mark)),
    )


def _text(value: Value) -> str:
    return "(missing)" if value is None else text_of(value)


def export_network(findings: Findings, path: str | Path, *, which: str = "all") -> Path:
    """Write a network as BIF, GraphML or DOT, by the ending of the file's name.

    Args:
        findings: What was found.
        path: The file to write: `.bif`, `.graphml` or `.dot`.
        which: Which network: quasi-identifiers, sensitive or all.
    """
    target = Path(path)
    network = findings.networks[which]
    writers: Mapping[str, Callable[[], str]] = {
        ".bif": lambda: to_bif(network, findings.tables[which]),
        ".graphml": lambda: to_graphml(network),
        ".dot": lambda: to_dot(network),
    }
    if target.suffix not in writers:
        raise ParameterError("export", target.name, f"a file that ends in {', '.join(writers)}")
    text = writers[target.suffix]()
    write_file(target, text, private="the network")
    return target
