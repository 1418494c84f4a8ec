"""The same in Python and on the command line: what a page does, and how to do it without one."""

from collections.abc import Mapping, Sequence
from shlex import quote
from typing import NamedTuple

from sfumato.app.desk import Desk
from sfumato.errors import SfumatoError


class Equivalent(NamedTuple):
    """What does the same as a page."""

    command: str
    python: str


def equivalents(desk: Desk, step: str) -> Equivalent:
    """Return the command and the Python that do what a step does; nothing if it cannot be told.

    Another request may open a table or change the policy meanwhile: then it is about what was
    there before or what is there now, and where neither fits there is nothing to tell.
    """
    try:
        return _of_release(desk) if step in ("decouple", "publish") else _of_step(desk, step)
    except SfumatoError:
        # The page itself says what is wrong with the policy.
        return Equivalent("", "")


def _of_step(desk: Desk, step: str) -> Equivalent:
    data = "patients.csv" if desk.source is None else _name(desk)
    policy = desk.policy_file.name
    if step == "explore" and desk.policy is not None:
        # A step is loaded when its page is opened.
        from sfumato.app.steps.explore import last_loss, last_variations

        return _compare(data, policy, last_variations(desk), last_loss(desk))
    made, drawn = desk.release, desk.seed
    release = "release" if made is None else made.name
    seed = "" if drawn is None else f" --seed {drawn}"
    seeded = "" if drawn is None else f", seed={drawn}"
    commands = {
        "data": f"sfumato init {quote(data)} -o {quote(policy)}",
        "roles": f"sfumato inspect {quote(data)} -p {quote(policy)}",
        "hierarchies": f"sfumato hierarchies {quote(data)} -p {quote(policy)}",
        "promises": f"sfumato lattice {quote(data)} -p {quote(policy)}",
        "explore": f"sfumato compare {quote(data)} {quote(policy)}",
        "look": f"sfumato anonymize {quote(data)} -p {quote(policy)}{seed} -o {quote(release)}",
        "verdict": f"sfumato verify {quote(release)} -p {quote(policy)} --data {quote(data)}",
    }
    calls = {
        "data": f"draft = sf.draft({data!r})",
        "roles": f"print(sf.inspect({data!r}, policy={policy!r}))",
        "hierarchies": f"print(sf.tools.hierarchies({data!r}, {policy!r}))",
        "promises": f"print(sf.tools.lattice({data!r}, {policy!r}))",
        "explore": f"print(sf.compare({data!r}, {policy!r}))",
        "look": f"release = sf.anonymize({data!r}, {policy!r}{seeded})",
        "verdict": f"print(sf.verify({release!r}, {policy!r}, data={data!r}))",
    }
    return Equivalent(commands[step], f"import sfumato as sf\n\n{calls[step]}")


def _compare(
    data: str, policy: str, vary: Mapping[str, Sequence[object]], loss: str = ""
) -> Equivalent:
    """Return what tries the same policies.

    >>> _compare("patients.csv", "policy.yaml", {"k": [3, 5], "suppression": ["0%"]}).command
    'sfumato compare patients.csv policy.yaml --vary k=3,5 --vary suppression=0%'
    """
    varied_by = [f"{name}={','.join(map(str, values))}" for name, values in vary.items()]
    options = [f" --vary {quote(text)}" for text in varied_by]
    given = f", vary={dict(vary)!r}" if vary else ""
    if loss:
        options.append(f" --loss {quote(loss)}")
        given += f", loss={loss!r}"
    return Equivalent(
        f"sfumato compare {quote(data)} {quote(policy)}{''.join(options)}",
        f"import sfumato as sf\n\nprint(sf.compare({data!r}, {policy!r}{given}))",
    )


def _name(desk: Desk) -> str:
    source = desk.require_source()
    return source.address if source.kind == "database" else source.name


def _of_release(desk: Desk) -> Equivalent:
    """Return what makes the release, by several commands if it is parted or has reports."""
    from sfumato.app.releasing import lines_of

    lines = lines_of(desk, "patients.csv" if desk.source is None else _name(desk))
    calls = "\n".join(line.python for line in lines)
    return Equivalent("\n".join(line.command for line in lines), f"import sfumato as sf\n\n{calls}")
