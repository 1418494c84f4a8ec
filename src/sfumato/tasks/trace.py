"""Trace: top-down local recoding step by step."""

import secrets

import numpy as np

from sfumato.errors import ParameterError, require_int
from sfumato.partition import PARTITIONERS, TopDown
from sfumato.policy import GivenPolicy, Policy, policy_of
from sfumato.releases.subject import Subject
from sfumato.study.trace import Trace, trace_top_down
from sfumato.typing import Progress, silent


def trace(
    data: object,
    policy: GivenPolicy,
    *,
    most: int = 1000,
    seed: int | None = None,
    progress: Progress | None = None,
) -> Trace:
    """Recode a table top-down and show every step: what was specialised, what was sent back.

    The settings of the method come from the policy if it names top-down; under any other policy
    it is run with its defaults.

    Promises: these are the steps by which `sf.anonymize` recodes the table with this method; with
    the same seed they are the same to the last row. Does not promise that any of it may be
    published: it shows single rows and what became of them.

    Args:
        data: A path (CSV, Parquet, SPSS, Excel …), a pandas, Polars or Arrow table, or a table of a
            database, as `sf.anonymize` takes it.
        policy: A policy, its path, or its settings as a mapping.
        most: The specialisations and classes that are written down; of more, the rounds are
            counted.
        seed: Fixes which of rows that are alike are taken back.
        progress: Told how far each stage is.

    Example:
        >>> import sfumato as sf
        >>> categories = [["Cancer", "HIV"], ["Indigestion", "Flu"]]
        >>> enhanced = sf.models.EnhancedPAlphaSensitiveKAnonymity(
        ...     "condition", p=2, alpha=1, k=2, categories=categories
        ... )
        >>> columns = {
        ...     "zipcode": {"role": "quasi-identifier", "hierarchy": "masking"},
        ...     "gender": "dropped",
        ...     "condition": "sensitive",
        ... }
        >>> policy = sf.Policy(columns=columns, models=[enhanced], method="top-down")
        >>> found = sf.tools.trace(sf.samples.table("top-down"), policy, seed=1)
        >>> print(found.steps[-1].sentence)
        Round 5: 7345* (4 rows) on zipcode: 73455 (1 row) fails and is sent back; 73456 (3 rows)
        passes, 1 taken back; 2 rows stay.
        >>> [(each.labels, each.rows) for each in found.classes]
        [(('73456',), 2), (('7345*',), 2)]
    """
    require_int("most", most, at_least=1)
    if seed is not None:
        require_int("seed", seed, at_least=0)
    if policy is None:
        raise ParameterError("policy", None, "given", why="it has the hierarchies and the models")
    report = progress or silent
    rules, method = _top_down(policy_of(policy))
    rng = np.random.default_rng(secrets.randbits(128) if seed is None else seed)
    subject = Subject.open(data, rules)
    counts, rules, lost = subject.count(rng, report, nothing="nothing to recode")
    return trace_top_down(rules, method, counts, rng=rng, most=most, report=report, lost=lost)


def _top_down(policy: Policy) -> tuple[Policy, TopDown]:
    """Return the policy with top-down as its method, and the method."""
    found = policy.make_method(PARTITIONERS)
    if isinstance(found, TopDown):
        return policy, found
    return policy.with_method(TopDown.name), TopDown()
