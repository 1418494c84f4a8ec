"""Pages on databases are run on real ones."""

from tests.engines.conftest import postgres, spark

__all__ = ["postgres", "spark"]
