"""Detect: what a published table still tells about people."""

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any

import numpy as np

from sfumato.bayes import LEARNERS, Learner
from sfumato.broken import Broken
from sfumato.checks import require_int, require_number
from sfumato.engines import open_table
from sfumato.errors import ParameterError
from sfumato.leaks import Findings, RiskLevels
from sfumato.leaks.consistent import random_table
from sfumato.leaks.learning import Progress, fit_columns, learn_networks
from sfumato.policy import Policy
from sfumato.tasks.broken_tables import parts_of
from sfumato.tasks.subject import Subject, risk_levels_of, subject_of
from sfumato.typing import silent

DEFAULT_SUPPORT = 5
"""Fewest rows behind a rule where no k is promised."""


def detect(  # noqa: PLR0913 - all but one have a default and are named
    data: object,
    *,
    quasi_identifiers: Sequence[str] | None = None,
    sensitive: Sequence[str] | None = None,
    policy: Policy | str | PathLike[str] | None = None,
    alpha: float = 0.5,
    learner: str | Learner = "ic",
    support: int | None = None,
    levels: RiskLevels | None = None,
    prior: float = 0.0,
    progress: Progress | None = None,
) -> Findings:
    """Learn Bayesian networks on a table and report the rules an adversary can use.

    Give a release, or any table with its roles: by a policy, or column by column.

    Promises: every figure is a fact of the rows that are given; nothing is drawn at random. Of
    a decoupled release there are no rows: it is looked at as one of the tables that fit it,
    always the same one, dealt out by chance. Does not promise that there are no other leaks;
    see `Findings`.

    Args:
        data: A release, its folder, or a table: a path (CSV, Parquet, Feather), pandas,
            Polars, Arrow.
        quasi_identifiers: The columns others may know; a release knows its own.
        sensitive: The columns nobody should learn about a person.
        policy: Where the roles come from if they are not named.
        alpha: What a probability must exceed to be reported; above 0, below 1.
        learner: How the structure is learned; see `sf.bayes.LEARNERS`.
        support: Fewest rows behind a rule; None takes the k that is promised, else 5.
        levels: The risk levels; None takes the policy's, else low, moderate from 0.2, high
            from 0.5 and very high from 0.75.
        prior: Added to every cell of a table; 0 gives plain shares, which is what an
            adversary sees, 0.5 smooths.
        progress: Told how far each stage is.

    Example:
        >>> import pyarrow as pa
        >>> ages = ["30-50"] * 5 + ["51-90"] * 5
        >>> work = ["State", "State", "Private", "Private", "Self"] * 2
        >>> wed = ["single"] * 5 + ["married"] * 5
        >>> table = pa.table({"age": ages, "work": work, "marital": wed})
        >>> findings = detect(table, quasi_identifiers=["age"], sensitive=["work", "marital"])
        >>> print(findings.leaks[0])
        age → marital: up to 100% (very high), 10 people
    """
    report = progress or silent
    require_number("alpha", alpha, above=0)
    if alpha >= 1:
        raise ParameterError("alpha", alpha, "below 1", why="no probability exceeds 1")
    require_number("prior", prior, at_least=0)
    if support is not None:
        require_int("support", support, at_least=1)
    parts = parts_of(data)
    if parts is not None:
        subject = _of_parts(*parts, sensitive)
        counts = random_table(parts[0], np.random.default_rng(0)).project(subject.columns)
    else:
        subject = subject_of(data, quasi_identifiers, sensitive, policy)
        counts = open_table(subject.data).count(
            subject.columns, progress=lambda done, total: report("count", done, total)
        )
    fit = fit_columns(counts, subject.quasi_identifiers, subject.sensitive)
    learn = LEARNERS[learner]() if isinstance(learner, str) else learner
    return Findings(
        counts=counts,
        quasi_identifiers=subject.quasi_identifiers,
        sensitive=subject.sensitive,
        networks=learn_networks(counts, fit, learn, report),
        alpha=alpha,
        support=support or subject.k or DEFAULT_SUPPORT,
        levels=levels or risk_levels_of(subject.policy, subject.manifest),
        prior=prior,
        notes=fit.notes,
    )


def _of_parts(
    broken: Broken, manifest: Mapping[str, Any], sensitive: Sequence[str] | None
) -> Subject:
    """Take the roles from a decoupled release."""
    names = broken.names if sensitive is None else tuple(sensitive)
    ks = [int(model["k"]) for model in manifest.get("models", []) if "k" in model]
    return Subject(
        broken,
        tuple(column.name for column in broken.quasi_identifiers),
        names,
        max(ks, default=None),
        manifest,
    )
