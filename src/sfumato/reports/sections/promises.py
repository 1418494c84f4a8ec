"""What was promised, in which files, by what."""

from collections.abc import Mapping, Sequence
from typing import Any

from sfumato.errors import InputError
from sfumato.evidence import EVIDENCE, read_evidence
from sfumato.models.base import figures, promise_text
from sfumato.releases.evidence import release_in_database
from sfumato.reports.content import Badge, Cell, Figures, Heading, Part, Sentence, Table
from sfumato.reports.given import Given, mapping, sequence
from sfumato.reports.sections.base import Chapter, NotHereError
from sfumato.verifier.promises import in_words


def _parts(given: Given) -> Sequence[Part]:
    if not given.manifest:
        raise NotHereError("the manifest cannot be read")
    return [_models(given), _files(given), _columns(given), _made_with(given), *_evidence(given)]


def _models(given: Given) -> Table:
    checks = {check.name: check.status for check in given.assessment.checks}
    rows: list[list[Cell]] = []
    for model in given.manifest["models"]:
        said = {key: value for key, value in model.items() if key != "measured"}
        status = checks.get(str(model.get("model")))
        rows.append([_promise(said), _measured(model), None if status is None else Badge(status)])
    return Table.of(
        "What was promised",
        [
            Heading("promise", "The privacy model and its parameters."),
            Heading("measured", "What the published rows keep; it may be more than was asked for."),
            Heading("checked", "Whether the verifier found the same."),
        ],
        rows,
    )


def _promise(said: Mapping[str, Any]) -> str:
    try:
        return promise_text(said)
    except (KeyError, TypeError, ValueError):
        return in_words(said)


def _measured(model: Mapping[str, Any]) -> str:
    return figures(mapping(model.get("measured")))


def _files(given: Given) -> Table:
    rows: list[list[Cell]] = [
        [
            str(file.get("name")),
            ", ".join(map(str, sequence(file.get("columns")))) or _text(file.get("column")),
            file["rows"] if isinstance(file.get("rows"), int) else None,
            _text(file.get("format")),
            _text(file.get("sha256")),
        ]
        for file in map(mapping, sequence(given.manifest.get("files")))
    ]
    if (table := mapping(given.manifest.get("table"))) and not rows:
        number = table["rows"] if isinstance(table.get("rows"), int) else None
        rows = [[_text(table.get("name")), None, number, None, None]]
    if not rows:
        rows = [["in memory", None, None, None, None]]
    return Table.of(
        "Files",
        [
            "file",
            Heading("holds", "The columns of a part; – if it is all of them."),
            "rows",
            "format",
            Heading("SHA-256", "Compare it with that of the file you have."),
        ],
        rows,
    )


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _columns(given: Given) -> Table:
    rows: list[list[Cell]] = [[c["name"], c["role"]] for c in given.manifest["columns"]]
    meaning = "What it is: others may know it, nobody should learn it, or neither."
    return Table.of("Columns", ["column", Heading("role", meaning)], rows, most=60)


def _made_with(given: Given) -> Figures:
    versions = mapping(given.manifest.get("versions"))
    named: list[tuple[str, Cell, str]] = [
        ("sfumato", _text(given.manifest.get("sfumato")), "The version that made the release.")
    ]
    named += [(name, _text(version), "Made with it.") for name, version in versions.items()][:10]
    fixed = "yes" if given.manifest.get("reproducible") is True else "no"
    what = "If yes, the order of rows comes from a seed that others may know: not for publication."
    return Figures("Made with", (*named, ("reproducible", fixed, what)))


def _evidence(given: Given) -> list[Sentence]:
    folder = given.folder
    if folder is None and (table := release_in_database(given.release)) is not None:
        return [_in_database(signed=table.evidence() is not None)]
    if folder is None or not (folder / EVIDENCE).is_file():
        return [Sentence("There is no evidence file: the hashes above are all there is.")]
    if given.public:
        # It may be signed later, with this very report.
        who = "who signed it, if anybody did: sfumato check-evidence"
        return [Sentence(f"{EVIDENCE} has the hash of every file; {who}.")]
    try:
        signature = read_evidence(folder).signature
    except (InputError, OSError):
        return [Sentence(f"{EVIDENCE} cannot be read: the hashes above are all there is.")]
    if signature is None:
        return [Sentence(f"{EVIDENCE} has the hash of every file; it is not signed.")]
    return [
        Sentence(
            f"{EVIDENCE} has the hash of every file and is signed; the key that is named there is "
            f"{signature.public_key.hex()}. Whether the signature is right: sfumato check-evidence."
        )
    ]


def _in_database(*, signed: bool) -> Sentence:
    if not signed:
        return Sentence("There is no evidence beside the tables: anybody may have changed them.")
    return Sentence(
        "Evidence stands in a table beside the release and covers every row of it. Whether it is "
        "right, and who signed it: sfumato check-evidence."
    )


PROMISES = Chapter(
    "promises",
    "What was promised, and in which files",
    "The manifest says this of the release; every promise was recomputed from the files, and the "
    "hashes say which files those are.",
    _parts,
)
