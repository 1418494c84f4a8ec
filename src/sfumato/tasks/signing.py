"""The answer that is signed with a release; where it is no, only those who insist sign."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sfumato.errors import InputError
from sfumato.policy import GivenPolicy

if TYPE_CHECKING:
    from sfumato.tasks.assessment import Assessment


class AnswerIsNoError(InputError):
    """The answer is *no*, and nobody insisted."""

    def __init__(self, why: str) -> None:
        super().__init__(
            f"it was not signed, because the answer is no: {why}. Mend it, or sign it all the "
            "same: --even-so (even_so=True)."
        )
        self.why = why


def answer_to_sign(
    release: object,
    policy: GivenPolicy | None = None,
    *,
    population: object = None,
    even_so: bool | str = False,
) -> Mapping[str, Any]:
    """Return the answer and what it assumes; raise if it is no and the signer does not insist.

    Every way to a signature asks here, before anything is signed.

    Args:
        release: A release that keeps its promises.
        policy: The policy it was made with; that of what `sf.anonymize` returned is its own.
        population: All people the data was drawn from; None takes the policy's.
        even_so: Whether it is signed all the same; a text is the reason, which is signed too.
    """
    # Imported late: few releases are signed, and to answer takes every attack.
    from sfumato.tasks.verify import verify

    found = verify(release, policy, population=population)
    if found.answer == "no" and not even_so and not _waits_for_others(found):
        raise AnswerIsNoError(found.why[0].rstrip("."))
    told = {
        "answer": found.answer,
        "people_at_risk": found.at_risk,
        "people": found.people,
        "adversaries": [line.to_dict() for line in found.adversaries],
        "assumptions": [each.to_dict() for each in found.assumptions],
        **({} if found.rule is None else {"rule": found.rule.to_dict()}),
    }
    return {**told, "even_so": even_so} if even_so and isinstance(even_so, str) else told


def _waits_for_others(found: "Assessment") -> bool:
    """Return whether all that is wrong is that something could not be checked.

    What the signer has not checked by now is signed only if the same key vouched for it before.
    """
    broken = any(check.status == "broken" for check in found.checks)
    broken = broken or (found.rule is not None and not found.rule.holds)
    return not (broken or found.succeeded or found.named)
