"""How a decoupled release looks: its tables, and what each model measures."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sfumato.cli.show import cell, table

if TYPE_CHECKING:
    from rich.console import RenderableType

    from sfumato.decoupled import Decoupled


def _held(file: Mapping[str, Any]) -> str:
    return ", ".join(file.get("columns", [file.get("column", "quasi-identifiers")]))


def decoupled_view(release: "Decoupled") -> list["RenderableType"]:
    """One line per table, and one per promise."""
    from sfumato.release import figures, promise_text

    manifest = release.manifest
    files = [(file["name"], _held(file), file["rows"]) for file in manifest["files"]]
    promises = [(promise_text(model), figures(model["measured"])) for model in manifest["models"]]
    return [
        cell(str(release).splitlines()[0]),
        table(("table", "holds", "rows"), files, right=("rows",)),
        table(("promise", "measured"), promises),
    ]
