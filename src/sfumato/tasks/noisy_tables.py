"""Decoupled tables with noisy counts, of which differential privacy is promised."""

import math
from collections.abc import Sequence
from os import PathLike

from sfumato.decouplings import Decoupling
from sfumato.decouplings.base import read_together
from sfumato.decouplings.break_merge import NO_NOISE_HERE
from sfumato.decouplings.noise import NoiseBudget
from sfumato.errors import InputError, ParameterError, some
from sfumato.releases.noisy import (
    CountedTogether,
    describe_noisy,
    tables_of_noise,
    write_texts,
)
from sfumato.releases.opening import Published, PublishedTable
from sfumato.releases.places import DecoupledTable, Place, UnpublishedRelease
from sfumato.releases.release import DecoupledRelease
from sfumato.schema import Role
from sfumato.synthesis.budget import PrivacyBudget, require_scale
from sfumato.synthesis.levels import PublishedColumn, published_cells
from sfumato.synthesis.mechanisms import count_with_noise
from sfumato.synthesis.opendp import require_extra
from sfumato.tasks.private_source import PrivateSource, secret_generator
from sfumato.tasks.signing import answer_to_sign
from sfumato.text import format_integer
from sfumato.typing import Progress

_MOST_CELLS = 1_000_000
"""No list of noisy counts is longer: each cell is published."""


def noise_of(decoupling: Decoupling, account: object = None) -> NoiseBudget | None:
    """Return the noise that a method is asked for; None if none is, and no account is spent from.

    Args:
        decoupling: The method.
        account: The account of the source, if one is named.
    """
    if decoupling.noise is not None:
        return NoiseBudget.read(decoupling.noise)
    if account is not None:
        why = "without noise nothing is spent. Break-merge takes some: noise: {epsilon: 1}"
        raise ParameterError("account", str(account), "left out", why=why)
    return None


def publish_noisy(
    release: Published,
    decoupling: Decoupling,
    noise: NoiseBudget,
    place: Place,
    output: object,
    *,
    account: str | PathLike[str] | None,
    seed: int | None,
    report: Progress,
) -> DecoupledRelease:
    """Publish decoupled tables of noisy counts; see `sf.decouple`.

    Everything that can be wrong is found before anything is spent.

    Args:
        release: What is decoupled: a table of people and no release.
        decoupling: How, with what stays together.
        noise: What may be spent.
        place: Where the tables go.
        output: The same, as it was given.
        account: The account of the source, if it has one.
        seed: None: noise that can be drawn again protects no one.
        report: Told how far each stage is.
    """
    policy = release.policy
    if not release.is_plain or not isinstance(release, PublishedTable) or seed is not None:
        raise InputError(NO_NOISE_HERE)
    if policy is None:
        why = "nothing else says which values there can be: noise hides who is there in those alone"
        raise ParameterError("policy", None, "given where counts get noise", why=why)
    if place.table is not None:
        raise ParameterError("output", output, "a folder", why="noise is added in memory")
    if release.named.quasi_identifiers is not None or release.named.sensitive is not None:
        why = "where counts get noise, the policy says it"
        raise ParameterError("quasi_identifiers", "columns", "left out", why=why)
    require_extra()
    source = PrivateSource.open(
        release.given,
        policy,
        output,
        unit=noise.unit,
        contributions=noise.contributions,
        account=account,
    )
    together = read_together(decoupling.together)
    counted = _counted_together(source, together)
    place.require_room(source.table)
    # Importing OpenDP takes seconds: what can be wrong was found before.
    budget = PrivacyBudget.of(noise.epsilon, noise.delta, noise.rho)
    require_scale(budget, len(counted.tables), noise.contributions)
    cells = published_cells(source.count(report), _in_order(source, counted))
    source.spend(budget, decoupling.name)
    report("noise", 0, None)
    noisy = count_with_noise(cells, counted.cliques, budget, contributions=noise.contributions)
    parts = tables_of_noise(counted, noisy, secret_generator())
    if not parts.grouped.total:
        raise InputError(
            "noise leaves no one: the table is too small for this budget. What was spent is spent."
        )
    manifest = describe_noisy(
        policy,
        source.roles,
        counted,
        noisy,
        parts,
        budget,
        together=together,
        unit=source.kind,
        contributions=noise.contributions,
    )
    placed = place.publish(
        UnpublishedRelease(
            [DecoupledTable(part, {}) for part in parts.tables],
            manifest,
            report,
            companions=lambda manifest: write_texts(parts, manifest),
            answer=lambda placed: answer_to_sign(
                DecoupledRelease.of(placed, parts.grouped, (), policy=policy),
                even_so=place.even_so,
            ),
            explained=isinstance(place.even_so, str),
        ),
        source.table,
    )
    return DecoupledRelease.of(
        placed, parts.grouped, (), private_notes=tuple(source.table.notes), policy=policy
    )


def _counted_together(
    source: PrivateSource, together: Sequence[tuple[str, ...]]
) -> CountedTogether:
    """Return which columns are counted together; raise if they cannot be."""
    policy = source.policy
    for step in source.steps:
        text = (
            f"makes {some(step.made)} of published columns, and tables that are apart have no rows "
            "to make it in. Leave it out, or give what it makes the role dropped."
        )
        raise policy.error_at("derive", policy.derive.index(step), text=text)
    columns = {
        each.name: PublishedColumn.at_level(policy, each)
        if source.roles[each.name] is Role.QUASI_IDENTIFIER
        else PublishedColumn.of(each)
        for each in source.domain.columns
    }
    joined = {name for names in together for name in names}
    plain = [n for n in columns if source.roles[n] is Role.PLAIN and n not in joined]
    if plain:
        text = (
            "is plain, and would be published as it is. Give it the role sensitive, so that it is "
            "counted by group, or dropped, or let it stay together with a sensitive column."
        )
        raise policy.error_at("columns", plain[0], text=text)
    known = tuple(c for n, c in columns.items() if source.roles[n] is Role.QUASI_IDENTIFIER)
    secret = [n for n in columns if source.roles[n] is Role.SENSITIVE and n not in joined]
    for role, found in (("quasi-identifier", known), ("sensitive", [*secret, *joined])):
        if not found:
            text = f"no column is {role}, and decoupling parts what others may know from the rest"
            raise policy.error_at("columns", text=text)
    units = (*((name,) for name in secret), *together)
    made = CountedTogether(known, tuple(tuple(columns[n] for n in names) for names in units))
    for names in made.tables:
        cells = math.prod(each.size for each in names)
        if cells > _MOST_CELLS:
            sizes = ", ".join(f"{each.name!r} {format_integer(each.size)}" for each in names)
            raise InputError(
                f"{format_integer(cells)} cells would be counted with noise ({sizes}), more than "
                f"{format_integer(_MOST_CELLS)}. Take wider ones: fewer cuts of a domain, a higher "
                "level of a hierarchy, or fewer columns."
            )
    return made


def _in_order(source: PrivateSource, counted: CountedTogether) -> list[PublishedColumn]:
    """Return the columns in the order of the domain."""
    by_name = {each.name: each for each in counted.columns}
    return [by_name[name] for name in source.domain.names]
