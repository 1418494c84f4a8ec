"""Promises: the privacy models in one sentence each, with sliders, and what each of them costs."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from sfumato.app import wording
from sfumato.app.desk import Desk
from sfumato.app.fields import Fields
from sfumato.app.jobs import Job
from sfumato.app.steps import ALL, Answer, Context
from sfumato.app.texts import translator
from sfumato.app.wording import Knob
from sfumato.dataclasses import dataclass
from sfumato.errors import InputError
from sfumato.losses import LOSSES
from sfumato.models import MODELS, PrivacyModel
from sfumato.partition import PARTITIONERS
from sfumato.policy import Policy
from sfumato.policy.parts import every_method, member_settings
from sfumato.typing import Progress

if TYPE_CHECKING:
    from sfumato.comparison.live import PromiseCost

step = ALL["promises"]

TEXTS = (*wording.words(), *wording.meanings())

_PATIENCE = 30.0
_MOST_PERCENT = 20.0
"""Where the slider of the limit ends; the field beside it takes more."""


@dataclass(frozen=True)
class Cost:
    """What a promise costs: the figures with it, and without it."""

    loss: float | None
    at_risk: int
    loss_without: float | None
    at_risk_without: int | None
    """None if the others cannot do without it."""

    why: str = ""

    @property
    def price(self) -> float | None:
        """The loss that there is because of it."""
        if self.loss is None or self.loss_without is None:
            return None
        return self.loss - self.loss_without


@step.page
def show(desk: Desk, asked: Fields) -> Context:
    """Return the promises of the policy, and everything else that can be promised."""
    t, policy = translator(asked.language), desk.require_policy()
    job = desk.jobs.get("costs")
    known = job if job is not None and (job.ready or job.before) else None
    return {
        "promises": [
            {
                "name": model.name,
                "sentence": wording.sentence_of(t, type(model), model.params()),
                "limits": wording.limits_of(type(model)),
                "knobs": wording.knobs_of(type(model), model, _choices(policy, model)),
            }
            for model in policy.models
        ],
        "costs": _costs_known(known, policy),
        "costs_old": known is None or not known.ready or desk.is_old(known),
        "offers": _offers(desk, asked),
        "limit": _limit(policy),
        "methods": [
            {"name": name, "words": words, "knobs": _method_knobs(policy, name)}
            for name, words in wording.method_words().items()
        ],
        "measures": wording.measure_words(),
        "loss_knobs": wording.knobs_of(type(policy.loss), policy.loss),
        "policy": policy,
    }


def _costs_known(job: Job | None, policy: Policy) -> list[Cost | None]:
    """Return the cost of each promise as far as it is known, perhaps of the policy before."""
    found = None if job is None else (job.result if job.ready else job.before)
    if found is None or len(found) != len(policy.models):
        return [None] * len(policy.models)
    return list(found)


def _offers(desk: Desk, asked: Fields) -> list[dict[str, object]]:
    """Return all models there are, by what they are against."""
    t, policy = translator(asked.language), desk.require_policy()
    groups: dict[str, list[dict[str, object]]] = {key: [] for key in wording.AGAINST}
    for name, kind in MODELS.items():
        choices = _choices(policy, kind)
        knobs = wording.knobs_of(kind, None, choices)
        values: dict[str, object] = {knob.name: wording.read_number(knob.text) for knob in knobs}
        values["column"] = "…" if len(choices) != 1 else choices[0]
        groups[wording.against(kind)].append(
            {
                "name": name,
                "sentence": wording.sentence_of(t, kind, values),
                "limits": wording.limits_of(kind),
                "knobs": [knob for knob in knobs if _is_asked_first(knob)],
                "population": kind.needs_population and policy.population is None,
                "sets": kind.protects_sets and not policy.sets,
                "sensitive": "column" in values and not choices and knobs[0].needed,
                "weights": kind.of_weights,
                "numbers": kind.needs_numbers and not kind.of_weights,
            }
        )
    return [
        {"key": key, "title": wording.AGAINST[key], "models": models}
        for key, models in groups.items()
        if models
    ]


def _choices(policy: Policy, model: PrivacyModel | type[PrivacyModel]) -> tuple[str, ...]:
    """Return the columns that a model may be about."""
    if model.of_weights:
        return policy.weights[:1]
    # Of values that chance changes nothing could be promised.
    return tuple(name for name in policy.sensitive if name not in policy.randomised)


def _is_asked_first(knob: Knob) -> bool:
    """Return whether a promise cannot be added without it: no start fits every table."""
    return knob.kind in ("column", "lists") or knob.name in ("e", "within", "level")


def _limit(policy: Policy) -> dict[str, object]:
    limit = policy.suppression.limit
    share = isinstance(limit, float) or limit == 0
    number = float(limit) * 100 if share else float(limit)
    return {
        "share": share,
        "text": wording.show(round(number, 9)),
        "number": number,
        "most": max(_MOST_PERCENT, number) if share else max(100.0, 2 * number),
        "step": 0.5 if share else 1,
    }


def _method_knobs(policy: Policy, name: str) -> list[Knob]:
    kind = every_method(PARTITIONERS)[name]
    made = policy.method.make(PARTITIONERS) if policy.method.name == name else None
    made = made or (policy.make_regional() if policy.method.name == name else None)
    return wording.knobs_of(kind, made)


@step.part("costs")
def costs(desk: Desk, asked: Fields) -> Context:
    """Return what each promise costs; computed if it is not known of this policy."""
    job = desk.jobs.get("costs")
    if job is None or desk.is_old(job) or job.stopped:
        live, policy, before = desk.require_live(), desk.task_policy, job

        def work(report: Progress) -> list[Cost]:
            found = live.cost_of_models(policy, progress=report)
            return [_cost(each, alone=len(found) == 1) for each in found]

        job = desk.start("costs", work)
        if before is not None:
            job.before = before.result or before.before
    job.wait(_PATIENCE)
    if job.error is not None:
        raise InputError(job.error)
    found = _costs_known(job, desk.require_policy())
    return {"costs": found, "costs_old": not job.ready or desk.is_old(job)}


def _cost(found: "PromiseCost", *, alone: bool) -> Cost:
    """Return the figures of a page: the normalised loss, whatever the policy keeps small."""
    whole, without = found.whole, found.without
    if not without.possible:
        why = "" if alone else without.reason or ""
        return Cost(whole.normalised, whole.at_risk, None, None, why)
    return Cost(whole.normalised, whole.at_risk, without.normalised, without.at_risk)


@step.action("set")
def set_promise(desk: Desk, asked: Fields) -> Answer:
    """Set a promise to other numbers, or another column."""
    with desk.lock:
        policy = desk.require_policy()
        place, model = _asked_model(policy, asked)
        given = {"model": model.name, **wording.read_knobs(type(model), _fields(asked))}
        models = [member_settings(each, "model") for each in policy.models]
        changed = policy.replace(models=[*models[:place], given, *models[place + 1 :]])
        desk.change(changed, "promises", f"changed {_of_column(model)}", joins=True)
    return None


@step.action("add")
def add_promise(desk: Desk, asked: Fields) -> Answer:
    """Add a promise."""
    with desk.lock:
        policy, name = desk.require_policy(), asked.text("model")
        kind = MODELS[name]
        begins = {knob.name: knob.text for knob in wording.knobs_of(kind, None)}
        given = {"model": name, **wording.read_knobs(kind, {**begins, **_fields(asked)})}
        models = [*(member_settings(model, "model") for model in policy.models), given]
        desk.change(policy.replace(models=models), "promises", f"added {name}")
    desk.say("done", f"{name} is promised now. What it costs stands beside it.")
    return None


@step.action("remove")
def remove_promise(desk: Desk, asked: Fields) -> Answer:
    """Remove a promise."""
    with desk.lock:
        policy = desk.require_policy()
        place, model = _asked_model(policy, asked)
        rest = [each for i, each in enumerate(policy.models) if i != place]
        desk.change(policy.replace(models=rest), "promises", f"removed {_of_column(model)}")
    return None


@step.action("limit")
def set_limit(desk: Desk, asked: Fields) -> Answer:
    """Set how many rows may be left out, and what becomes of them."""
    text = asked.text("limit").strip()
    share = asked.text("as", "share") == "share"
    before = asked.text("before", "share") == "share"
    with desk.lock:
        policy = desk.require_policy()
        limit: object = wording.read_number(text)
        if share and before:
            limit = 0 if limit == 0 else f"{text.replace(',', '.')}%"
        elif share != before:
            # Another unit: the number beside it was meant in the one before.
            limit = 0
        settings = {"limit": limit, "rows": asked.text("rows", policy.suppression.rows)}
        if "unit" in asked:
            settings["unit"] = asked.text("unit")
        elif policy.suppression.unit != "rows":
            settings["unit"] = policy.suppression.unit
        if share != before and not share:
            settings["limit"] = 1
        desk.change(policy.replace(suppression=settings), "promises", "rows left out", joins=True)
    return None


@step.action("method")
def set_method(desk: Desk, asked: Fields) -> Answer:
    """Choose how rows are recoded."""
    name = asked.text("method")
    with desk.lock:
        policy = desk.require_policy()
        kind = every_method(PARTITIONERS).get(name)
        rule: dict[str, object] = {"method": name}
        if kind is not None and "options" in asked:
            rule |= wording.read_knobs(kind, _fields(asked))
        changed = policy.with_method(rule)
        changed.make_method(PARTITIONERS)
        desk.change(changed, "promises", f"method {name}", joins=True)
    return None


@step.action("loss")
def set_loss(desk: Desk, asked: Fields) -> Answer:
    """Choose which loss is kept small."""
    name = asked.text("loss")
    with desk.lock:
        policy = desk.require_policy()
        rule: dict[str, object] = {"loss": name}
        if name in LOSSES and name == policy.loss.name and "options" in asked:
            rule |= wording.read_knobs(LOSSES[name], _fields(asked))
        desk.change(policy.replace(loss=rule), "promises", f"loss {name}")
    return None


def _asked_model(policy: Policy, asked: Fields) -> tuple[int, PrivacyModel]:
    """Return the promise that was meant; another tab may have changed the list."""
    place = asked.integer("place")
    found = policy.models[place] if 0 <= place < len(policy.models) else None
    if found is None or found.name != asked.text("model"):
        raise InputError("the promises have changed since. Look at them again, and repeat it")
    return place, found


def _fields(asked: Fields) -> Mapping[str, str]:
    """Return the parameters of a form: their fields begin with `p-`."""
    return {name[2:]: texts[-1] for name, texts in asked.fields.items() if name.startswith("p-")}


def _of_column(model: PrivacyModel) -> str:
    return " of ".join([model.name, *model.columns])
