"""The oldest versions that Sfumato says it works with, as constraints for pip.

`make oldest` installs exactly these. Every bound of `pyproject.toml` that concerns users becomes a
pin, so that a bound which is too low is found by a test instead of by a user. Tools of developers
are taken as new as they are.
"""

import re
import sys
import tomllib

from tests.docs.pages import ROOT

OF_DEVELOPERS = {"test", "fuzz", "study", "cases", "site", "release", "dev"}
"""Extras that users do not install."""

_BOUND = re.compile(r"(?P<name>[\w.-]+)(?:\[[^\]]*\])?>=(?P<version>[\w.]+)")


def requirements() -> list[str]:
    """List what the package and its extras for users need, without the package itself."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"].items()
    optional = [one for name, extra in extras if name not in OF_DEVELOPERS for one in extra]
    every = [*project["dependencies"], *optional]
    return sorted({one for one in every if not one.startswith("sfumato[")})


def pins() -> list[str]:
    """List each lower bound as the only version allowed."""
    bounds = [_BOUND.match(one) for one in requirements()]
    return sorted({f"{bound['name']}=={bound['version']}" for bound in bounds if bound})


if __name__ == "__main__":
    sys.stdout.write("\n".join(pins()) + "\n")
