"""Databases that the figures are found in again."""

from tests.engines.conftest import duck, postgres, spark

__all__ = ["duck", "postgres", "spark"]
