"""The hierarchies a release was made with, for those who read its labels."""

from collections.abc import Sequence

from sfumato.counts import FrequencySet
from sfumato.hierarchy import Ladder
from sfumato.policy import Missing, Policy
from sfumato.tasks.problem import ladder_of, without_missing


def ladders_of(
    policy: Policy | None, counts: FrequencySet, quasi_identifiers: Sequence[str]
) -> dict[str, Ladder]:
    """Build the hierarchies as they were built for the release.

    Args:
        policy: The policy it was made with.
        counts: The original table.
        quasi_identifiers: The columns that others may know.

    Example:
        >>> counts = FrequencySet.from_rows(["age"], [(31,), (38,)])
        >>> rule = {"role": "quasi-identifier", "hierarchy": {"kind": "intervals", "widths": [5]}}
        >>> policy = Policy(columns={"age": rule}, models=[{"model": "k-anonymity", "k": 2}])
        >>> ladders_of(policy, counts, ["age"])["age"].labels[1]
        ('30-34', '35-39')
    """
    if policy is None:
        return {}
    if policy.missing is Missing.SUPPRESS:
        counts, _ = without_missing(counts, tuple(quasi_identifiers))
    return {
        name: ladder_of(policy, counts, name)
        for name in quasi_identifiers
        if name in policy.columns and policy.columns[name].hierarchy is not None
    }
