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

from sfumato.usefulness.alone import Alone
from sfumato.usefulness.anatomised import Anatomised
from sfumato.usefulness.associations import Associations, cramers_v, strengths
from sfumato.usefulness.broken import BrokenTable
from sfumato.usefulness.classification import Accuracy, Classification
from sfumato.usefulness.estimate import Estimate
from sfumato.usefulness.estimator import Estimator
from sfumato.usefulness.exam import Exam
from sfumato.usefulness.generalised import Generalised
from sfumato.usefulness.labels import Labels
from sfumato.usefulness.original import Original
from sfumato.usefulness.query import Condition, Query, among, between
from sfumato.usefulness.query_errors import QueryErrors
from sfumato.usefulness.results import Utilities, Utility
from sfumato.usefulness.sliced import Sliced
from sfumato.usefulness.workload import Workload

__all__ = [
    "Accuracy",
    "Alone",
    "Anatomised",
    "Associations",
    "BrokenTable",
    "Classification",
    "Condition",
    "Estimate",
    "Estimator",
    "Exam",
    "Generalised",
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
