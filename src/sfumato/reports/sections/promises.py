"""The section on promises: what was promised, in which files, and made by what."""

from collections.abc import Mapping, Sequence

from sfumato.errors import InputError
from sfumato.evidence import EVIDENCE, read_evidence
from sfumato.releases.manifest import Manifest
from sfumato.reports.dossier import Dossier
from sfumato.reports.sections.base import Chapter, NotHereError
from sfumato.showing.content import Badge, Cell, ContentTable, Figures, Heading, Part, Sentence


def _parts(dossier: Dossier) -> Sequence[Part]:
    manifest = dossier.manifest
    if manifest is None:
        raise NotHereError("the manifest cannot be read")
    return [
        _models(dossier, manifest),
        _files(manifest),
        _columns(manifest),
        _made_with(manifest),
        *_evidence(dossier),
    ]


def _models(dossier: Dossier, manifest: Manifest) -> ContentTable:
    checks = {check.name: check.status for check in dossier.assessment.checks}
    rows: list[list[Cell]] = []
    for promise in manifest.models:
        status = checks.get(promise.model)
        rows.append([str(promise), promise.figures, None if status is None else Badge(status)])
    for hidden in manifest.hiding or ():
        status = next(
            (
                check.status
                for check in dossier.assessment.checks
                if isinstance(check.promised, Mapping)
                and check.name == "associations"
                and check.promised.get("column") == hidden.column
            ),
            None,
        )
        rows.append([str(hidden), None, None if status is None else Badge(status)])
    if manifest.drawn is not None:
        status = checks.get("privacy budget")
        rows.append([str(manifest.drawn), None, None if status is None else Badge(status)])
    return ContentTable.of(
        "What was promised",
        [
            Heading("promise", "The privacy model and its parameters."),
            Heading("measured", "What the published rows keep; it may be more than was asked for."),
            Heading("checked", "Whether the verifier found the same."),
        ],
        rows,
    )


def _files(manifest: Manifest) -> ContentTable:
    files = manifest.files or (() if manifest.table is None else (manifest.table,))
    rows: list[list[Cell]] = [
        [file.name, file.holds or file.column, file.rows, file.format, file.sha256]
        for file in files
    ]
    if not rows:
        rows = [["in memory", None, None, None, None]]
    return ContentTable.of(
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


def _columns(manifest: Manifest) -> ContentTable:
    rows: list[list[Cell]] = [[column.name, column.role] for column in manifest.columns]
    meaning = "What it is: others may know it, no one should learn it, or neither."
    return ContentTable.of("Columns", ["column", Heading("role", meaning)], rows, most=60)


def _made_with(manifest: Manifest) -> Figures:
    named: list[tuple[str, Cell, str]] = [
        ("sfumato", manifest.sfumato, "The version that made the release.")
    ]
    versions = manifest.versions.items()
    named += [(name, version, "Made with it.") for name, version in versions][:10]
    fixed = "yes" if manifest.reproducible else "no"
    what = "If yes, the order of rows comes from a seed that others may know: not for publication."
    return Figures("Made with", (*named, ("reproducible", fixed, what)))


def _evidence(dossier: Dossier) -> list[Sentence]:
    folder = dossier.folder
    if folder is None and (table := dossier.release.database) is not None:
        return [_in_database(signed=table.evidence() is not None)]
    if folder is None or not (folder / EVIDENCE).is_file():
        return [Sentence("There is no evidence file: the hashes above are all there is.")]
    if dossier.public:
        # It may be signed later, with this very report.
        who = "who signed it, if it is signed: sfumato check-evidence"
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
        return Sentence("There is no evidence beside the tables: any person may have changed them.")
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
