"""Attack: what can be learnt about people from a table as it is."""

from collections.abc import Iterable, Mapping, Sequence

from sfumato.attacks import ClassAttack, Finding, Target
from sfumato.counts import FrequencySet
from sfumato.errors import ParameterError, UnknownColumnError, names_in, some
from sfumato.hierarchy import HierarchyBuilder, Ladder
from sfumato.releases.opening import count_columns


def attack(
    data: object,
    quasi_identifiers: Sequence[str],
    attacks: Sequence[ClassAttack],
    *,
    hierarchies: Mapping[str, HierarchyBuilder] | None = None,
    person: str | None = None,
) -> tuple[Finding, ...]:
    """Run attacks on a table as it stands, and give one finding per attack, in their order.

    These are the attacks on a sensitive column by class. To run all there are, also on a
    release, and to have them under one answer, see `sfumato.verify`.

    Rows that agree on all quasi-identifiers are a class; a missing value is a value of its
    own there. Nothing is generalised and nothing is changed.

    Does not promise: that a table nothing was found in is safe. Each attack says what it
    does not find.

    Args:
        data: Anything `sfumato.anonymize` takes, or a frequency set.
        quasi_identifiers: The columns by which an adversary recognises a person's class.
        attacks: What to try, for example `[sf.attacks.Homogeneity("disease")]`.
        hierarchies: Hierarchies of attacked columns, for attacks that look at levels.
        person: The column that tells people apart, if they may have several rows: people are
            counted then, and a value that one has twice counts once.

    Example:
        >>> import pyarrow as pa
        >>> import sfumato as sf
        >>> table = pa.table({
        ...     "age": ["2*", "2*", "3*", "3*"], "ill": ["flu", "flu", "ulcer", "gastritis"],
        ... })
        >>> organs = sf.hierarchy.Taxonomy({"stomach": ["ulcer", "gastritis"], "lung": ["flu"]})
        >>> tried = [sf.attacks.Homogeneity("ill"), sf.attacks.Similarity("ill", level=1)]
        >>> for finding in sf.tools.attack(table, ["age"], tried, hierarchies={"ill": organs}):
        ...     print(finding)
        homogeneity(ill) exposes 2 of 4 rows, in 1 of 2 classes
        similarity(ill, level=1) exposes 4 of 4 rows, in 2 of 2 classes
    """
    names = names_in("quasi_identifiers", quasi_identifiers)
    _refuse_others(attacks)
    attacked = tuple(dict.fromkeys(one.column for one in attacks))
    _refuse_known(attacked, names)
    builders = _builders(hierarchies or {}, attacked)
    private = () if person is None else (person,)
    if person in (*names, *attacked):
        raise ParameterError("person", person, "a column that is neither known nor attacked")
    counts = count_columns(data, (*names, *attacked, *private))
    ladders = {name: _ladder(counts, name, builder) for name, builder in builders.items()}
    target = Target.of_table(counts, names, attacked, ladders, person=person)
    return tuple(one.find(target) for one in attacks)


def _builders(hierarchies: object, attacked: tuple[str, ...]) -> dict[str, HierarchyBuilder]:
    if not isinstance(hierarchies, Mapping):
        raise ParameterError("hierarchies", hierarchies, "a mapping of columns to hierarchies")
    for name, builder in hierarchies.items():
        if name not in attacked:
            raise UnknownColumnError(name, attacked, where="the attacked columns")
        if not isinstance(builder, HierarchyBuilder):
            raise ParameterError(f"hierarchies[{name!r}]", builder, "one of sf.hierarchy")
    return dict(hierarchies)


def _refuse_others(attacks: Sequence[object]) -> None:
    if not isinstance(attacks, Iterable) or isinstance(attacks, str):
        raise ParameterError("attacks", attacks, "a list of attacks")
    others = [one for one in attacks if not isinstance(one, ClassAttack)]
    if others:
        raise ParameterError(
            "attacks",
            list(map(str, others)),
            "attacks on a sensitive column by class",
            why="sf.verify(..., attacks=[...]) runs the others, on releases and tables",
        )


def _refuse_known(attacked: tuple[str, ...], quasi_identifiers: tuple[str, ...]) -> None:
    known = [name for name in attacked if name in quasi_identifiers]
    if known:
        raise ParameterError(
            "quasi_identifiers",
            list(quasi_identifiers),
            "other columns than those attacked",
            why=f"an adversary who knows {some(known)} need not attack it. Leave it out of one of "
            "the two",
        )


def _ladder(counts: FrequencySet, name: str, builder: HierarchyBuilder) -> Ladder:
    return builder.ladder(name, counts.column(name).values, counts.value_counts(name).tolist())
