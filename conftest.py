"""Shared names for doctests, and how hard hypothesis tries (HYPOTHESIS_PROFILE=long)."""

import os

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "default",
    deadline=None,
    max_examples=60,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.register_profile("long", parent=settings.get_profile("default"), max_examples=1500)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


@pytest.fixture(autouse=True)
def _doctest_names(doctest_namespace):
    from tests.builders import classes_of

    doctest_namespace["np"] = np
    doctest_namespace["classes_of"] = classes_of
