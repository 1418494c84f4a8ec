"""How results look: what each task gave, as tables."""

from typing import TYPE_CHECKING

from sfumato.cli.show import cell, status, table

if TYPE_CHECKING:
    from rich.console import RenderableType

    from sfumato.release import Release
    from sfumato.verifier import Verdict


def verdict_view(verdict: "Verdict") -> list["RenderableType"]:
    """One line per check, what is wrong below it, and the sum of all at the end."""
    from sfumato.verifier.verdict import in_words

    def words(value: object) -> str:
        return "" if value is None else in_words(value)

    rows: list[tuple[object, ...]] = []
    for check in verdict.checks:
        worst = "" if check.worst is None else f"worst: {words(check.worst)}"
        note = "; ".join(filter(None, [check.detail, worst]))
        rows.append(
            (check.name, status(check.status), words(check.promised), words(check.found), note)
        )
    return [
        table(("check", "", "promised", "found", "note"), rows),
        cell(str(verdict).splitlines()[0], "green" if verdict.holds else "bold red"),
    ]


def release_view(release: "Release") -> list["RenderableType"]:
    """What was done to each quasi-identifier, and what each model measures."""
    from sfumato.release import figures, promise_text

    manifest = release.manifest
    levels = [
        (column["name"], f"{column['level']} of {column['height']}")
        for column in manifest["columns"]
        if "level" in column
    ]
    promises = [(promise_text(model), figures(model["measured"])) for model in manifest["models"]]
    return [
        cell(str(release).splitlines()[0]),
        table(("quasi-identifier", "level"), levels),
        table(("promise", "measured"), promises),
    ]
