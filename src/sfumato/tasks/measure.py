"""Measure: what privacy models find in a table as it is."""

from collections.abc import Sequence

from sfumato.classes import classes_with
from sfumato.errors import ParameterError
from sfumato.models import PrivacyModel
from sfumato.releases.opening import count_columns


def measure(
    data: object,
    quasi_identifiers: Sequence[str],
    sensitive: Sequence[str] = (),
    models: Sequence[PrivacyModel] = (),
    *,
    population: object = None,
    person: str | None = None,
) -> dict[PrivacyModel, dict[str, float]]:
    """Measure the strictest parameters of models that a table keeps, without changing anything.

    A missing value counts as a value of its own. The parameters a model was made with
    do not matter, except those that say what to measure (the `l` of recursive
    (c,l)-diversity, a distance).

    Args:
        data: Anything `sfumato.anonymize` takes, or a frequency set.
        quasi_identifiers: The columns whose combinations are the classes.
        sensitive: The columns the models look at; those they name are added.
        models: What to measure.
        population: A table (or frequency set) of all people the data was drawn from, for
            models that compare with it.
        person: The column that tells people apart, if they may have several rows: people are
            counted then.

    Example:
        >>> import pyarrow as pa
        >>> from sfumato.models import DistinctLDiversity, KAnonymity
        >>> table = pa.table({"age": [31, 31, 47, 47], "ill": ["flu", "gout", "flu", "flu"]})
        >>> models = [KAnonymity(2), DistinctLDiversity("ill", l=2)]
        >>> measure(table, ["age"], ["ill"], models)
        {KAnonymity(k=2): {'k': 2}, DistinctLDiversity(column='ill', l=2): {'l': 1}}
        >>> panel = table.append_column("who", [[1, 1, 2, 3]])
        >>> measure(panel, ["age"], models=[KAnonymity(2)], person="who")
        {KAnonymity(k=2): {'k': 1}}
    """
    looked_at = [column for model in models for column in model.columns]
    sensitive = tuple(dict.fromkeys([*sensitive, *looked_at]))
    names = tuple(quasi_identifiers)
    private = () if person is None else (person,)
    if person is not None:
        _require_countable(person, names, sensitive, models)
    counts = count_columns(data, (*names, *sensitive, *private))
    people = None if population is None else count_columns(population, names)
    classes = classes_with(counts, names, sensitive, people, person=person)
    return {model: model.measure(classes) for model in models}


def _require_countable(
    person: str,
    quasi_identifiers: Sequence[str],
    sensitive: Sequence[str],
    models: Sequence[PrivacyModel],
) -> None:
    """Raise if people cannot be counted by a column, or for a model."""
    if person in (*quasi_identifiers, *sensitive):
        raise ParameterError("person", person, "a column that is neither known nor sensitive")
    for model in models:
        if not model.counts_people:
            raise ParameterError(
                "models",
                model.name,
                "models that are defined for people with several rows",
                why=f"put the rows of each side by side: sf.widen(data, person={person!r})",
            )
