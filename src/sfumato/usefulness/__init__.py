"""Usefulness of what is published: counting queries, correlations, numbers, classifiers.

Every kind of release is read by the `Estimator`, which answers as a careful reader who has only
the release would. The answers are compared with those of the original table.

Example:
    >>> from sfumato.counts import FrequencySet
    >>> from sfumato.usefulness import Estimator, Query, between
    >>> table = FrequencySet.from_rows(["age"], [(31,), (32,), (39,), (39,)])
    >>> release = FrequencySet.from_rows(["age"], [("31 to 39",)] * 4)
    >>> query = Query((between(table.columns[0], 31, 32),))
    >>> Estimator.of_table(release, table.columns).count(query)
    2.6666666666666665
"""

from sfumato.usefulness.answers import Estimate, ReleaseOnlyReader
from sfumato.usefulness.cells import AnalystCells
from sfumato.usefulness.estimators import Estimator
from sfumato.usefulness.measure import (
    Accuracy,
    Associations,
    Classification,
    Exam,
    Figure,
    PeopleLeft,
    Utilities,
    Utility,
    WeightedUtility,
    strengths,
)
from sfumato.usefulness.numbers import NumberExam, NumberUtility
from sfumato.usefulness.propensity import Propensity, measure_propensity
from sfumato.usefulness.queries import Condition, Query, QueryErrors, Workload, among, between

__all__ = [
    "Accuracy",
    "AnalystCells",
    "Associations",
    "Classification",
    "Condition",
    "Estimate",
    "Estimator",
    "Exam",
    "Figure",
    "NumberExam",
    "NumberUtility",
    "PeopleLeft",
    "Propensity",
    "Query",
    "QueryErrors",
    "ReleaseOnlyReader",
    "Utilities",
    "Utility",
    "WeightedUtility",
    "Workload",
    "among",
    "between",
    "measure_propensity",
    "strengths",
]
