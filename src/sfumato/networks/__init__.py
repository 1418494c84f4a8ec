"""Bayesian networks from counts: structure, tables, inference."""

from typing import TYPE_CHECKING

from sfumato.registry import Registry, on_first_use

if TYPE_CHECKING:
    from sfumato.networks.agrum import AgrumGreedy as AgrumGreedy
    from sfumato.networks.agrum import AgrumLearner as AgrumLearner
    from sfumato.networks.agrum import AgrumMiic as AgrumMiic
    from sfumato.networks.agrum import AgrumPc as AgrumPc
    from sfumato.networks.bif import BifNetwork as BifNetwork
    from sfumato.networks.bif import read_bif as read_bif
    from sfumato.networks.bif import to_bif as to_bif
    from sfumato.networks.export import to_dot as to_dot
    from sfumato.networks.export import to_graphml as to_graphml
    from sfumato.networks.given import GivenNetwork as GivenNetwork
    from sfumato.networks.given import arrows_of as arrows_of
    from sfumato.networks.given import given_network as given_network
    from sfumato.networks.ic import InductiveCausation as InductiveCausation
    from sfumato.networks.independence import family_score as family_score
    from sfumato.networks.inference import empirical as empirical
    from sfumato.networks.inference import infer as infer
    from sfumato.networks.inference import probabilities_of as probabilities_of
    from sfumato.networks.inference import probability_of as probability_of
    from sfumato.networks.network import Constraints as Constraints
    from sfumato.networks.network import LearnedNetwork as LearnedNetwork
    from sfumato.networks.network import Learner as Learner
    from sfumato.networks.network import Network as Network
    from sfumato.networks.tables import ConditionalTable as ConditionalTable
    from sfumato.networks.tables import Distribution as Distribution
    from sfumato.networks.tables import conditional_table as conditional_table
    from sfumato.networks.tables import tables_of as tables_of
    from sfumato.networks.weka_ics import WekaIcs as WekaIcs

_HOMES = {
    "AgrumGreedy": "agrum",
    "AgrumLearner": "agrum",
    "AgrumMiic": "agrum",
    "AgrumPc": "agrum",
    "BifNetwork": "bif",
    "ConditionalTable": "tables",
    "Constraints": "network",
    "Distribution": "tables",
    "GivenNetwork": "given",
    "InductiveCausation": "ic",
    "LearnedNetwork": "network",
    "Learner": "network",
    "Network": "network",
    "WekaIcs": "weka_ics",
    "arrows_of": "given",
    "conditional_table": "tables",
    "empirical": "inference",
    "family_score": "independence",
    "given_network": "given",
    "infer": "inference",
    "probabilities_of": "inference",
    "probability_of": "inference",
    "read_bif": "bif",
    "tables_of": "tables",
    "to_bif": "bif",
    "to_dot": "export",
    "to_graphml": "export",
}
"""Where each name is that is imported when it is first asked for."""

__all__ = [  # noqa: PLE0604 - all of them are texts
    "LEARNERS",
    *_HOMES,
]

if not TYPE_CHECKING:
    __getattr__ = on_first_use(__name__, _HOMES)

LEARNERS: Registry["Learner"] = Registry(
    "learner",
    "sfumato.learners",
    {
        "ic": "InductiveCausation",
        "weka-ics": "WekaIcs",
        "pyagrum-greedy": "AgrumGreedy",
        "pyagrum-miic": "AgrumMiic",
        "pyagrum-pc": "AgrumPc",
    },
    home=__name__,
)
