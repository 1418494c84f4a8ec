import pytest

from sfumato.tasks import synthesize as task
from tests.synthesis.stubs import fit_nothing


@pytest.fixture
def without_noise(monkeypatch):
    """Let synthesize run without OpenDP: what it writes and says is the same."""
    monkeypatch.setattr(task, "require_extra", lambda: None)
    monkeypatch.setattr(task, "fit", fit_nothing)
