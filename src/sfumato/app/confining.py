"""Files that a policy names, held to the folder of the app."""

from sfumato.decouplings import DECOUPLINGS
from sfumato.errors import PolicyError, SfumatoError
from sfumato.files.confinement import Confinement
from sfumato.partition import PARTITIONERS
from sfumato.policy import Policy
from sfumato.policy.named_files import NamedFile, named_files
from sfumato.search import SEARCHES
from sfumato.tables import confine_address


def require_files_inside(policy: Policy, limits: Confinement) -> None:
    """Raise if a policy names a file that lies elsewhere, or a table that may not be opened.

    Args:
        policy: The policy, with the names as they are written in it.
        limits: The folder that they are relative to.
    """
    for each in named_files(policy, *_members(policy)):
        try:
            _require_inside(each, limits)
        except SfumatoError as error:
            raise PolicyError(f"{each.place}: {error}") from None


def _members(policy: Policy) -> list[object]:
    """Return what the policy chooses from families above it, as far as it can be made."""
    made: list[object] = []
    for make in (
        lambda: policy.make_search(SEARCHES),
        lambda: policy.make_method(PARTITIONERS),
        lambda: policy.make_decoupling(DECOUPLINGS),
    ):
        try:
            made.append(make())
        except SfumatoError:
            # The code that uses it says what is wrong with it, and opens nothing.
            continue
    return made


def _require_inside(named: NamedFile, limits: Confinement) -> None:
    if named.is_address:
        confine_address(named.name, limits)
    else:
        limits.path(named.name)
