"""What exporters write, keep and remove."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import tensorflow as tf
from file_lists import list_files
from job_cases import case_of, estimator, noting_exporter, run, shown
from jobs import Api, tiny_input, tiny_receiver

exporting = case_of("exporters")


def exports(model_dir: str, name: str) -> list[list[str]]:
    """Returns the files of each export, oldest first, variables aside."""
    base = Path(model_dir) / "export" / name
    return [
        [name for name in list_files(export) if not name.startswith("variables/")]
        for export in sorted(base.iterdir())
    ]


def kind(value: Any) -> str:
    """Returns an exporter's result without its time stamp."""
    return f"{type(value).__name__} {os.path.dirname(shown(value))}" if value else str(value)


def trained(api: Api, model_dir: str) -> Any:
    return estimator(api, model_dir).train(tiny_input, steps=2)


def export(exporter: Any, job: Any, result: Any = None, is_final: bool = False) -> Any:
    return exporter.export(
        estimator=job,
        export_path=os.path.join(job.model_dir, "export", exporter.name),
        checkpoint_path=job.latest_checkpoint(),
        eval_result=result,
        is_the_final_export=is_final,
    )


@exporting
def final_exporter_of_a_job(api: Api, model_dir: str) -> Any:
    exporter = api.estimator.FinalExporter(
        "final", tiny_receiver(api), assets_extra={"a/b.txt": __file__}, as_text=True
    )
    _, made = run(api, estimator(api, model_dir), evaluate={"exporters": exporter})
    return [[kind(path) for path in made], exports(model_dir, "final")]


@exporting
def final_exporter_before_the_end(api: Api, model_dir: str) -> Any:
    exporter = api.estimator.FinalExporter("final", tiny_receiver(api))
    return export(exporter, trained(api, model_dir))


@exporting
def final_exporter_without_receiver(api: Api, model_dir: str) -> Any:
    exporter = api.estimator.FinalExporter("final", None)
    return export(exporter, trained(api, model_dir), is_final=True)


def _early_end_case(name: str, train: Any) -> None:
    """Calls of exporters in a training whose arguments are `train(api, job)`."""

    def exports_of_an_early_end(api: Api, model_dir: str) -> Any:
        calls: list[Any] = []
        job = estimator(api, model_dir)
        final = api.estimator.FinalExporter("final", tiny_receiver(api))
        exporters = [final, noting_exporter(api, calls)]
        _, made = run(api, job, train(api, job), {"exporters": exporters})
        return [kind(made[0]), [[call[1], call[3]] for call in calls]]

    exports_of_an_early_end.__name__ = f"an_early_end_{name}"
    exporting(exports_of_an_early_end)


def _stop_at_2(api: Api, job: Any) -> Any:
    return api.estimator.experimental.make_early_stopping_hook(
        job, lambda: job.latest_checkpoint() is not None, None, 2
    )


def _of_input(repeat: int, max_steps: int | None) -> Any:
    return lambda *_: {"max_steps": max_steps, "input_fn": lambda: tiny_input(repeat=repeat)}


_early_end_case("of_the_input", _of_input(4, 20))
_early_end_case("of_the_input_at_a_checkpoint", _of_input(3, 20))
_early_end_case("without_max_steps", _of_input(4, None))
_early_end_case("by_a_hook", lambda *given: {"max_steps": 20, "hooks": [_stop_at_2(*given)]})


@exporting
def latest_exporter_of_a_job(api: Api, model_dir: str) -> Any:
    exporter = api.estimator.LatestExporter("latest", tiny_receiver(api), exports_to_keep=2)
    _, made = run(api, estimator(api, model_dir), evaluate={"exporters": exporter})
    return [[kind(path) for path in made], exports(model_dir, "latest")]


@exporting
def latest_exporter_removes_only_exports(api: Api, model_dir: str) -> Any:
    job = trained(api, model_dir)
    base = Path(model_dir) / "export" / "latest"
    for name in ("1700000000", "1700000001", "17", "12345678901", "temp-1700000000", "other"):
        (base / name).mkdir(parents=True)
    export(api.estimator.LatestExporter("latest", tiny_receiver(api), exports_to_keep=2), job)
    return sorted(path.name for path in base.iterdir())


