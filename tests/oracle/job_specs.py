"""Values that the parts of a job accept and refuse at construction."""

from __future__ import annotations

import functools
from typing import Any

import tensorflow as tf
from job_cases import case_of, estimator, noting_exporter, once
from jobs import Api, tiny_input

tf1 = tf.compat.v1


def question(name: str, ask: Any) -> None:
    """Registers one question of the golden file on specs; `ask` takes the public names."""

    def answer(api: Api, model_dir: str) -> Any:
        return ask(api)

    answer.__name__ = name
    case_of("specs")(answer)


def fields(spec: Any, *names: str) -> list[Any]:
    """Returns the named fields, without unset ones."""
    return [
        v if isinstance(v := getattr(spec, n), (int, float, str)) else str(type(v)) for n in names
    ]


def train(**arguments: Any) -> Any:
    def ask(api: Api) -> Any:
        spec = api.estimator.TrainSpec(**{"input_fn": once, **arguments})
        return fields(spec, "max_steps", "hooks", "saving_listeners")

    return ask


def evaluate(**arguments: Any) -> Any:
    def ask(api: Api) -> Any:
        spec = api.estimator.EvalSpec(**{"input_fn": once, **arguments})
        return fields(
            spec, "steps", "name", "hooks", "exporters", "start_delay_secs", "throttle_secs"
        )

    return ask


def exporters(make: Any) -> Any:
    def ask(api: Api) -> Any:
        spec = api.estimator.EvalSpec(once, exporters=make(api))
        return [exporter.name for exporter in spec.exporters]

    return ask


def named(*names: Any) -> Any:
    return exporters(lambda api: [noting_exporter(api, [], name) for name in names])


question("train spec of nothing", train(input_fn=None))
question("train spec of a number", train(input_fn=3))
question("train spec with defaults", train())
question("train spec of an input_fn with odd arguments", train(input_fn=lambda odd: None))
question("train spec with max_steps 0", train(max_steps=0))
question("train spec with max_steps -1", train(max_steps=-1))
question("train spec with a hook that is none", train(hooks=[3]))
question("train spec with a listener that is none", train(saving_listeners=[3]))
question("train spec with hooks", train(hooks=(tf1.train.StopAtStepHook(1),), max_steps=5))
question("train spec by position", lambda api: api.estimator.TrainSpec(once, 5, [], []).max_steps)
question(
    "train spec is a tuple", lambda api: api.estimator.TrainSpec(once, 5)._replace(max_steps=2)[1]
)
question("eval spec of nothing", evaluate(input_fn=None))
question("eval spec with defaults", evaluate())
question("eval spec of 0 steps", evaluate(steps=0))
question("eval spec of -1 steps", evaluate(steps=-1))
question("eval spec of all steps", evaluate(steps=None))
question("eval spec with a number for a name", evaluate(name=3))
question("eval spec with an empty name", evaluate(name=""))
question("eval spec with a hook that is none", evaluate(hooks=[3]))
question("eval spec with start_delay_secs -1", evaluate(start_delay_secs=-1))
question("eval spec with throttle_secs -1", evaluate(throttle_secs=-1))
question("eval spec with throttle_secs 0", evaluate(throttle_secs=0))
question("eval spec with parts of seconds", evaluate(throttle_secs=0.5, start_delay_secs=0.5))
question(
    "train spec from the fields of another",
    lambda api: [len(api.estimator.TrainSpec(*api.estimator.TrainSpec(once, 5)))],
)
question(
    "eval spec from the fields of another",
    lambda api: [len(api.estimator.EvalSpec(*api.estimator.EvalSpec(once, 5)))],
)
question(
    "eval spec by position",
    lambda api: list(api.estimator.EvalSpec(once, 1, "n", [], [], 2, 3))[1:7],
)
question("exporters of a number", exporters(lambda api: 3))
question("exporters with a number among them", exporters(lambda api: [3]))
question("exporters as a dict", exporters(lambda api: {"a": noting_exporter(api, [])}))
question("one exporter", exporters(lambda api: noting_exporter(api, [], "one")))
question("no exporters", exporters(lambda api: []))
question("two exporters", named("a", "b"))
question("two exporters of one name", named("a", "a"))
question("exporter with an empty name", named(""))
question("exporter without a name", named(None))
question("exporter with a number for a name", named(3))
for kind in ("LatestExporter", "BestExporter"):
    for keep in (0, -1, None, 2):
        question(
            f"{kind} with exports_to_keep {keep}",
            lambda api, kind=kind, keep=keep: (
                getattr(api.estimator, kind)("name", once, exports_to_keep=keep).name
            ),
        )


