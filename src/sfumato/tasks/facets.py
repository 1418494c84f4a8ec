"""What an adversary has besides a release: a list of people, or those who are in the data."""

from collections.abc import Sequence
from dataclasses import replace

from sfumato.attacks import Outside, Target
from sfumato.engines import open_table
from sfumato.errors import ParameterError
from sfumato.policy import Policy
from sfumato.tasks.ladders import ladders_of
from sfumato.tasks.measure import counted
from sfumato.tasks.membership import matcher
from sfumato.tasks.published import Counted, Published


def with_list(
    target: Target,
    release: Published,
    people: object,
    policy: Policy | None = None,
    *,
    names: Sequence[str] | None = None,
) -> Target:
    """Give an adversary a list of people to link with the release; see `Linking`.

    Args:
        target: The release as it is attacked.
        release: The same, opened.
        people: A table of raw values with some of the quasi-identifiers. All its columns but the
            sensitive ones tell who somebody is.
        policy: The policy the release was made with; its hierarchies say what labels stand for.
        names: The columns of the list that are looked at; None takes all but the sensitive ones.

    Example:
        >>> import pyarrow as pa
        >>> from sfumato.attacks import Linking
        >>> from sfumato.tasks.published import published
        >>> from sfumato.tasks.target import target_of
        >>> table = pa.table({"zip": ["1305*", "2407*"], "ill": ["flu", "hiv"]})
        >>> drivers = pa.table({"name": ["David", "Rajesh"], "zip": ["13053", "24078"]})
        >>> target = target_of(table, None, ["zip"], ["ill"])
        >>> target = with_list(target, published(table, ["zip"], ["ill"], None), drivers)
        >>> print(Linking("journalist").on(target, 0.75).worst[1])
        zip=2407* (1): the row is of Rajesh, 24078, 50% before, 100% after
    """
    table = open_table(people)
    if names is None:
        names = [name for name in table.columns if name not in release.sensitive]
    counts = table.count(names)
    shared = [name for name in target.quasi_identifiers if name in names]
    if not shared:
        raise ParameterError(
            "outside",
            list(names),
            f"a list with some of the columns {list(target.quasi_identifiers)}",
        )
    ladders = ladders_of(policy, counts, shared)
    return replace(target, outside=Outside.of(counts, target, ladders, release.levels))


def with_members(
    target: Target, release: Published, original: object, policy: Policy | None = None
) -> Target:
    """Tell an adversary's judge who is in the data, to hold them against others; see `Membership`.

    Args:
        target: The release as it is attacked.
        release: The same, opened.
        original: The table it was made of.
        policy: The policy it was made with; its hierarchies say what labels stand for.

    Example:
        >>> import pyarrow as pa
        >>> from sfumato.tasks.published import published
        >>> from sfumato.tasks.target import target_of
        >>> original = pa.table({"age": [31, 38], "ill": ["flu", "hiv"]})
        >>> coarse = pa.table({"age": ["31-38"] * 2, "ill": ["flu", "hiv"]})
        >>> opened = published(coarse, ["age"], ["ill"], None)
        >>> target = with_members(target_of(coarse, None, ["age"], ["ill"]), opened, original)
        >>> target.people.total, target.matcher.matches(target.people.codes).tolist()
        (2, [1, 1])
    """
    names = release.quasi_identifiers
    people = counted(original, names).project(names)
    ladders = ladders_of(policy, people, names)
    found = matcher(people, _looked_into(target, release), ladders)
    return replace(target, people=people, matcher=found)


def _looked_into(target: Target, release: Published) -> Published:
    """Leave out the rows that the attacks leave out: `*` alone fits real people and fakes alike."""
    if target.counts is None or target.silent.any():
        return release

    def shown(names: Sequence[str]) -> Counted:
        [table] = release.counted(names).tables
        every = Target.of_table(table, tuple(names), ())
        kept = every.kept(~every.silent).counts
        return Counted(() if kept is None else (kept,))

    return release._replace(counted=shown)
