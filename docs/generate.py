"""Makes the reference pages from the code.

python -m docs.generate                  # write them to docs/reference, to be read there
python -m docs.generate --output folder  # the same, elsewhere

They are not in the repository: the site makes them when it is built, and so do tests.
"""

import argparse
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from docs.generator import cli, errors, families, manifest, policy, python

FOLDER = Path(__file__).parent / "reference"

PAGES = {
    "models.md": families.models,
    "hierarchies.md": families.hierarchies,
    "derivations.md": families.derivations,
    "perturbations.md": families.perturbations,
    "losses.md": families.losses,
    "searches.md": families.searches,
    "methods.md": families.methods,
    "attacks.md": families.attacks,
    "learners.md": families.learners,
    "decouplings.md": families.decouplings,
    "estimators.md": families.estimators,
    "profiles.md": families.profiles,
    "policy.md": policy.page,
    "python.md": python.page,
    "results.md": python.results,
    "errors.md": errors.page,
    "manifest.md": manifest.page,
    **cli.pages(),
}
"""Every generated page, and what makes its text."""


@cache
def text_of(name: str) -> str:
    """Make one page."""
    note = "<!-- Made by docs/generate.py. -->\n\n"
    return note + PAGES[name]().rstrip() + "\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the pages."""
    parser = argparse.ArgumentParser(prog="python -m docs.generate", description=__doc__)
    parser.add_argument("--output", type=Path, default=FOLDER, help="default: docs/reference")
    output = parser.parse_args(arguments).output
    for name in PAGES:
        path = output / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text_of(name), encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
