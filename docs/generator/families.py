"""Reference pages of the families: one function per page."""

from docs.generator.docstrings import doc_of
from docs.generator.markdown import code, joined, prose, table
from docs.generator.members import Kind, overview, own, python, sections
from sfumato.attacks import ATTACKS
from sfumato.decouplings import DECOUPLINGS
from sfumato.derivations import DERIVATIONS
from sfumato.hierarchy import BUILDERS, EXAMPLE_FOLDER
from sfumato.losses import AGGREGATES, LOSSES
from sfumato.models import MODELS
from sfumato.networks import LEARNERS
from sfumato.partition import PARTITIONERS
from sfumato.perturbations import PERTURBATIONS
from sfumato.policy.parts import REGIONAL, Regional, member_settings, parameters
from sfumato.populations import ESTIMATORS
from sfumato.profiles import CHECKS, PROFILES
from sfumato.search import SEARCHES
from sfumato.text import text_of


def models() -> str:
    """Write the page of privacy models."""

    def policy(kind: Kind) -> dict[str, object]:
        population = {"population": "people.csv"} if kind.needs_population else {}
        items = {"columns": {"diagnoses": {"role": "set", "separator": ";"}}}
        return {
            **(items if kind.protects_sets else {}),
            "models": [member_settings(kind.example(), "model")],
            **population,
        }

    return joined(
        "# Models",
        "What a release promises about the classes of people that look alike. A policy lists them "
        "under `models`, and all of them must hold in every class. Which to take is the subject of "
        "[Choose models](../how-to/choose-models.md); [Models](../concepts/models.md) explains "
        "the kinds.",
        overview(
            MODELS,
            {
                "Of a sensitive column": lambda kind: (
                    "column" in parameters(kind) and not kind.of_weights
                ),
                "Needs a population": lambda kind: kind.needs_population,
                "Needs a weight": lambda kind: kind.of_weights,
                "Classes that pass still pass when merged with any other": lambda kind: (
                    kind.merging[1]
                ),
                "Classes that all pass still pass when merged, but one that fails can spoil it": (
                    lambda kind: kind.merging[0] and not kind.merging[1]
                ),
            },
        ),
        "Of models in neither of the last two lists nothing follows for merged classes "
        "([why that matters](../decisions/0002-monotone-is-two-properties.md)).",
        *sections(
            MODELS,
            policy,
            lambda kind: python("models", kind.example()),
        ),
    )


def hierarchies() -> str:
    """Write the page of hierarchy builders."""

    def policy(kind: Kind) -> dict[str, object]:
        hierarchy = member_settings(kind.example(), "kind")
        return {"columns": {"my_column": {"role": "quasi-identifier", "hierarchy": hierarchy}}}

    return joined(
        "# Hierarchies",
        "How values become more general, level by level. A policy names one under `hierarchy` of a "
        "column. A quasi-identifier without one is published as it is or as `*`. Below each "
        "example stands what it makes of some values. "
        "[Build hierarchies](../how-to/build-hierarchies.md) shows how to choose and check them.",
        overview(BUILDERS, {}),
        *sections(
            BUILDERS,
            policy,
            lambda kind: joined(
                python("hierarchy", kind.example()),
                _ladder(kind),
            ),
        ),
    )


def derivations() -> str:
    """Write the page of derivations."""

    def policy(kind: Kind) -> dict[str, object]:
        return {"derive": [member_settings(kind.example(), "kind")]}

    return joined(
        "# Derivations",
        "What is computed before anything else is done with a table. A policy lists them under "
        "`derive`, and they are computed in that order; what is made has its role under `columns`. "
        "[Work with dates](../how-to/work-with-dates.md) shows them on a table.",
        overview(DERIVATIONS, {}),
        *sections(DERIVATIONS, policy, lambda kind: python("derivations", kind.example())),
    )


