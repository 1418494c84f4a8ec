"""Look: not built yet."""

from sfumato.app.asked import Asked
from sfumato.app.desk import Desk
from sfumato.app.steps import Context, Step

step = Step("look", "Look")


@step.page
def show(desk: Desk, asked: Asked) -> Context:
    """Return nothing yet."""
    return {}
