"""Bayesian networks from counts: structure, tables, inference."""

from sfumato.bayes.network import Network

__all__ = ["Network"]
