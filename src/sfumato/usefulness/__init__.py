"""How useful what is published still is: counting queries, correlations, classifiers.

Every kind of release is read by an `Estimator`: what a careful reader who has only the
release would answer. The answers are compared with those of the original table.

Example:
    >>> from sfumato.counts import FrequencySet
    >>> from sfumato.usefulness import Generalised, Query, between
    >>> table = FrequencySet.from_rows(["age"], [(31,), (32,), (39,), (39,)])
    >>> release = FrequencySet.from_rows(["age"], [("31-39",)] * 4)
    >>> Generalised(release, table.columns).count(Query((between(table.columns[0], 31, 32),)))
    2.6666666666666665
"""

from sfumato.usefulness.answers import Alone, Estimate
from sfumato.usefulness.estimators import (
    Anatomised,
    Estimator,
    Generalised,
    GroupedEstimator,
    Labels,
    Original,
    Sliced,
)
from sfumato.usefulness.measure import (
    Accuracy,
    Associations,
    Classification,
    Exam,
    Utilities,
    Utility,
    cramers_v,
    strengths,
)
from sfumato.usefulness.queries import Condition, Query, QueryErrors, Workload, among, between

__all__ = [
    "Accuracy",
    "Alone",
    "Anatomised",
    "Associations",
    "Classification",
    "Condition",
    "Estimate",
    "Estimator",
    "Exam",
    "Generalised",
    "GroupedEstimator",
    "Labels",
    "Original",
    "Query",
    "QueryErrors",
    "Sliced",
    "Utilities",
    "Utility",
    "Workload",
    "among",
    "between",
    "cramers_v",
    "strengths",
]
