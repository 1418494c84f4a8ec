"""Bayesian networks from counts: structure, tables, inference."""

from sfumato.bayes.agrum import AgrumGreedy, AgrumLearner, AgrumMiic, AgrumPc
from sfumato.bayes.constraints import Constraints
from sfumato.bayes.export import to_bif, to_dot, to_graphml
from sfumato.bayes.ic import InductiveCausation
from sfumato.bayes.inference import empirical, infer, probabilities_of, probability_of
from sfumato.bayes.learner import Learned, Learner
from sfumato.bayes.network import Network
from sfumato.bayes.scores import family_score
from sfumato.bayes.tables import ConditionalTable, Distribution, conditional_table, tables_of
from sfumato.bayes.weka_ics import WekaIcs
from sfumato.registry import Registry

__all__ = [
    "LEARNERS",
    "AgrumGreedy",
    "AgrumLearner",
    "AgrumMiic",
    "AgrumPc",
    "ConditionalTable",
    "Constraints",
    "Distribution",
    "InductiveCausation",
    "Learned",
    "Learner",
    "Network",
    "WekaIcs",
    "conditional_table",
    "empirical",
    "family_score",
    "infer",
    "probabilities_of",
    "probability_of",
    "tables_of",
    "to_bif",
    "to_dot",
    "to_graphml",
]

LEARNERS: Registry[Learner] = Registry(
    "learner",
    "sfumato.learners",
    [InductiveCausation, WekaIcs, AgrumGreedy, AgrumMiic, AgrumPc],
)
