"""Reference page of policies, from their JSON Schema."""

from typing import Any

from docs.generator.docstrings import doc_of, member_docs
from docs.generator.markdown import block, code, joined, prose, table
from sfumato.decouplings import DECOUPLINGS
from sfumato.partition import PARTITIONERS
from sfumato.policy import (
    ColumnRule,
    DetectionRule,
    Missing,
    PersonRule,
    Policy,
    RiskLevels,
    Suppression,
    Tolerance,
)
from sfumato.policy.document import plain
from sfumato.policy.domains import DomainRule
from sfumato.policy.parts import InputRule, Part
from sfumato.profiles import PROFILES
from sfumato.schema import Role
from sfumato.search import SEARCHES

EXAMPLE = """\
version: 1
columns:
  name: identifier
  age:
    role: quasi-identifier
    hierarchy: {kind: intervals, widths: [5, 10, 20]}
    levels: [1, 4]   # at least five years wide
  sex: quasi-identifier
  postcode:
    role: quasi-identifier
    hierarchy: masking
    weight: 2        # its loss counts twice
  diagnosis: sensitive
other: dropped
models:
  - {model: k-anonymity, k: 5}
  - {model: distinct-l-diversity, column: diagnosis, l: 3}
loss: normalized-loss
search: {search: best-first, seconds: 60}
suppression: {limit: 5%, rows: remove}
missing: own-value
risk_levels: {high: 0.4}
verdict: {threshold: 0.6, people: 0}
"""

_WHERE = {
    "columns": "[the rule of each column](#columns)",
    "models": "a list of [models](models.md)",
    "loss": "a [loss](losses.md)",
    "method": "`full-domain`, [`regional`](methods.md#regional), or a [local method](methods.md)",
    "search": "a [search](searches.md)",
    "decouple": "a [decoupling](decouplings.md)",
    "detect": "[how dependencies are looked for](#detect)",
    "learner": "a [learner](learners.md)",
    "network": "a BIF file, or arrows",
    "order": "a list of columns",
    "person": "a column, or [settings](#person)",
    "household": "a column",
    "input": "[settings](#input)",
    "suppression": "a limit, or [settings](#suppression)",
    "hierarchy": "a [hierarchy](hierarchies.md)",
    "profile": "a [profile](profiles.md)",
    "domain": "a list of values, or [settings](#domain)",
    "values": "a list of values",
    "from": "a number or a day",
    "to": "a number or a day",
    "cuts": "a list of numbers or days",
    "risk_levels": "[where each level begins](#risk_levels)",
    "verdict": "[what is tolerated](#verdict)",
    "accept": "a list of findings",
    "against": "one of `quasi-identifiers`, `one-value`, `two-values`, or a list",
    "secret": "a list of values",
    "harmless": "a list of values",
    "dates": "an order, a format, or either with a pivot",
    "derive": "a list of [derivations](derivations.md)",
    "perturb": "[perturbations](perturbations.md), or a share",
    "width": "a number, or days as in `30d`",
}


