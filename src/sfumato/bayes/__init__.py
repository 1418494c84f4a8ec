"""Bayesian networks from counts: structure, tables, inference."""

from sfumato.bayes.inference import empirical, infer, probabilities_of, probability_of
from sfumato.bayes.network import Network
from sfumato.bayes.tables import ConditionalTable, Distribution, conditional_table, tables_of

__all__ = [
    "ConditionalTable",
    "Distribution",
    "Network",
    "conditional_table",
    "empirical",
    "infer",
    "probabilities_of",
    "probability_of",
    "tables_of",
]
