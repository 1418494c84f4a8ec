import pytest

from sfumato.tasks import noisy_tables
from sfumato.tasks import synthesize as task
from tests.synthesis.stubs import add_noise, fit_nothing


@pytest.fixture
def without_noise(monkeypatch):
    """Let synthesize run without OpenDP: what it writes and says is the same."""
    monkeypatch.setattr(task, "require_extra", lambda: None)
    monkeypatch.setattr(task, "fit", fit_nothing)


@pytest.fixture
def own_noise(monkeypatch):
    """Let decouple draw noise without OpenDP: what it writes and says is the same."""
    monkeypatch.setattr(noisy_tables, "require_extra", lambda: None)
    monkeypatch.setattr(noisy_tables, "count_with_noise", add_noise)