def page() -> str:
    """Write the page."""
    schema = Policy.json_schema(
        searches=SEARCHES, methods=PARTITIONERS, decouplings=DECOUPLINGS, profiles=PROFILES
    )
    column = schema["properties"]["columns"]["additionalProperties"]["anyOf"][1]
    suppression = schema["properties"]["suppression"]["anyOf"][1]
    return joined(
        "# Policy",
        "A policy is a YAML file (or `sf.Policy(...)` in Python) with these keys. "
        "[Write a policy](../how-to/write-a-policy.md) goes through them one after the other, "
        "`sfumato init` drafts one, and `sfumato schema` gives the same as JSON Schema for "
        "editors.",
        block("yaml", EXAMPLE),
        "Text is taken as it is written: `no`, `01234` and `2020-01-31` need no quotes. Anchors, "
        "aliases and tags are refused. File names are relative to the folder of the policy.",
        "## Keys",
        _keys(schema, Policy),
        "## columns",
        "Each column is given by its role alone (`age: quasi-identifier`) or by these keys. "
        + prose(doc_of(ColumnRule).body[0]),
        _keys(column, ColumnRule),
        "### Roles",
        _choices(Role),
        "## domain",
        "A list alone (`domain: [female, male]`) or these keys. "
        + prose(doc_of(DomainRule).body[0])
        + " [Publish synthetic rows](../how-to/synthesize.md) needs it.",
        _keys(column["properties"]["domain"]["anyOf"][1], DomainRule),
        "## suppression",
        "A limit alone (`suppression: 5%`) or these keys. " + prose(doc_of(Suppression).body[0]),
        _keys(suppression, Suppression),
        "## missing",
        "[Missing values](../concepts/missing-values.md) explains the choice with an example.",
        _choices(Missing),
        "## person",
        "A column alone (`person: patient_id`) or these keys. " + prose(doc_of(PersonRule).body[0]),
        _keys(schema["properties"]["person"]["anyOf"][1], PersonRule),
        "## detect",
        "What `sf.detect`, `sf.protect` and `sf.report` go by; none of it is part of a release. "
        "[Detection](../concepts/detection.md) explains it. `sf.verify` learns its own network, "
        "so that no network of a policy can hide a leak from it.",
        _keys(schema["properties"]["detect"], DetectionRule),
        "## input",
        prose(doc_of(InputRule).summary)
        + " [Read files as they are](../how-to/read-files.md) shows it.",
        _keys(schema["properties"]["input"], InputRule),
        "## risk_levels",
        "What a probability is called; what is below the first is low. A belief that is very high "
        "speaks against a release, unless [verdict](#verdict) says otherwise, and one that is high "
        "asks for care. A level that is not given begins where it usually does.",
        _keys(schema["properties"]["risk_levels"], RiskLevels),
        "## verdict",
        "What `sf.verify` goes by when it runs attacks. " + prose(doc_of(Tolerance).body[0]),
        _keys(schema["properties"]["verdict"], Tolerance),
    )


def _keys(schema: dict[str, Any], part: type[Part]) -> str:
    rows = []
    for name, entry in schema["properties"].items():
        each = part.settings()[name]
        given = "required" if each.needed else _shown(each.default)
        rows.append([code(name), _WHERE.get(name) or _kind(entry), given, entry["description"]])
    return table(["key", "is", "default", "meaning"], [[*row[:3], prose(row[3])] for row in rows])


def _shown(value: object) -> str:
    name = getattr(value, "name", None)
    if isinstance(value, Suppression):
        return code(value.limit)
    if isinstance(value, RiskLevels):
        return ", ".join(code(f"{start:g}") for start in value.to_plain().values())
    if isinstance(value, Tolerance):
        return "where very high risk begins, no person"
    if isinstance(value, DetectionRule):
        return "learned by `ic`, plain shares"
    if value is None or value == () or isinstance(value, InputRule):
        return "found out" if isinstance(value, InputRule) else "none"
    return code(plain(value) if isinstance(value, Missing | int | float | str) else name)


def _kind(entry: dict[str, Any]) -> str:
    """Say in words what a schema allows."""
    if "const" in entry:
        return code(entry["const"])
    if "enum" in entry:
        return ", ".join(code(value) for value in entry["enum"] if value is not None)
    kinds = [entry["type"]] if isinstance(entry["type"], str) else entry["type"]
    words = {
        "array": "a list of texts"
        if entry.get("items", {}).get("type") == "string"
        else "a list of two whole numbers",
        "string": "text",
        "number": "a number",
        "integer": "a whole number",
        "boolean": "true or false",
        "object": "settings",
    }
    return " or ".join(words[kind] for kind in kinds if kind != "null")


def _choices(kind: type[Role] | type[Missing]) -> str:
    means = member_docs(kind)
    return table(["name", "meaning"], [[code(m.value), prose(means[m.name])] for m in kind])
