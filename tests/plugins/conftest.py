"""The toys, installed: found by their entry points, as any package."""

import sys
from pathlib import Path

import pytest

from sfumato.app import steps, texts
from sfumato.decouplings import DECOUPLINGS
from sfumato.tables.formats import FORMATS
from sfumato.verifier import formats, promises

POINTS = """
[sfumato.formats]
rows = sfumato_toys:Rows

[sfumato.verifier.formats]
rows = sfumato_toys:VerifiedRows

[sfumato.decouplings]
teams = sfumato_toys:Teams

[sfumato.verifier.kinds]
teams = sfumato_toys:VERIFIED_TEAMS
"""


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Give the folder in which the package of the toys is."""
    # What its pages say of all members is listed without the toys, whoever comes first.
    steps.load_all()
    folder = tmp_path / "site"
    about = folder / "sfumato_toys-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: sfumato-toys\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(POINTS)
    code = Path(__file__).with_name("toys.py").read_text(encoding="utf-8")
    (folder / "sfumato_toys.py").write_text(code, encoding="utf-8")
    monkeypatch.syspath_prepend(str(folder))
    for registry in (FORMATS, DECOUPLINGS):
        # What is known now comes back when the test is over.
        monkeypatch.setattr(registry, "_members", dict(registry._members))
        monkeypatch.setattr(registry, "_plugins_loaded", False)
    caches = (formats.plugins, promises._plugins, texts.catalogue)
    for each in caches:
        each.cache_clear()
    yield folder
    for each in caches:
        each.cache_clear()
    sys.modules.pop("sfumato_toys", None)
