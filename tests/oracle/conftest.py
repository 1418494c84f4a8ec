"""All figures here are of one table."""

import pytest


@pytest.fixture(autouse=True)
def _everything_is_about_it(adult):
    pass
