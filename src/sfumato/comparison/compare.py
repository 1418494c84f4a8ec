"""Compare: what policies, methods and parameters cost, and what they leave at risk."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from sfumato.attacks.adversary.trial import (
    AT_RISK,
    BELIEF,
    GAIN,
    PROSECUTOR,
    Trial,
    columns_to_count,
)
from sfumato.comparison.drawn import DREW, try_drawn
from sfumato.comparison.frontier import Comparison, require_risk
from sfumato.comparison.trial import ASKED, QUERY_ERROR, ComparedTable, find_bindings, try_all
from sfumato.comparison.variations import name_policies
from sfumato.counts import FrequencySet
from sfumato.decouplings import DECOUPLINGS
from sfumato.derivations import Preparation
from sfumato.errors import (
    InputError,
    ParameterError,
    PolicyError,
    UnknownNameError,
    require_int,
    require_number,
)
from sfumato.files.reading import TextFile
from sfumato.losses import LOSSES, NormalizedLoss
from sfumato.policy import GivenPolicy, Policy
from sfumato.recode.workshop import Workshop
from sfumato.releases.preparing import prepare_alike
from sfumato.releases.subject import Subject, needs_single_rows
from sfumato.tables import Table, count_people
from sfumato.typing import Progress, silent
from sfumato.usefulness.measure import CLASSIFIER_ERROR, require_trees


def compare(  # noqa: PLR0913 - all but two have a default and are named
    data: object,
    policies: GivenPolicy | Mapping[str, GivenPolicy] | Sequence[GivenPolicy],
    *,
    vary: Mapping[str, Iterable[object]] | None = None,
    risk: str | None = None,
    loss: str | Sequence[str] | None = None,
    threshold: float | None = None,
    parallel: int | None = None,
    seed: int = 0,
    epsilon: float | Sequence[float] = (),
    delta: float | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """Try policies on a table, and say what each would lose and what it would leave at risk.

    The table is counted once. On the counts each policy is decided as `sf.anonymize` decides it,
    or `sf.decouple` where it says so, and what would be published is attacked as `sf.verify`
    attacks it, with nothing but the release. Nothing is published. A policy that no release keeps
    is a point with its reason, and the others are tried all the same. Where policies come out the
    same, it is said which promise keeps them from getting finer.

    The main risk is the share of people at risk: a single class of two that happens to be
    alike makes the strongest belief 100 % under almost every policy, and does not tell a good
    one from a bad one. How many people such classes hold does, and it is what speaks against
    publishing.

    Does not promise: that the best of those that were tried is the best there is; nor figures of
    another draw where rows that a local method took for alike go to different classes and differ
    in a sensitive column that no model protects.

    Args:
        data: A path (CSV, Parquet, SPSS, Excel …) or a pandas, Polars or Arrow table.
        policies: A policy, its path or its settings as a mapping; a list of them, or names for
            them.
        vary: Settings to vary, each with a list of values, in every combination: a parameter of
            the models such as k, l, alpha or t (of every model that has it), `method`,
            `suppression`, and if the policy says `decouple`, that too and its settings.
        risk: What the front is about: at-risk, belief, gain, prosecutor or mean. None takes
            at-risk, and prosecutor where nothing is sensitive. See `Comparison.by`.
        loss: What it is weighed against: a name from `sf.losses.LOSSES`; `query-error`, the mean
            relative error of counting queries; `table-error`, the mean total variation of two- and
            three-way tables; `classifier-error`, what a decision tree for the sensitive columns
            does not learn any more; or what an analyst loses who computes with numbers: mean-error,
            variance-error, quantile-error, pearson-error, regression-error, distinguishability
            (see `sf.utility`). None takes normalized-loss; and query-error where a policy decouples
            without generalising. Of several all are measured, and the first is weighed against the
            risk: `Comparison.by` shows the others.
        threshold: Probability from which a person is at risk; None takes the lowest of all
            policies.
        parallel: How many policies are tried at a time; None takes as many as there are
            processors if that pays. The result is the same.
        seed: Fixes which of rows that were alike to a decision go to which class.
        epsilon: A budget of synthetic rows, or several, that stand beside the policies, drawn from
            the domains of the first one (see `sf.synthesize`). They have no normalized loss: weigh
            them by query-error or by what an analyst computes.
        delta: The delta of these budgets; None for pure ones.
        progress: Told how far each stage is.

    Example:
        >>> import pyarrow as pa
        >>> import sfumato as sf
        >>> ages, ills = [31, 32, 38, 39, 47, 48], ["flu", "flu", "gout", "hiv", "flu", "gout"]
        >>> table = pa.table({"age": ages, "ill": ills})
        >>> decades = sf.hierarchy.Intervals([5, 10])
        >>> policy = sf.Policy(
        ...     columns={
        ...         "age": {"role": "quasi-identifier", "hierarchy": decades}, "ill": "sensitive",
        ...     },
        ...     models=[sf.models.KAnonymity(2)],
        ... )
        >>> found = sf.compare(table, policy, vary={"k": [2, 3, 9]})
        >>> [(point.name, point.risks["at-risk"]) for point in found.front]
        [('k=2', 0.3333333333333333), ('k=3', 0.0)]
        >>> found["k=9"].possible, found["k=3"].policy.models
        (False, (KAnonymity(k=3),))
    """
    report = progress or silent
    require_int("seed", seed, at_least=0)
    if parallel is not None:
        require_int("parallel", parallel, at_least=1)
    budgets = (epsilon,) if isinstance(epsilon, int | float) else tuple(epsilon)
    for each in budgets:
        require_number("epsilon", each, above=0, at_most=100)
    if threshold is not None:
        require_number("threshold", threshold, above=0, at_most=1)
    named = name_policies(policies, vary)
    table = prepare_alike(data, [*named.values()])
    for name, policy in named.items():
        _check(name if len(named) > 1 else "", policy, table)
    main, losses = choose_risk(risk, named), choose_losses(loss, named)
    counts = table.count(
        columns_of(named.values(), table.columns),
        progress=lambda done, total: report("count", done, total),
    )
    if counts.total == 0:
        raise InputError(
            "the table has no rows: there is no person to protect and nothing to compare"
        )
    if threshold is None:
        threshold = min(p.verdict.rule(p.risk_levels).very_high for p in named.values())
    tried = ComparedTable(
        counts,
        tuple(table.columns),
        count_populations(named, report),
        seed,
        threshold=threshold,
        asks=tuple(each for each in losses if each in ASKED),
        maker=Workshop(),
    )
    drawn: tuple[Trial, ...] = ()
    if budgets:
        drawn = try_drawn(
            data,
            next(iter(named.values())),
            tried,
            budgets,
            delta=delta,
            report=report,
        )
    found = compare_counted(
        named,
        tried,
        risk=main,
        loss=losses[0],
        parallel=parallel,
        report=report,
        warnings=(DREW,) if drawn else (),
    )
    return replace(found, points=(*found.points, *drawn))


def compare_counted(
    named: Mapping[str, Policy],
    tried: ComparedTable,
    *,
    risk: str,
    loss: str,
    parallel: int | None,
    report: Progress,
    warnings: Sequence[str] = (),
) -> Comparison:
    """Try policies on a table that is counted; see `compare`.

    Args:
        named: The policies by name.
        tried: The table.
        risk: What the front is about.
        loss: What it is weighed against.
        parallel: How many policies are tried at a time; None for as many as pays.
        report: Told how far it is.
        warnings: What to beware of besides.
    """
    report("comparing policies", 0, len(named))
    points = try_all(
        list(named.items()),
        tried,
        parallel=parallel,
        done=lambda done: report("comparing policies", done, len(named)),
    )
    bindings = find_bindings(
        points, tried, lambda done, total: report("finding which promise binds", done, total)
    )
    beware = (*_warnings(named, loss), *warnings)
    rows, threshold, seed = tried.counts.total, tried.threshold, tried.seed
    return Comparison(points, rows, risk, loss, threshold, seed, beware, bindings)


def choose_risk(risk: str | None, named: Mapping[str, Policy]) -> str:
    """Choose what the front is about, and refuse what no policy could give."""
    sensitive = any(policy.sensitive for policy in named.values())
    if risk is None:
        return AT_RISK if sensitive else PROSECUTOR
    if require_risk(risk) in (AT_RISK, BELIEF, GAIN) and not sensitive:
        raise ParameterError(
            "risk",
            risk,
            "prosecutor or mean",
            why="no policy has a sensitive column, so there is nothing to learn about a person. "
            "Give the role sensitive to what no adversary should learn",
        )
    return risk


def choose_loss(loss: str | None, named: Mapping[str, Policy]) -> str:
    """Choose what the risk is weighed against."""
    if loss is None:
        return QUERY_ERROR if any(map(_loses_elsewhere, named.values())) else NormalizedLoss.name
    if loss not in (*LOSSES, *ASKED):
        raise UnknownNameError("loss", str(loss), [*LOSSES, *ASKED])
    if loss == CLASSIFIER_ERROR:
        # That it is not there is said before anything is tried.
        require_trees()
    return loss


def choose_losses(loss: str | Sequence[str] | None, named: Mapping[str, Policy]) -> tuple[str, ...]:
    """Choose all losses that are measured; the first is what the risk is weighed against."""
    each = (loss,) if loss is None or isinstance(loss, str) else tuple(loss)
    if not each:
        raise ParameterError("loss", loss, "the name of a loss, or several")
    return tuple(dict.fromkeys(choose_loss(one, named) for one in each))


def _loses_elsewhere(policy: Policy) -> bool:
    """Return whether a policy loses something else than the exactness of quasi-identifiers."""
    decoupling = policy.make_decoupling(DECOUPLINGS)
    if decoupling is None:
        return False
    return decoupling.in_one_piece or not decoupling.keeps_classes


def columns_of(policies: Iterable[Policy], columns: Sequence[str]) -> tuple[str, ...]:
    """Return the columns that must be counted to try policies on a table with some columns."""
    return tuple(
        dict.fromkeys(
            column
            for policy in policies
            for column in (*columns_to_count(policy, columns), *_needs(policy))
        )
    )


def _needs(policy: Policy) -> tuple[str, ...]:
    """Return what the decoupling of a policy goes by besides."""
    decoupling = policy.make_decoupling(DECOUPLINGS)
    return () if decoupling is None else decoupling.needs


def _check(name: str, policy: Policy, table: Table) -> None:
    """Check that a policy is one of this table, before anything is tried.

    Args:
        name: What an error calls the policy by; nothing where there is one policy only.
        policy: The policy.
        table: The table.
    """
    try:
        Subject.of(table, policy, alone=needs_single_rows(policy))
    except PolicyError as error:
        raise PolicyError(f"{name}: {error}" if name else str(error), faults=error.faults) from None


def count_populations(
    named: Mapping[str, Policy], report: Progress
) -> dict[str | TextFile, FrequencySet]:
    """Count each population once, over all that some policy recognises people by."""
    wanted: dict[str | TextFile, dict[str, None]] = {}
    prepared: dict[str | TextFile, Preparation] = {}
    for policy in named.values():
        if policy.population_table is not None:
            wanted.setdefault(policy.population_table, {}).update(
                dict.fromkeys(policy.quasi_identifiers)
            )
            # Policies that read dates in different ways are not compared.
            prepared[policy.population_table] = policy.preparation
    return {
        path: count_people(
            path,
            tuple(columns),
            preparation=prepared[path],
            progress=lambda done, total: report("population", done, total),
        )
        for path, columns in wanted.items()
    }


def _warnings(named: Mapping[str, Policy], loss: str) -> tuple[str, ...]:
    """List what makes figures of different policies incomparable."""
    every = list(named.values())
    roles = {(frozenset(p.quasi_identifiers), frozenset(p.sensitive)) for p in every}
    measures = {_measure(policy) for policy in every if not _loses_elsewhere(policy)}
    broken = [name for name, p in named.items() if p.decouple and not _loses_elsewhere(p)]
    found = {
        "the policies do not have the same quasi-identifiers and sensitive columns, so their "
        "losses and risks are about different things": len(roles) > 1,
        "the policies measure the loss with different weights, aggregates or rows (missing: "
        "suppress), so their losses are not comparable": loss not in ASKED and len(measures) > 1,
        f"{', '.join(broken)}: the errors of queries are those before it is decoupled": (
            broken and loss == QUERY_ERROR
        ),
    }
    return tuple(text for text, concerns in found.items() if concerns)


def _measure(policy: Policy) -> object:
    loss = policy.loss if isinstance(policy.loss, NormalizedLoss) else NormalizedLoss()
    weights = frozenset((name, policy.columns[name].weight) for name in policy.quasi_identifiers)
    return loss, weights, policy.missing.value == "suppress"
