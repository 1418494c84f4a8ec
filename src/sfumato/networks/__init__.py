"""Bayesian networks from counts: structure, tables, inference."""

from sfumato.networks.agrum import AgrumGreedy, AgrumLearner, AgrumMiic, AgrumPc
from sfumato.networks.bif import BifNetwork, read_bif, to_bif
from sfumato.networks.export import to_dot, to_graphml
from sfumato.networks.given import GivenNetwork, arrows_of, given_network
from sfumato.networks.ic import InductiveCausation
from sfumato.networks.independence import family_score
from sfumato.networks.inference import empirical, infer, probabilities_of, probability_of
from sfumato.networks.network import Constraints, LearnedNetwork, Learner, Network
from sfumato.networks.tables import ConditionalTable, Distribution, conditional_table, tables_of
from sfumato.networks.weka_ics import WekaIcs
from sfumato.registry import Registry

__all__ = [
    "LEARNERS",
    "AgrumGreedy",
    "AgrumLearner",
    "AgrumMiic",
    "AgrumPc",
    "BifNetwork",
    "ConditionalTable",
    "Constraints",
    "Distribution",
    "GivenNetwork",
    "InductiveCausation",
    "LearnedNetwork",
    "Learner",
    "Network",
    "WekaIcs",
    "arrows_of",
    "conditional_table",
    "empirical",
    "family_score",
    "given_network",
    "infer",
    "probabilities_of",
    "probability_of",
    "read_bif",
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
