"""Measure: what privacy models find in a table as it is."""

from collections.abc import Sequence

from sfumato.classes import classes_with
from sfumato.models import PrivacyModel
from sfumato.releases.opening import count_columns


def measure(
    data: object,
    quasi_identifiers: Sequence[str],
    sensitive: Sequence[str] = (),
    models: Sequence[PrivacyModel] = (),
    *,
    population: object = None,
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

    Example:
        >>> import pyarrow as pa
        >>> from sfumato.models import DistinctLDiversity, KAnonymity
        >>> table = pa.table({"age": [31, 31, 47, 47], "ill": ["flu", "gout", "flu", "flu"]})
        >>> models = [KAnonymity(2), DistinctLDiversity("ill", l=2)]
        >>> measure(table, ["age"], ["ill"], models)
        {KAnonymity(k=2): {'k': 2}, DistinctLDiversity(column='ill', l=2): {'l': 1}}
    """
    looked_at = [column for model in models for column in model.columns]
    sensitive = tuple(dict.fromkeys([*sensitive, *looked_at]))
    names = tuple(quasi_identifiers)
    counts = count_columns(data, (*names, *sensitive))
    people = None if population is None else count_columns(population, names)
    classes = classes_with(counts, names, sensitive, people)
    return {model: model.measure(classes) for model in models}
