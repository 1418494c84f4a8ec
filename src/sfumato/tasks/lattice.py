"""Lattice: every generalisation a policy allows for a table, judged one by one."""

import secrets
from collections.abc import Sequence
from functools import partial

import numpy as np

from sfumato.attacks import ATTACKS, ClassAttack, Target
from sfumato.attacks.adversary.target import with_promised
from sfumato.classes import EquivalenceClasses
from sfumato.counts import FrequencySet
from sfumato.errors import InputError, ParameterError, UnknownNameError, require_int
from sfumato.policy import GivenPolicy, Policy, policy_of
from sfumato.recode.deciding import count_population
from sfumato.recode.lattice import MOST_NODES, AttackedClasses, JudgedLattice, judge_lattice
from sfumato.releases.manifest import Promise
from sfumato.releases.subject import Subject
from sfumato.typing import Progress, silent


def lattice(
    data: object,
    policy: GivenPolicy,
    *,
    subsets: bool = False,
    most: int = MOST_NODES,
    seed: int | None = None,
    attack: str | None = None,
    progress: Progress | None = None,
) -> JudgedLattice:
    """Judge every choice of levels: which keep the promises, which are minimal, what each costs.

    A node is the level of each quasi-identifier. Every node that the policy allows is judged by
    itself, whatever its search would leave out; the node that the search takes is marked.

    Promises: exact figures for every node. Does not promise that any of it may be published: which
    nodes are valid depends on all raw values, those of suppressed people too.

    Args:
        data: A path (CSV, Parquet, SPSS, Excel …), a pandas, Polars or Arrow table, or a table of a
            database, as `sf.anonymize` takes it.
        policy: A policy, its path, or its settings as a mapping.
        subsets: Judge the lattices of single columns, pairs and so on as well, and show which of
            their nodes Incognito looks at.
        most: The nodes that are judged at most; a larger lattice is refused.
        seed: Fixes who stays where a model leaves that to chance, so that two looks at a lattice
            are alike. Without one every look draws by itself, as every release does.
        attack: The name of an attack on a sensitive column by class, such as `similarity`: the
            table of every minimal node is attacked, and the share of them that suffer is given.
            What is alike is what the models' categories and the column's hierarchy say.
        progress: Told how far each stage is.

    Example:
        >>> import sfumato as sf
        >>> table, policy = sf.samples.table("incognito"), sf.samples.policy_path("incognito")
        >>> found = sf.tools.lattice(table, policy)
        >>> found
        <JudgedLattice 9 of 18 nodes are valid and 2 of them minimal; chosen is zipcode 1,
        marital_status 1, gender 0>
        >>> found.minimal
        ((0, 2, 1), (1, 1, 0))
        >>> found[1, 1, 0].suppressed, found[0, 0, 0].valid
        (3, False)
    """
    require_int("most", most, at_least=1)
    if seed is not None:
        require_int("seed", seed, at_least=0)
    kind = None if attack is None else _class_attack(attack)
    report = progress or silent
    if policy is None:
        raise ParameterError("policy", None, "given", why="it has the hierarchies and the models")
    subject = Subject.open(data, policy_of(policy))
    rng = np.random.default_rng(secrets.randbits(128) if seed is None else seed)
    counts, rules, lost = subject.count(rng, report, nothing="no node to judge")
    population = count_population(rules, report)
    tried = None if kind is None else partial(_attack, _instances(kind, rules, counts))
    return judge_lattice(
        rules,
        counts,
        population,
        subsets=subsets,
        most=most,
        rng=rng,
        report=report,
        lost=lost,
        attack=tried,
    )


def _class_attack(name: str) -> type[ClassAttack]:
    known = {name: kind for name, kind in ATTACKS.items() if issubclass(kind, ClassAttack)}
    if name not in known:
        raise UnknownNameError("attack on a sensitive column by class", name, sorted(known))
    return known[name]


def _instances(
    kind: type[ClassAttack], policy: Policy, counts: FrequencySet
) -> tuple[ClassAttack, ...]:
    """Return the attacks of a kind that are worth trying on any generalisation of a table."""
    sensitive = tuple(name for name in policy.sensitive if name in counts.names)
    ladders = {}
    for name in sensitive:
        builder = policy.columns[name].hierarchy
        if builder is not None:
            values = counts.column(name).values
            ladders[name] = builder.ladder(name, values, counts.value_counts(name).tolist())
    target = Target.of_table(counts, policy.quasi_identifiers, sensitive, ladders)
    target = with_promised(target, [Promise.of(model) for model in policy.models])
    found = tuple(kind.against(target, policy.verdict.rule(policy.risk_levels)))
    if not found:
        raise InputError(f"{kind.name} cannot be tried on this table: {kind.why_not(target)}.")
    return found


def _attack(
    tried: Sequence[ClassAttack], classes: EquivalenceClasses
) -> tuple[AttackedClasses, ...]:
    findings = [(each, each.run(classes)) for each in tried]
    return tuple(AttackedClasses(str(each), one.classes, one.rows) for each, one in findings)