def perturbations() -> str:
    """Write the page of perturbations."""

    def policy(kind: Kind) -> dict[str, object]:
        settings = member_settings(kind.example(), "kind")
        return {"columns": {"income": {"role": "sensitive", "perturb": settings}}}

    return joined(
        "# Perturbations",
        "What changes values before anything else is done with a table. A policy states one under "
        "`perturb` of a column, or several in a list, of which the last may be random. The "
        "manifest repeats kind and settings. [Perturb numbers and categories]"
        "(../how-to/perturb.md) shows them on a table, "
        "[Perturbation](../concepts/perturbation.md) what is promised then.",
        overview(PERTURBATIONS, {"Random": lambda kind: kind.random}),
        *sections(PERTURBATIONS, policy, lambda kind: python("perturbations", kind.example())),
    )


def losses() -> str:
    """Write the page of losses."""
    aggregates = [[code(n), prose(doc_of(kind).summary)] for n, kind in own(AGGREGATES).items()]
    return joined(
        "# Losses",
        "What a release no longer tells. The search looks for the release with the smallest "
        "`loss`. [Losses](../concepts/losses.md) explains what they "
        "have in common.",
        overview(LOSSES, {}),
        *sections(
            LOSSES,
            lambda kind: {"loss": member_settings(kind.example(), "loss")},
            lambda kind: python("losses", kind.example()),
        ),
        "## Aggregates",
        "How the losses of single columns become one number, for the losses with the setting "
        "`aggregate`. Each column counts with its `weight` in the policy.",
        table(["aggregate", "in a sentence"], aggregates),
    )


def searches() -> str:
    """Write the page of searches."""
    return joined(
        "# Searches",
        "How the best generalisation is looked for. A policy names one under `search`; the default "
        "is best-first without a limit. [Searches](../concepts/searches.md) explains what *proven "
        "optimal* means, and [Large lattices](../how-to/look-at-a-lattice.md#when-it-is-large) "
        "what to do when a search takes long.",
        overview(SEARCHES, {"Proves it": lambda kind: kind.exact}),
        "*Proves it*: if its budget lets it finish, the result is proven to be the best.",
        *sections(
            SEARCHES,
            lambda kind: {"search": {"search": kind.name, "seconds": 60}},
            lambda kind: python("search", kind(seconds=60)),
        ),
    )


def methods() -> str:
    """Write the page of methods of local recoding."""
    return joined(
        "# Methods",
        "How rows are recoded. A policy names one under `method`; the default, `full-domain`, "
        "gives every column one level for the whole table and has a [search](searches.md); "
        "`regional` goes on from there to one cut through each hierarchy. The others are *local*: "
        "they generalise each group of rows only as far as it must be. "
        "[Local recoding](../concepts/local-recoding.md) explains them with a small example, and "
        "[Recode locally](../how-to/recode-locally.md) shows how to use them.",
        overview({REGIONAL: Regional, **PARTITIONERS}, {}),
        *sections(
            {REGIONAL: Regional},
            lambda kind: {"method": {"method": kind.name, "rounds": kind.example().rounds}},
            lambda _: 'In Python: `sf.anonymize(..., method="regional")`',
        ),
        *sections(
            PARTITIONERS,
            lambda kind: {"method": {"method": kind.name, **kind.example().params()}},
            lambda kind: python("partition", kind.example()),
        ),
    )


def attacks() -> str:
    """Write the page of attacks."""
    return joined(
        "# Attacks",
        "What an adversary learns about a person from a release. [`sf.verify`](python.md#sfverify) "
        "tries every attack that applies and says who is at risk; "
        "[`sf.tools.attack`](python.md#sftoolsattack) runs those that look at classes on any "
        "table, published or not. [Attacks](../concepts/attacks.md) tells the story of each, and "
        "when an attack speaks against a release.",
        overview(ATTACKS, {}),
        *sections(ATTACKS, None, lambda kind: python("attacks", kind.example()), stories=False),
    )


