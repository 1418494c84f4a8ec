"""Strengthen: a policy that protects one sensitive column as a draft would, a step stronger."""

from sfumato.drafting.protection import protections
from sfumato.errors import UnknownColumnError
from sfumato.policy import Policy
from sfumato.policy.remedies import PromiseMore
from sfumato.releases.preparing import open_prepared


def strengthen(data: object, policy: Policy, column: str) -> Policy:
    """Return a policy with the next stronger promises for a sensitive column.

    They are those that `sf.draft` would choose from, the weakest first that the policy does not
    keep already. The same policy comes back if there are no stronger ones.

    Args:
        data: The table.
        policy: The policy.
        column: The sensitive column.

    Example:
        >>> import pyarrow as pa
        >>> import sfumato as sf
        >>> table = pa.table({"age": [31, 38, 47, 52], "ill": ["flu", "flu", "flu", "hiv"]})
        >>> policy = sf.Policy(columns={"age": "quasi-identifier", "ill": "sensitive"},
        ...     models=[sf.models.KAnonymity(2)])
        >>> strengthen(table, policy, "ill").models[-1]
        AlphaKAnonymity(column='ill', alpha=0.74, k=2, protected=('hiv',))
    """
    if column not in policy.sensitive:
        raise UnknownColumnError(column, policy.sensitive, where="the sensitive columns")
    domain = open_prepared(data, policy).domains((column,))[column]
    k = max((model.smallest_class or 1 for model in policy.models), default=2)
    people = policy.counted_person is not None
    for models in protections(policy.columns[column], domain, max(k, 2), people=people):
        kept = all(any(own.implies(model) for own in policy.models) for model in models)
        if not kept:
            return PromiseMore(models).apply(policy)
    return policy
