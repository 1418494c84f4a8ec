"""Every mistake in a policy is answered with its line, what was given and what is allowed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import PolicyError
from sfumato.models import KAnonymity
from sfumato.policy import ColumnRule, Policy, Suppression, document

GOOD_COLUMNS = "columns: {age: quasi-identifier, disease: sensitive}\n"
GOOD_MODELS = "models: [{model: k-anonymity, k: 2}]\n"
GOOD = GOOD_COLUMNS + GOOD_MODELS


def complaint(text, **options):
    with pytest.raises(PolicyError) as caught:
        Policy.from_yaml(text, origin="p", **options)
    return str(caught.value)


def column(rule):
    return f"columns:\n  disease: sensitive\n  age: {rule}\n" + GOOD_MODELS


def model(settings):
    return GOOD_COLUMNS + f"models:\n  - {settings}\n"


MISTAKES = {
    "an unknown key": (
        GOOD + "colums: 1",
        (
            "p, line 3, colums: unknown key 'colums'. Did you mean 'columns'? Known: 'version', "
            "'columns', 'other', 'models', 'loss', 'method', 'search', 'suppression', 'missing', "
            "'person', 'household', 'derive' and 13 more."
        ),
    ),
    "an unknown key of a column": (
        column("{role: quasi-identifier, waight: 2}"),
        (
            "p, line 3, columns.age.waight: unknown key 'waight'. Did you mean 'weight'? "
            "Known: 'role', 'hierarchy', 'weight', 'levels', 'secret', 'harmless', 'known', "
            "'width', 'spelling', 'as', 'dates', 'missing_codes' and 7 more."
        ),
    ),
    "an unknown key of the suppression": (
        GOOD + "suppression:\n  limt: 5%",
        (
            "p, line 4, suppression.limt: unknown key 'limt'. Did you mean 'limit'? "
            "Known: 'limit', 'rows', 'unit'."
        ),
    ),
    "a misspelt role": (
        column("quasi-identifer"),
        (
            "p, line 3, columns.age: no role 'quasi-identifer'. Did you mean 'quasi-identifier'? "
            "Known: 'identifier', 'quasi-identifier', 'sensitive', 'set', 'plain', 'weight', "
            "'dropped'."
        ),
    ),
    "a misspelt role in the long form": (
        column("\n    weight: 2\n    role: QI"),
        (
            "p, line 5, columns.age.role: no role 'QI'. "
            "Known: 'identifier', 'quasi-identifier', 'sensitive', 'set', 'plain', 'weight', "
            "'dropped'."
        ),
    ),
    "a role that is missing": (
        column("{weight: 2}"),
        (
            "p, line 3, columns.age: 'role' is missing: What the column is to an adversary: "
            "identifier, quasi-identifier, sensitive, set, plain, weight, dropped."
        ),
    ),
    "a role that is a list": (
        column("[quasi-identifier, sensitive]"),
        (
            "p, line 3, columns.age: must be a role, got a list of 2. "
            "Known: 'identifier', 'quasi-identifier', 'sensitive', 'set', 'plain', 'weight', "
            "'dropped'."
        ),
    ),
    "a column with two roles": (
        "columns:\n  age: quasi-identifier\n  disease: sensitive\n  disease: quasi-identifier\n"
        + GOOD_MODELS,
        (
            "p, line 4, columns.disease: 'disease' stands there already, on line 3. "
            "Keep one of the two."
        ),
    ),
    "a column twice, once in quotes": (
        "columns:\n  7: quasi-identifier\n  '7': sensitive\n" + GOOD_MODELS,
        "p, line 3, columns.7: '7' stands there already, on line 2. Keep one of the two.",
    ),
    "a column without a name": (
        "columns: {age: quasi-identifier, '': plain}\n" + GOOD_MODELS,
        "p, line 1, columns.'': a column name must be a text, got ''",
    ),
    "columns that are a list": (
        "columns: [age, disease]\n" + GOOD_MODELS,
        (
            "p, line 1, columns: must be a mapping of column names to their roles, as in "
            "{age: quasi-identifier}, got a list of 2"
        ),
    ),
    "no columns": (
        GOOD_MODELS,
        (
            "p, line 1: 'columns' is missing: The role of each column, as in "
            "{age: quasi-identifier, illness: sensitive}."
        ),
    ),
    "no quasi-identifier": (
        "columns: {disease: sensitive}\n" + GOOD_MODELS,
        (
            "p, line 1, columns: there is no quasi-identifier, so nothing would be generalised. "
            "Give the role quasi-identifier to every column that others may know, such as age or "
            "postcode."
        ),
    ),
    "a default role that hides a risk": (
        GOOD + "other: sensitive",
        (
            "p, line 3, other: a column that is sensitive must be named under columns, so that no "
            "reader overlooks it. Allowed: 'dropped', 'plain', 'identifier'."
        ),
    ),
    "a weight of nothing": (
        column("{role: quasi-identifier, weight: 0}"),
        "p, line 3, columns.age.weight: weight must be a number above 0, got 0.0",
    ),
    "a weight that is not finite": (
        column("{role: quasi-identifier, weight: .inf}"),
        "p, line 3, columns.age.weight: weight must be a number above 0, got inf",
    ),
    "a weight that is not a number": (
        column("{role: quasi-identifier, weight: heavy}"),
        "p, line 3, columns.age.weight: must be a number, got 'heavy'",
    ),
    "a number in quotes": (
        column("{role: quasi-identifier, weight: '2'}"),
        "p, line 3, columns.age.weight: must be a number, got '2'",
    ),
    "levels out of order": (
        column("{role: quasi-identifier, levels: [3, 1]}"),
        (
            "p, line 3, columns.age.levels: the lowest level, 3, is above the highest, 1. "
            "Write them as [lowest, highest]."
        ),
    ),
    "a level below the raw value": (
        column("{role: quasi-identifier, levels: [-1, 1]}"),
        "p, line 3, columns.age.levels[0]: a level is 0 (the raw value) or more, got -1",
    ),
    "three levels": (
        column("{role: quasi-identifier, levels: [1, 2, 3]}"),
        "p, line 3, columns.age.levels: must be a list of 2, got a list of 3",
    ),
    "levels for a column that is not generalised": (
        "columns:\n  age: quasi-identifier\n  name: {role: identifier, levels: [0, 1]}\n"
        + GOOD_MODELS,
        (
            "p, line 3, columns.name.levels: 'levels' means nothing for a column that is "
            "identifier: only quasi-identifier columns have one. Remove it or change the role."
        ),
    ),
    "an unknown hierarchy": (
        column("{role: quasi-identifier, hierarchy: {kind: interval}}"),
        (
            "p, line 3, columns.age.hierarchy.kind: no hierarchy 'interval'. "
            "Did you mean 'intervals'? Known: "
        ),
    ),
    "a hierarchy without its kind": (
        column("{role: quasi-identifier, hierarchy: {widths: [5]}}"),
        (
            "p, line 3, columns.age.hierarchy: 'kind' is missing: it names the hierarchy. "
            "Write {kind: intervals, widths: …}. Got a mapping with the keys 'widths'"
        ),
    ),
    "an unknown setting of a hierarchy": (
        column("\n    role: quasi-identifier\n    hierarchy:\n      kind: masking\n      stop: 1"),
        (
            "p, line 7, columns.age.hierarchy.stop: masking has no parameter 'stop'. "
            "Did you mean 'step'? Known: "
        ),
    ),
    "an impossible setting of a hierarchy": (
        column("{role: quasi-identifier, hierarchy: {kind: masking, step: 0}}"),
        "p, line 3, columns.age.hierarchy.step: step must be an integer of at least 1, got 0",
    ),
    "no model": (
        GOOD_COLUMNS + "models: []",
        (
            "p, line 2, models: there is no model, so nothing would be promised. Add at least "
            "one, as in {model: k-anonymity, k: 5}. Known: "
        ),
    ),
    "models left out": (
        GOOD_COLUMNS,
        (
            "p, line 1: 'models' is missing: What every class of people must keep, as in "
            "[{model: k-anonymity, k: 5}]."
        ),
    ),
    "models that are a mapping": (
        GOOD_COLUMNS + "models: {model: k-anonymity, k: 2}",
        (
            "p, line 2, models: must be a list, as in [{model: k-anonymity, k: 5}], "
            "got a mapping with the keys 'model', 'k'"
        ),
    ),
    "a misspelt model": (
        model("{model: k-anonimity, k: 5}"),
        (
            "p, line 3, models[0].model: no privacy model 'k-anonimity'. "
            "Did you mean 'k-anonymity'? Known: "
        ),
    ),
    "a model that is a number": (
        model("5"),
        "p, line 3, models[0]: no privacy model 5. Known: ",
    ),
    "a name of a model that is a list": (
        model("{model: [k-anonymity], k: 5}"),
        "p, line 3, models[0].model: must be the name of a privacy model, got a list of 1. ",
    ),
    "a model that is a list": (
        model("[k-anonymity, 5]"),
        "p, line 3, models[0]: must be a mapping with the key 'model', got a list of 2",
    ),
    "a misspelt parameter": (
        model("{model: k-anonymity, kk: 5}"),
        (
            "p, line 3, models[0].kk: k-anonymity has no parameter 'kk'. "
            "Did you mean 'k'? Known: 'k'."
        ),
    ),
    "a parameter left out": (
        model("{model: k-anonymity}"),
        ("p, line 3, models[0]: k-anonymity needs 'k': Fewest rows a class may have; 2 or more."),
    ),
    "an impossible parameter": (
        model("\n      model: k-anonymity\n      k: 0"),
        (
            "p, line 5, models[0].k: k must be an integer of at least 2, got 0: "
            "with k=1 every class passes"
        ),
    ),
    "a parameter of the wrong type": (
        model("{model: k-anonymity, k: five}"),
        "p, line 3, models[0].k: must be a whole number, got 'five'",
    ),
    "true where a number belongs": (
        model("{model: k-anonymity, k: true}"),
        "p, line 3, models[0].k: must be a whole number, got True",
    ),
    "a fraction where a whole number belongs": (
        model("{model: k-anonymity, k: 2.5}"),
        "p, line 3, models[0].k: must be a whole number, got 2.5",
    ),
    "a model of a column that is not there": (
        model("{model: distinct-l-diversity, column: diseese, l: 2}"),
        (
            "p, line 3, models[0].column: distinct-l-diversity protects 'diseese', which is not "
            "under columns. Did you mean 'disease'? Known: 'disease'."
        ),
    ),
    "a model of a column that is not sensitive": (
        model("{model: distinct-l-diversity, column: age, l: 2}"),
        (
            "p, line 3, models[0].column: distinct-l-diversity protects 'age', which is "
            "quasi-identifier: it must be a sensitive column. Known: 'disease'."
        ),
    ),
    "a distance in a hierarchy that is not there": (
        model("{model: t-closeness, column: disease, t: 0.2, distance: hierarchical}"),
        (
            "p, line 3, models[0].distance: t-closeness measures distances in the hierarchy of "
            "'disease', which has none. Give the column a hierarchy, or choose another distance."
        ),
    ),
    "no population for a model that asks for one": (
        model("{model: k-map, k: 2}"),
        (
            "p, line 3, models[0]: k-map compares with a population and none is given. "
            "Name its file at the top of the policy, as in population: people.csv"
        ),
    ),
    "a population nobody asks for": (
        GOOD + "population: people.csv",
        "p, line 3, population: no model of this policy compares with a population. Remove it.",
    ),
    "a population that is a list": (
        GOOD + "population: [people.csv]",
        "p, line 3, population: must be a file name, got a list of 1",
    ),
    "an unknown loss": (
        GOOD + "loss: normalised-loss",
        "p, line 3, loss: no loss 'normalised-loss'. Did you mean 'normalized-loss'? Known: ",
    ),
    "an unknown aggregate": (
        GOOD + "loss:\n  loss: height\n  aggregate: summ",
        "p, line 5, loss.aggregate: no aggregate 'summ'. Did you mean 'sum'? Known: ",
    ),
    "a search without a name": (
        GOOD + "search: {checks: 10}",
        (
            "p, line 3, search: 'search' is missing: it gives the name, as in "
            "{search: best-first}. Got a mapping with the keys 'checks'"
        ),
    ),
    "a search that is a list": (
        GOOD + "search: [best-first]",
        "p, line 3, search: must be a text, got a list of 1",
    ),
    "a method without a name": (
        GOOD + "method: {best: loss}",
        (
            "p, line 3, method: 'method' is missing: it gives the name, as in "
            "{method: top-down}. Got a mapping with the keys 'best'"
        ),
    ),
    "a method that is a list": (
        GOOD + "method: [top-down]",
        "p, line 3, method: must be a text, got a list of 1",
    ),
    "a method that is nothing": (
        GOOD + "method:",
        "p, line 3, method: must be a text, got nothing",
    ),
    "an option of the method that has none": (
        GOOD + "method:\n  method: full-domain\n  checks: 10",
        (
            "p, line 5, method.checks: full-domain has no options, got 'checks'. How the levels "
            "are looked for is said under search, as in search: {search: best-first, seconds: 60}"
        ),
    ),
    "a search for a method that searches nothing": (
        GOOD + "method: top-down\nsearch: {search: best-first, checks: 10}",
        (
            "p, line 4, search: says how a lattice of levels is searched, and the method top-down "
            "searches none. Remove it, or choose method: full-domain"
        ),
    ),
    "another search for a method that searches nothing": (
        "search: incognito\nmethod: {method: mondrian}\n" + GOOD,
        (
            "p, line 1, search: says how a lattice of levels is searched, and the method mondrian "
            "searches none. Remove it, or choose method: full-domain"
        ),
    ),
    "a method whose classes a population does not fit": (
        model("{model: k-map, k: 2}") + "population: people.csv\nmethod: top-down",
        (
            "p, line 3, models[0]: k-map compares with a population, and with the method top-down "
            "a person of it may match several classes: how many match each says nothing about "
            "what is promised. Choose method: full-domain"
        ),
    ),
    "a population that would not help": (
        model("{model: k-map, k: 2}") + "method: top-down",
        "p, line 3, models[0]: k-map compares with a population, and with the method top-down a ",
    ),
    "a risk level above one": (
        GOOD + "risk_levels: {high: 1.5}",
        (
            "p, line 3, risk_levels.high: a risk level must be a number of at least 0 and at most "
            "1, got 1.5"
        ),
    ),
    "risk levels that do not rise": (
        GOOD + "risk_levels: {moderate: 0.6}",
        "p, line 3, risk_levels: moderate, high and very_high must rise, got 0.6, 0.5, 0.75",
    ),
    "an unknown risk level": (
        GOOD + "risk_levels: {extreme: 0.9}",
        "p, line 3, risk_levels.extreme: unknown key 'extreme'.",
    ),
    "risk levels that are no mapping": (
        GOOD + "risk_levels: high",
        "p, line 3, risk_levels: must be a mapping as in {high: 0.5}, got 'high'",
    ),
    "a verdict that is no mapping": (
        GOOD + "verdict: strict",
        "p, line 3, verdict: must be a mapping as in {threshold: 0.5}, got 'strict'",
    ),
    "a threshold that everything reaches": (
        GOOD + "verdict: {threshold: 0}",
        "p, line 3, verdict.threshold: threshold must be a number above 0 and at most 1, got 0",
    ),
    "fewer people than nobody": (
        GOOD + "verdict: {people: -1}",
        "p, line 3, verdict.people: people must be an integer of at least 0, got -1",
    ),
    "more suppression than there is": (
        GOOD + "suppression: {limit: 120%}",
        "p, line 3, suppression.limit: limit must be at most 100 %, got '120%'",
    ),
    "a share above one": (
        GOOD + "suppression: {limit: 1.5}",
        (
            "p, line 3, suppression.limit: limit must be a share between 0 and 1, a percentage "
            "as in '5%', or a number of rows, got 1.5: a share is at most 1, or 100 %"
        ),
    ),
    "a negative number of rows": (
        GOOD + "suppression: {limit: -1}",
        "p, line 3, suppression.limit: limit must be an integer of at least 0, got -1",
    ),
    "a limit in words": (
        GOOD + "suppression: few",
        "p, line 3, suppression.limit: must be a whole number or a number, got 'few'",
    ),
    "an unknown way of suppressing": (
        GOOD + "suppression: {rows: stars}",
        (
            "p, line 3, suppression.rows: no choice 'stars' here. Did you mean 'star'? "
            "Known: 'remove', 'star'."
        ),
    ),
    "an unknown treatment of missing values": (
        GOOD + "missing: own",
        (
            "p, line 3, missing: no choice 'own' here. Known: 'own-value', 'matches-any', "
            "'suppress'."
        ),
    ),
    "another version": (
        "version: 2\n" + GOOD,
        "p, line 1, version: must be 1, the only version of policies there is, got 2",
    ),
    "an empty file": ("", "p: the policy is empty. It needs at least columns and models."),
    "only comments": (
        "# to do\n",
        "p: the policy is empty. It needs at least columns and models.",
    ),
    "a list": (
        "- columns\n- models",
        "p, line 1: a policy is a mapping with the keys columns and models, got a list of 2",
    ),
    "a word": (
        "\npolicy",
        "p, line 2: a policy is a mapping with the keys columns and models, got a text",
    ),
    "two documents": (
        GOOD + "---\n" + GOOD,
        "p, line 3: a second document begins. Keep one per file.",
    ),
    "an anchor": (
        "columns: &all {age: quasi-identifier}\n",
        (
            "p, line 1: anchors and aliases (&name, *name) are not allowed, got 'all'. "
            "Write the value out; put a * that is meant as text in quotes."
        ),
    ),
    "a bare star": (
        column("{role: quasi-identifier, hierarchy: {kind: masking, char: *x}}"),
        "p, line 3: anchors and aliases (&name, *name) are not allowed, got 'x'. ",
    ),
    "a tag that would run code": (
        GOOD + "other: !!python/object/apply:os.system [id]",
        (
            "p, line 3: tags are not allowed, got "
            "'tag:yaml.org,2002:python/object/apply:os.system'. Write the value without it."
        ),
    ),
    "a key that is a list": (
        "? [a, b]\n: 1",
        "p, line 1: a key must be text, not a list or a mapping",
    ),
    "text that is not YAML": (
        "columns: {age: plain\nmodels: [",
        "p, line 2: not valid YAML: ",
    ),
    "a tab for indentation": ("columns:\n\tage: plain", "p, line 2: not valid YAML: "),
    "bottomless nesting": ("[" * 5000, "p, line 1: nested deeper than 40 levels"),
    "a character no text has": ("columns: \x00", "p"),
    "half a character": ("columns: \ud800", "p: not text: surrogates not allowed"),
}


@pytest.mark.parametrize(("text", "expected"), list(MISTAKES.values()), ids=list(MISTAKES))
def test_a_mistake_is_told_with_its_line(text, expected):
    assert complaint(text).startswith(expected)


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize(("text", "expected"), list(MISTAKES.values()), ids=list(MISTAKES))
def test_the_slow_parser_sees_the_same_mistakes(text, expected, monkeypatch):
    # Where PyYAML was built without libyaml.
    monkeypatch.delattr("yaml.CSafeLoader")
    assert complaint(text).startswith(expected)


def test_all_mistakes_are_told_at_once_in_the_order_of_their_lines():
    text = (
        "models:\n - {model: k-anonymity, k: 1}\n - {model: k-nonsense}\ncolumns: {age: old}\nx: 1"
    )
    lines = complaint(text).splitlines()
    assert lines[0] == "p: 4 mistakes"
    assert [line.partition(":")[0] for line in lines[1:]] == [
        "p, line 2, models[0].k",
        "p, line 3, models[1].model",
        "p, line 4, columns.age",
        "p, line 5, x",
    ]


def test_the_mistakes_can_be_read_by_a_program():
    with pytest.raises(PolicyError) as caught:
        Policy.from_yaml(model("{model: k-anonymity, k: 0}"))
    [(path, text)] = caught.value.faults
    assert path == ("models", 0, "k")
    assert text.startswith("k must be an integer of at least 2")


def test_a_billion_laughs_are_refused_before_the_second():
    text = "a: &a [x, x]\n" + "".join(
        f"{new}: &{new} [*{old}, *{old}]\n" for old, new in zip("abcdef", "bcdefg", strict=True)
    )
    assert complaint(text).startswith("p, line 1: anchors and aliases")


class TestFiles:
    def test_a_file_that_is_not_there(self, tmp_path):
        with pytest.raises(
            PolicyError, match=r"none\.yaml: the policy cannot be read: No such file"
        ):
            Policy.load(tmp_path / "none.yaml")

    def test_a_folder(self, tmp_path):
        with pytest.raises(PolicyError, match="the policy cannot be read: Is a directory"):
            Policy.load(tmp_path)

    def test_a_name_no_file_can_have(self):
        with pytest.raises(PolicyError, match=r"the policy cannot be read: .*null"):
            Policy.load("a\0b")

    def test_text_that_is_not_utf_8(self, tmp_path):
        file = tmp_path / "p"
        file.write_bytes("columns: {größe: plain}".encode("latin-1"))
        with pytest.raises(
            PolicyError, match=r"p: not UTF-8 text: byte 0xf6 at position 12\. Save the file"
        ):
            Policy.load(file)

    def test_a_huge_file_is_not_even_read(self, tmp_path):
        file = tmp_path / "p"
        with file.open("wb") as handle:
            handle.truncate(document.LARGEST + 1)
        with pytest.raises(PolicyError, match=r"too large, a policy has at most 10\u202f000"):
            Policy.load(file)

    def test_a_huge_text_is_refused_too(self):
        with pytest.raises(PolicyError, match="a policy has at most 10\u202f000\u202f000"):
            Policy.from_yaml("#" * (document.LARGEST + 1))

    def test_more_values_than_anybody_writes_are_refused(self, monkeypatch):
        monkeypatch.setattr(document, "MOST", 10)
        assert complaint("a: [1, 2, 3,\n4, 5, 6, 7, 8, 9, 10]") == (
            "p, line 2: more than 10 keys and values"
        )


class TestInPython:
    def test_a_wrong_policy_is_refused_without_a_file(self):
        with pytest.raises(PolicyError, match=r"^policy, columns\.age: no role 'old'"):
            Policy(columns={"age": "old"}, models=[KAnonymity(2)])

    @pytest.mark.parametrize("name", [5, None, ""])
    def test_a_column_name_must_be_text(self, name):
        with pytest.raises(PolicyError, match="a column name must be a text, got"):
            Policy(columns={name: "quasi-identifier"}, models=[KAnonymity(2)])

    def test_keys_must_be_text(self):
        with pytest.raises(PolicyError, match=r"columns\.age: a key must be a text, got 5"):
            Policy(columns={"age": {5: "quasi-identifier"}}, models=[KAnonymity(2)])

    def test_a_model_must_be_a_model(self):
        with pytest.raises(
            PolicyError, match=r"models\[0\]: must be a mapping with the key 'model'"
        ):
            Policy(columns={"age": "quasi-identifier"}, models=[KAnonymity])

    def test_parts_refuse_by_themselves(self):
        with pytest.raises(PolicyError, match=r"policy, limit: limit must be a share"):
            Suppression(limit=-0.5)
        with pytest.raises(PolicyError, match=r"policy, weight: must be a number, got one that is"):
            ColumnRule(role="quasi-identifier", weight=10**400)


WORDS = st.sampled_from(
    [
        "columns",
        "models",
        "model",
        "kind",
        "role",
        "hierarchy",
        "weight",
        "levels",
        "other",
        "loss",
        "method",
        "full-domain",
        "top-down",
        "search",
        "suppression",
        "limit",
        "rows",
        "missing",
        "population",
        "version",
        "k-anonymity",
        "distinct-l-diversity",
        "t-closeness",
        "column",
        "k",
        "l",
        "t",
        "quasi-identifier",
        "sensitive",
        "plain",
        "dropped",
        "identifier",
        "intervals",
        "masking",
        "dates",
        "taxonomy",
        "csv",
        "widths",
        "bounds",
        "tree",
        "file",
        "remove",
        "star",
        "own-value",
        "5%",
        "5",
        "0",
        "-1",
        "1e5",
        ".nan",
        ".inf",
        "null",
        "true",
        "~",
        "2020-01-31",
        "&a",
        "*a",
        "<<",
        "!!python/object",
        "?",
        "|",
        ">",
        "-",
        ":",
        ",",
        "[",
        "]",
        "{",
        "}",
        "'",
        '"',
        "#",
        "%",
        "@",
        "`",
        "---",
        "...",
    ]
)
PLAIN_TREES = st.recursive(
    WORDS | st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(WORDS, inner, max_size=4),
    max_leaves=20,
)
SPACES = st.sampled_from([" ", "\n", "\n  ", "\n    - ", ": ", ", ", "\t"])


@given(st.lists(st.tuples(WORDS | st.text(max_size=3), SPACES), max_size=30))
def test_nothing_but_a_policy_error_comes_out_of_any_text(parts):
    text = "".join(word + space for word, space in parts)
    for start in ("", GOOD, GOOD_COLUMNS, "columns:\n  "):
        try:
            Policy.from_yaml(start + text)
        except PolicyError as error:
            assert str(error)  # noqa: PT017 - that it is one is the point


@given(st.binary(max_size=200))
def test_nothing_but_a_policy_error_comes_out_of_any_file(tmp_path_factory, content):
    file = tmp_path_factory.getbasetemp() / "any.yaml"
    file.write_bytes(content)
    with pytest.raises(PolicyError):
        Policy.load(file)


@given(st.dictionaries(st.sampled_from(list(Policy.settings())), PLAIN_TREES), PLAIN_TREES)
def test_nothing_but_a_policy_error_comes_out_of_any_tree(tree, below):
    import yaml

    columns = {"age": {"role": "quasi-identifier", "hierarchy": below}, "disease": "sensitive"}
    good = {"columns": columns, "models": [{"model": "k-anonymity", "k": 2}]}
    for settings in (tree, {**good, **tree}, {**good, "models": [below]}):
        for make in (lambda s: Policy(**s), lambda s: Policy.from_yaml(yaml.safe_dump(s))):
            try:
                made = make(settings)
            except PolicyError as error:
                assert error.args  # noqa: PT017 - that it is one is the point
            else:
                assert isinstance(made, Policy)