def learners() -> str:
    """Write the page of learners."""
    return joined(
        "# Learners",
        "How [`sf.detect`](python.md#sfdetect) finds out which columns depend on which. It takes "
        "a learner by its name or with settings; the default is `ic`. A policy names one under "
        "`detect`. [Detection](../concepts/detection.md) explains what is done with the networks.",
        overview(
            LEARNERS,
            {
                "No cycles": lambda kind: kind.acyclic,
                "Keeps constraints": lambda kind: kind.constrained,
                "Needs pyAgrum": lambda kind: kind.extra is not None,
            },
        ),
        "*Keeps constraints*: no arrow leads from a sensitive column to a quasi-identifier. "
        '*Needs pyAgrum*: it comes with the optional part `bayes`, `pip install "sfumato[bayes]"`.',
        *sections(LEARNERS, None, lambda kind: python("networks", kind.example())),
    )


def decouplings() -> str:
    """Write the page of decouplings."""
    return joined(
        "# Decouplings",
        "How a table is published in parts, so that rows cannot be put together again. "
        "[`sf.decouple`](python.md#sfdecouple) takes one by its name or as an object, a policy "
        "under `decouple`. [Break-Merge](../concepts/break-merge.md) explains what that protects "
        "and what not, [Decouple a release](../how-to/decouple-a-release.md) how it is done.",
        overview(DECOUPLINGS, {}),
        *sections(DECOUPLINGS, None, lambda kind: python("decouplings", kind.example())),
    )


def estimators() -> str:
    """Write the page of estimators."""
    return joined(
        "# Estimators",
        "How many people are unique in a population of which a table is a sample. "
        "[`sf.inspect`](python.md#sfinspect) shows all of them where a sampling fraction or "
        "weights are known. Each is an estimate and no promise. "
        "[Samples and populations](../concepts/populations.md) says how far they are off.",
        overview(ESTIMATORS, {}),
        *sections(
            ESTIMATORS,
            None,
            lambda kind: "In Python: " + code(f"sf.populations.{kind.__name__}()"),
        ),
    )


def _ladder(kind: Kind) -> str:
    """Show the labels of the example's values, one column per level."""
    values = kind.example_values()
    ladder = kind.example().relative_to(EXAMPLE_FOLDER).ladder("my_column", values)
    rows = [
        [
            code(text_of(value)),
            *(
                code(ladder.labels[level][ladder.codes[level][i]])
                for level in range(1, ladder.height + 1)
            ),
        ]
        for i, value in enumerate(values)
    ]
    return table(["level 0", *(f"level {i}" for i in range(1, ladder.height + 1))], rows)


def profiles() -> str:
    """Write the page of profiles, with the clauses of each."""

    def clauses(kind: Kind) -> str:
        rows = [
            [each.id, prose(each.text), code(each.check.name), prose(each.source)]
            for each in kind.example().clauses()
        ]
        return joined(
            python("profiles", kind.example()) if kind.name != "file" else "",
            table(["clause", "it asks for", "check", "source"], rows),
        )

    return joined(
        "# Profiles",
        "The rules people answer to. A policy names one under `profile`, and `sfumato verify` says "
        "of each clause whether it holds, or that a person has to check it. None of this is legal "
        "advice. [Answer to a rule](../how-to/answer-to-a-rule.md) shows how to use them and how "
        "to write your own.",
        overview(PROFILES, {}),
        *sections(
            PROFILES,
            lambda kind: (
                {"profile": member_settings(kind.example(), "profile")}
                if kind.name != "file"
                else {"profile": "ours.yaml"}
            ),
            clauses,
        ),
        "## Checks",
        "What a profile of your own can ask for:",
        table(
            ["check", "what it asks for", "settings"],
            [
                [
                    code(name),
                    prose(doc_of(kind).summary),
                    ", ".join(code(each) for each in parameters(kind)),
                ]
                for name, kind in own(CHECKS).items()
            ],
        ),
    )
