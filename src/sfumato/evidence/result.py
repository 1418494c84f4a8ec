"""What a check of evidence answers."""

from dataclasses import dataclass
from typing import Any

from sfumato.fragment import fragment
from sfumato.verifier import Verdict


@dataclass(frozen=True)
class EvidenceVerdict(Verdict):
    """Whether a folder is what its evidence says, and who signed that.

    Example:
        >>> from sfumato.verifier import Check
        >>> print(EvidenceVerdict((Check("files", "holds"),), note="Not signed."))
        Holds: all 1 checks.
          holds      files
        Not signed.
    """

    signed_by: str | None = None
    """The public key of a signature that was checked; None if there is no such."""

    note: str = ""
    """What can be said of the signature, in words."""

    def to_dict(self) -> dict[str, Any]:
        return {**super().to_dict(), "signed_by": self.signed_by, "note": self.note}

    def _repr_html_(self) -> str:
        return super()._repr_html_() + (fragment(self.note) if self.note else "")

    def __str__(self) -> str:
        return "\n".join(filter(None, [super().__str__(), self.note]))
