"""Reference page of `manifest.json`. A test holds these keys against a real manifest."""

from docs.generator.markdown import code, joined, prose, table

FIELDS: dict[str, str] = {
    "format": "The version of this format, 1.",
    "sfumato": "The version of Sfumato that made the release.",
    "kind": "How the table was [decoupled](decouplings.md). Decoupled releases only.",
    "increment": "Releases on a ledger only.",
    "increment.sequence": "The number of the release in its ledger; the first is 1.",
    "increment.tables": "`newcomers`: the tables hold only those who joined. `all`: all people.",
    "increment.ledger": "A mark of the ledger, the same in all its releases.",
    "increment.first": "A mark of the groups of the ledger's first release.",
    "increment.left": "Groups in which people are counted who left, if the release says it "
    "(`--say-left`).",
    "increment.left[].group": "The group's quasi-identifiers.",
    "increment.left[].people": "How many of its people have left.",
    "columns": "The published columns, in the order of the file.",
    "columns[].name": "Its name.",
    "columns[].role": "`quasi-identifier`, `sensitive`, `set` or `plain`. Other columns are not "
    "there.",
    "columns[].separator": "What stands between the items of a cell. CSV files only, and columns "
    "with the role `set`.",
    "columns[].of": "The column whose labels it has as numbers, if the policy says `as` of it.",
    "columns[].part": "`low`, `high` or `middle`: what its numbers say of those labels; `mean`: of "
    "their rows.",
    "columns[].upper": "`excluded` if ranges do not reach their upper ends.",
    "columns[].ranges": "The ends of what each number stands for, if it is the middle of a range.",
    "columns[].hidden": "How many rows have no number because the value is hidden, where rows with "
    "missing values are suppressed.",
    "columns[].order": "Its published values in their order, if they are categories that have one.",
    "columns[].level": "How far it was generalised; 0 is the raw value. Quasi-identifiers only, "
    "and only where all rows have the same.",
    "columns[].height": "How many levels its hierarchy has. Quasi-identifiers only, and only if "
    "it does not depend on the values of the table.",
    "columns[].generalised": "True in place of levels that depend on values which are not "
    "published: the longest postcode, the quantiles of ages.",
    "columns[].levels": "Regional and local methods only: how many published rows are at each "
    "level, from the raw value to the top.",
    "columns[].cut": "Regional recoding only, of a column with labels of several levels: these "
    "labels, each below those it is a part of. Those with nothing below are published, no others.",
    "columns[].intervals": "Local methods only, instead of height and levels: the column became "
    "intervals of the values that are there, and so many different labels.",
    "columns[].spelling": "`exact` if its maker takes values that differ only in spelling for "
    "different ones. Readers decide for themselves.",
    "group": "Decoupled releases only: the column that links the tables.",
    "count": "Decoupled releases only: the column that says how many people of a group have a "
    "value.",
    "rows": "How many rows there are.",
    "rows.published": "Rows that keep the promises.",
    "rows.suppressed": "Rows left out because they could not keep them.",
    "rows.suppression": "`remove`: such rows are not in the file. `star`: they are, with `*` in "
    "every quasi-identifier and nothing else.",
    "missing": "What a missing quasi-identifier is: `own-value`, `matches-any` or `suppress`.",
    "models": "The promises: each model by its name and settings, as in the policy.",
    "models[].model": "The name of the model; its settings stand beside it.",
    "models[].measured": "The strictest values that the published rows keep. May be better than "
    "what was promised. `inf` is written as a text.",
    "loss": "The name of the loss the policy asked to keep small.",
    "losses": "The losses that were measured, the policy's own first. Those that follow from the "
    "published classes have a figure, with their default settings; the others depend on values "
    "that are not published, and have `null`.",
    "classes": "The classes of the published rows.",
    "classes.count": "How many there are.",
    "classes.smallest": "Rows of the smallest.",
    "classes.largest": "Rows of the largest.",
    "classes.average": "Rows per class.",
    "method": "How rows were recoded: the method by its name and settings, as in the policy.",
    "method.name": "The name of the method; its settings stand beside it.",
    "method.refined": "What was asked besides the policy because of what `sf.detect` had found "
    "in an earlier release. Not there if nothing was.",
    "method.refined[].column": "A sensitive column that quasi-identifiers told.",
    "method.refined[].alpha": "The largest share of a class that a value of it may have.",
    "search": "How the levels were found. Not there with a local method.",
    "search.name": "The name of the search.",
    "search.optimal": "Whether it was proven that no other node loses less.",
    "hierarchies": "Hierarchies of sensitive columns, for models that measure distances in them: "
    "for each value its labels from level 1 to the top.",
    "risk_levels": "From which probability on the publisher calls a risk moderate, high or very "
    "high; `sf.detect` and `sf.breach` go by it. Not there if the policy has none.",
    "risk_levels.moderate": "",
    "risk_levels.high": "",
    "risk_levels.very_high": "",
    "accepted": "Findings that the publisher knows of and accepts, each with `column`, `because`, "
    "`by` and perhaps `attack` and `people`. It excuses nothing: a verdict goes by the policy of "
    "the reader.",
    "owner": "Who answers for the release, as the policy states it. Not there if it states none.",
    "purpose": "What the release is for, likewise.",
    "left_out": "Decoupled releases only: what was in the table and is not any more.",
    "left_out.columns": "Columns of a release that were neither quasi-identifiers nor sensitive.",
    "left_out.models": "Promises that cannot be recomputed from such tables.",
    "synthetic": "[Synthetic releases](../how-to/synthesize.md) only: what drew the rows, and what "
    "is promised of it. `models` is empty then.",
    "synthetic.mechanism": "`mst` or `aim`.",
    "synthetic.noise": "`gaussian`, or `laplace` where the promise is pure.",
    "synthetic.unit": "Whom the promise is about: `row`, `person` or `household`.",
    "synthetic.contributions": "The most rows of a unit that were counted.",
    "synthetic.epsilon": "What the promise is.",
    "synthetic.delta": "The probability with which nothing is promised.",
    "synthetic.rho": "What measurements and selection divide, if noise is Gaussian.",
    "synthetic.measurements": "What was counted under noise; the counts are not there.",
    "synthetic.measurements[].columns": "The columns that were counted together.",
    "synthetic.measurements[].scale": "The scale of the noise of each count.",
    "synthetic.measurements[].spent": "What that spends, of rho or of epsilon.",
    "synthetic.selection": "What was spent on choosing which columns to count together.",
    "synthetic.domain": "Per column, its cells: `values`, or `cells_from` and `to` of a line of "
    "numbers or days; `missing` says whether a value may be.",
    "synthetic.derived": "Columns that are computed from others, and were not drawn.",
    "synthetic.library": "What drew the noise and kept the accounts.",
    "notes": "Decoupled releases only: what is true of every such release and easily overlooked.",
    "reproducible": "True if a seed was given. Such a release is not for publication.",
    "versions": "The versions of Python and of the libraries.",
    "versions.python": "",
    "versions.numpy": "",
    "versions.pyarrow": "",
    "table": "Releases of one table in a database only, in place of `files`.",
    "table.name": "Its name there, with its schema if one was given.",
    "table.rows": "Rows in it, starred ones included.",
    "files": "The data file, or every table of a decoupled release. Missing in a release of one "
    "table in memory or in a database.",
    "files[].name": "Its name in the folder, or in the database.",
    "files[].format": "`csv`, `parquet` or `feather`. Not there in a database.",
    "files[].rows": "Rows in it, starred ones included.",
    "files[].sha256": "Its SHA-256. Not there in a database: see the evidence of a signed release.",
    "files[].table": "Decoupled releases only: `qi` (one row per person) or `sensitive`.",
    "files[].column": "Decoupled releases only: the sensitive column that the table counts.",
    "files[].delimiter": "What separates the cells of a CSV file; not there for other formats.",
    "documents": "The texts beside the data in a folder: a README, two codebooks, a schema.",
    "documents[].name": "Its name in the folder.",
    "documents[].sha256": "Its SHA-256.",
}
"""Every key of a manifest and what it means; `[]` stands for each item of a list."""


def page() -> str:
    """Write the page."""
    rows = [[code(path), prose(meaning)] for path, meaning in FIELDS.items()]
    return joined(
        "# Manifest",
        "`manifest.json` lies in every release folder beside the data, and `release.manifest` is "
        "the same in Python: `release.manifest.rows.published` is `rows.published` below, and "
        "`release.manifest.to_dict()` is all of it. Of a release in a database it is the one text "
        "in the table `…_manifest` beside it. It says what was done and what is promised, and "
        "everything in it may be public. "
        "[Read a release](../how-to/read-a-release.md#the-manifest) goes through one.",
        "`sfumato verify` recomputes what it claims from the rows.",
        table(["key", "meaning"], rows),
        "Losses, method and search are not in the manifest of a decoupled release: they describe "
        "how rows were generalised, and the release it was made of says so.",
    )
