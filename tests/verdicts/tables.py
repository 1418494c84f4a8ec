"""Releases that may and may not be published."""

import pyarrow as pa

import sfumato as sf
from sfumato.attacks import Case, Outcome
from sfumato.tasks.assessment import Assessment
from sfumato.verifier import Check, Verdict

ROLES = {"quasi_identifiers": ["age"], "sensitive": ["ill"]}


def safe() -> pa.Table:
    """Two classes in which four illnesses are equally likely."""
    return pa.table({"age": ["3*"] * 8 + ["4*"] * 8, "ill": ["flu", "gout", "hiv", "ulcer"] * 4})


def leaky() -> pa.Table:
    """The same, but everybody in their forties has hiv, and nobody else."""
    ill = ["flu", "gout", "cold", "ulcer"] * 2
    return pa.table({"age": ["3*"] * 8 + ["4*"] * 8, "ill": ill + ["hiv"] * 8})


def policy(**settings) -> sf.Policy:
    columns = {"age": "quasi-identifier", "ill": "sensitive"}
    return sf.Policy(columns=columns, models=[sf.models.KAnonymity(4)], **settings)


def odd_assessment() -> Assessment:
    """An answer full of texts that some format takes for its own."""
    nasty = 'a|b <script>alert("x")</script> \x00\x1b ]]> `c` & \u202e *d*'
    case = Case({nasty: nasty, "none": None}, 3, f"ill = {nasty}", prior=0.25, posterior=1.0)
    told = {"people": 3, "of": 9, "prior": 0.25, "posterior": 1.0, "threshold": 0.75}
    return Assessment(
        Verdict(
            (
                Check("rows", "holds", 4, 4),
                Check("k-anonymity", "broken", {"k": 2}, {"k": 1}, nasty),
                Check("k-map", "unchecked", {"k": 2}, None, "no population"),
            )
        ),
        (
            Outcome("homogeneity", nasty, worst=(case,), how=nasty, **told),
            Outcome("background-knowledge", "ill", judged=False, worst=(case,), **told),
            Outcome(
                "linking", None, people=0, of=9, prior=1 / 9, posterior=0.5, threshold=0.75, high=2
            ),
            Outcome(
                "composition", None, people=0, of=9, prior=None, posterior=None, threshold=0.75,
                note="there is no earlier release",
            ),
        ),
    )  # fmt: skip
