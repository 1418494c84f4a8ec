"""May this be published? The promises and the attacks, under one answer."""

from dataclasses import dataclass, field
from typing import Any, Literal

from sfumato.attacks import Outcome
from sfumato.errors import UnknownNameError
from sfumato.fragment import fragment
from sfumato.policy import RiskLevels
from sfumato.verifier import Check, Verdict

Answer = Literal["yes", "with care", "no"]


@dataclass(frozen=True)
class Assessment:
    """Everything that was found out about a release, and whether it may be published.

    The answer is *no* if a promise is broken or could not be checked, or if an attack the release
    is to withstand puts more people at risk than are allowed; *with care* if some belief about
    somebody reaches the level `high` without that; else *yes*.

    Does not promise: that the roles are right, or that nobody knows a better attack.

    Example:
        >>> checks = (Check("k-anonymity", "holds", {"k": 2}, {"k": 3}),)
        >>> weak = Outcome("linking", None, people=0, of=9, prior=1 / 9, posterior=1 / 3,
        ...     threshold=0.75)
        >>> found = Assessment(Verdict(checks), (weak,))
        >>> found.answer, found.holds, found["k-anonymity"].status
        ('yes', True, 'holds')
    """

    verdict: Verdict
    """The promises, recomputed from the files."""

    attacks: tuple[Outcome, ...] = ()
    levels: RiskLevels = field(default_factory=RiskLevels)
    allowed: int = 0
    """How many people may be at risk by any one attack."""

    @property
    def checks(self) -> tuple[Check, ...]:
        """Every promise, in the order they were checked."""
        return self.verdict.checks

    def __getitem__(self, name: str) -> Check:
        """Find the first check of a name."""
        return self.verdict[name]

    def attack(self, name: str, column: str | None = None) -> Outcome:
        """Find what an attack achieved; with several of a name, the one on a column."""
        for outcome in self.attacks:
            if outcome.attack == name and column in (None, outcome.column):
                return outcome
        known = [outcome.attack for outcome in self.attacks]
        raise UnknownNameError("attack", name if column is None else f"{name}({column})", known)

    @property
    def succeeded(self) -> tuple[Outcome, ...]:
        """The attacks that put more people at risk than are allowed."""
        return tuple(each for each in self.attacks if each.judged and each.people > self.allowed)

    @property
    def holds(self) -> bool:
        """Whether it may be published: every promise holds and no attack succeeds.

        A table that promises nothing is judged by the attacks alone; if there were none, nothing
        was looked at, and that is no yes.
        """
        kept = self.verdict.holds if self.checks else bool(self.attacks)
        return kept and not self.succeeded

    @property
    def answer(self) -> Answer:
        """The answer in a word or two: yes, with care, no."""
        if not self.holds:
            return "no"
        beliefs = [each.posterior for each in self.attacks if each.judged and each.gain]
        strongest = max((p for p in beliefs if p is not None), default=0.0)
        return "with care" if strongest >= self.levels.high else "yes"

    @property
    def why(self) -> tuple[str, ...]:
        """The reasons of the answer, the weightiest first, each a sentence."""
        broken = [
            f"the promise {check.name} is {check.status}"
            + (f": {check.detail}" if check.detail else "")
            for check in self.checks
            if check.status != "holds"
        ]
        attacked = [str(outcome) for outcome in self.succeeded]
        if broken or attacked:
            return (*broken, *attacked)
        if self.answer == "with care":
            risky = [
                each
                for each in self.attacks
                if each.judged and each.gain and (each.posterior or 0) >= self.levels.high
            ]
            risky.sort(key=lambda each: -(each.posterior or 0))
            return tuple(str(outcome) for outcome in risky)
        kept = f"all {len(self.checks)} promises hold" if self.checks else "nothing is promised"
        told = [each for each in self.attacks if not each.judged and each.people]
        # What is only told is no reason to refuse, and still not to be denied.
        those = " that is judged" if told else ""
        also = tuple(f"told only: {outcome}" for outcome in told)
        return (f"{kept} and no attack{those} puts anybody at risk", *also)

    def to_dict(self) -> dict[str, Any]:
        """Give it as plain values that JSON can hold."""
        return {
            "answer": self.answer,
            **self.verdict.to_dict(),
            "holds": self.holds,
            "why": list(self.why),
            "levels": self.levels.written(),
            "allowed": self.allowed,
            "attacks": [outcome.to_dict() for outcome in self.attacks],
        }

    def _repr_html_(self) -> str:
        checks = [[check.status, check.name, check.detail] for check in self.checks]
        attacks = [
            ["at risk" if outcome.people > self.allowed else "withstood", str(outcome), ""]
            for outcome in self.attacks
            if outcome.judged and outcome.tried
        ]
        # What is wrong comes first: long lists are cut.
        rows = sorted(attacks + checks, key=lambda row: row[0] in ("holds", "withstood"))
        headline = f"May it be published? {self.answer.capitalize()}."
        return fragment(headline, ["result", "what", "remark"], rows)

    def __repr__(self) -> str:
        return (
            f"<Assessment: {self.answer}, {len(self.checks)} checks, {len(self.attacks)} attacks>"
        )

    def __str__(self) -> str:
        lines = [f"May it be published? {self.answer.capitalize()}."]
        lines.append(str(self.verdict) if self.checks else "Nothing is promised.")
        if self.attacks:
            lines.append("Attacks:")
        for outcome in self.attacks:
            mark = "told" if not outcome.judged else "ok" if not outcome.people else "at risk"
            lines.append(f"  {mark if outcome.tried else '-':<9}  {outcome}")
            if outcome.people and outcome.worst:
                lines.append(f"             worst: {outcome.worst[0]}")
        return "\n".join(lines)