def compare(function: Any) -> Any:
    return lambda api: api.estimator.BestExporter("best", once, compare_fn=function).name


question("BestExporter with defaults", lambda api: api.estimator.BestExporter().name)
question("BestExporter without compare_fn", compare(None))
question("BestExporter with a number for compare_fn", compare(3))
question("BestExporter with other arguments", compare(lambda best, current: True))
question(
    "BestExporter with one more argument",
    compare(lambda best_eval_result, current_eval_result, more=1: True),
)
question("BestExporter without the second", compare(lambda best_eval_result: True))
question(
    "BestExporter with a partial",
    compare(functools.partial(lambda best_eval_result, current_eval_result, k: True, k=3)),
)
question("FinalExporter", lambda api: api.estimator.FinalExporter("final", once).name)


def job(ask: Any) -> Any:
    """Returns a question about something that takes an Estimator."""

    def answer(api: Api, model_dir: str) -> Any:
        return ask(api, estimator(api, model_dir))

    return answer


def job_question(name: str, ask: Any) -> None:
    answer = job(ask)
    answer.__name__ = name
    case_of("specs")(answer)


def _specs(api: Api) -> tuple[Any, Any]:
    return api.estimator.TrainSpec(tiny_input, 1), api.estimator.EvalSpec(once)


def _call(estimator: Any = None, train_spec: Any = None, eval_spec: Any = None) -> Any:
    def ask(api: Api, job: Any) -> Any:
        specs = _specs(api)
        api.estimator.train_and_evaluate(
            estimator or job, train_spec or specs[0], eval_spec or specs[1]
        )

    return ask


job_question("train_and_evaluate of a number", _call(estimator=3))
job_question("train_and_evaluate with a number to train", _call(train_spec=3))
job_question("train_and_evaluate with a number to evaluate", _call(eval_spec=3))


def _hook(kind: str, *args: Any, **arguments: Any) -> Any:
    def ask(api: Api, job: Any) -> Any:
        hook = getattr(api.estimator.experimental, kind)(job, *args, **arguments)
        return isinstance(hook, tf1.train.SessionRunHook)

    return ask


for kind in ("stop_if_higher_hook", "stop_if_lower_hook", "stop_if_no_increase_hook"):
    job_question(f"{kind} with defaults", _hook(kind, "loss", 1))
    job_question(f"{kind} by seconds and steps", _hook(kind, "loss", 1, run_every_steps=5))
    job_question(f"{kind} by neither", _hook(kind, "loss", 1, run_every_secs=None))
early = "make_early_stopping_hook"
job_question("early stopping by nothing", _hook(early, None))
job_question("early stopping by both", _hook(early, lambda: True, run_every_steps=3))
job_question("early stopping by a function", _hook(early, lambda: True))
job_question("stop at checkpoint step", _hook("make_stop_at_checkpoint_step_hook", 10))
job_question("stop at no checkpoint step", _hook("make_stop_at_checkpoint_step_hook", None))
memory = "InMemoryEvaluatorHook"
job_question("in-memory evaluator every 0 steps", _hook(memory, once, every_n_iter=0))
job_question("in-memory evaluator every no steps", _hook(memory, once, every_n_iter=None))
job_question("in-memory evaluator of 0 steps", _hook(memory, once, steps=0))
job_question("in-memory evaluator with a hook that is none", _hook(memory, once, hooks=[3]))
job_question("in-memory evaluator", _hook(memory, once))


def _metrics(function: Any) -> Any:
    return lambda api, job: api.estimator.add_metrics(job, function).model_dir == job.model_dir


job_question("add_metrics of a function", _metrics(lambda labels, predictions: {}))
job_question("add_metrics of odd arguments", _metrics(lambda odd: {}))
job_question("add_metrics of nothing", _metrics(None))
job_question("add_metrics of a number", _metrics(3))