@exporting
def latest_exporter_that_keeps_all(api: Api, model_dir: str) -> Any:
    job = trained(api, model_dir)
    (Path(model_dir) / "export" / "latest" / "1700000000").mkdir(parents=True)
    export(api.estimator.LatestExporter("latest", tiny_receiver(api), exports_to_keep=None), job)
    return len(exports(model_dir, "latest"))


def _smaller(api: Api, calls: list[Any], metric: str = "loss") -> Any:
    def compare_fn(best_eval_result, current_eval_result):
        calls.append([shown(dict(best_eval_result)), shown(dict(current_eval_result))])
        return current_eval_result[metric] < best_eval_result[metric]

    return api.estimator.BestExporter(
        "best", tiny_receiver(api), compare_fn=compare_fn, exports_to_keep=2
    )


@exporting
def best_exporter_of_a_job(api: Api, model_dir: str) -> Any:
    calls: list[Any] = []
    evaluate = {"exporters": _smaller(api, calls)}
    _, made = run(api, estimator(api, model_dir), evaluate=evaluate)
    return [[kind(path) for path in made], exports(model_dir, "best"), calls]


@exporting
def best_exporter_after_a_restart(api: Api, model_dir: str) -> Any:
    """Each evaluation is worse than the first one, by the metric "larger loss"."""
    counts = []
    for max_steps in (4, 7):
        exporter = api.estimator.BestExporter(
            "best",
            tiny_receiver(api),
            compare_fn=lambda best_eval_result, current_eval_result: (
                current_eval_result["loss"] > best_eval_result["loss"]
            ),
        )
        run(api, estimator(api, model_dir), {"max_steps": max_steps}, {"exporters": exporter})
        counts.append(len(exports(model_dir, "best")))
    return counts


@exporting
def best_exporter_by_loss(api: Api, model_dir: str) -> Any:
    exporter = api.estimator.BestExporter("best", tiny_receiver(api), exports_to_keep=None)
    job = trained(api, model_dir)
    losses = [3.0, 4.0, 2.0, 2.0, 1.0]
    return [kind(export(exporter, job, {"loss": loss})) for loss in losses]


@exporting
def best_exporter_of_a_result_without_loss(api: Api, model_dir: str) -> Any:
    exporter = api.estimator.BestExporter("best", tiny_receiver(api))
    job = trained(api, model_dir)
    export(exporter, job, {"loss": 1.0})
    export(exporter, job, {"accuracy": 1.0})


@exporting
def best_exporter_after_a_result_without_loss(api: Api, model_dir: str) -> Any:
    exporter = api.estimator.BestExporter("best", tiny_receiver(api))
    job = trained(api, model_dir)
    export(exporter, job, {"accuracy": 1.0})
    export(exporter, job, {"loss": 1.0})


@exporting
def best_exporter_whose_compare_fn_is_vague(api: Api, model_dir: str) -> Any:
    job, made = trained(api, model_dir), []
    answers = iter(["yes", None])

    def compare_fn(best_eval_result, current_eval_result):
        return next(answers)

    exporter = api.estimator.BestExporter("best", tiny_receiver(api), compare_fn=compare_fn)
    for _ in range(3):
        made.append(kind(export(exporter, job, {"loss": 1.0})))
    return made


@exporting
def best_exporter_of_another_model_dir(api: Api, model_dir: str) -> Any:
    exporter = api.estimator.BestExporter("best", tiny_receiver(api))
    first, second = (trained(api, f"{model_dir}_{name}") for name in "ab")
    return [
        kind(export(exporter, first, {"loss": 1.0})),
        kind(export(exporter, second, {"loss": 2.0})),
        kind(export(exporter, first, {"loss": 2.0})),
    ]


@exporting
def signatures_of_an_export(api: Api, model_dir: str) -> Any:
    exporter = api.estimator.FinalExporter("final", tiny_receiver(api))
    path = shown(export(exporter, trained(api, model_dir), is_final=True))
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        model = tf.compat.v1.saved_model.load(session, ["serve"], path)
        return {
            name: [sorted(signature.inputs), sorted(signature.outputs), signature.method_name]
            for name, signature in model.signature_def.items()
        }
