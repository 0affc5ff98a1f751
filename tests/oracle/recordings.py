"""How each golden file is recorded: `python recordings.py NAME`, which `record.py` runs.

The answers are tf.estimator's, of TensorFlow 2.15. A recording imports its questions when it runs,
because some of them change later answers.
"""

from __future__ import annotations

import importlib
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import goldens
import tensorflow as tf
from jobs import Api, original_apis
from outcomes import logged, outcomes

v1 = tf.compat.v1
RECORDINGS: dict[str, Callable[[], dict[str, Any]]] = {}
# These need checkpoints of estimator_train, in a directory that comes after the name.
OF_OURS = ("continued", "canned_continued_ours")


def recording(function: Callable[[], dict[str, Any]]) -> Callable[[], dict[str, Any]]:
    """Adds what returns the contents of a golden file, by the name of the function."""
    RECORDINGS[function.__name__] = function
    return function


def apis() -> dict[str, Api]:
    return {api.name: api for api in original_apis()}


def observed(
    names: Iterable[str], observe: Callable[[str, str], dict[str, Any]]
) -> dict[str, dict[str, Any]]:
    """Returns the answer for each name by a function of (name, temporary directory)."""
    found = {}
    for name in names:
        start = time.time()
        tf.keras.backend.clear_session()
        with tempfile.TemporaryDirectory() as base:
            found[name] = observe(name, base)
        print(f"{time.time() - start:5.1f} s {name}", flush=True)
    return found


@recording
def behaviour() -> dict[str, Any]:
    """Returns a case whose two flavours behave alike is kept once, under "both"."""
    import all_cases

    def observe(name: str, _: str) -> dict[str, Any]:
        case = all_cases.CASES[name]
        seen = {flavour: all_cases.observe(case, api) for flavour, api in apis().items()}
        return {"both": seen["v2"]} if seen["v1"] == seen["v2"] else seen

    # The original leaves the graph of this prediction open, so that no later one can be cleared.
    last = "predict_while_another_prediction_is_open"
    return observed([*(name for name in all_cases.CASES if name != last), last], observe)


@recording
def behaviour_without_v2() -> dict[str, Any]:
    """Records behaviour without the behaviour of TensorFlow 2."""
    import all_cases

    v1.disable_v2_behavior()
    api = apis()["v1"]
    return {name: all_cases.observe(case, api) for name, case in all_cases.CASES.items()}


@recording
def breadth() -> dict[str, Any]:
    return _generated(lambda name: True)


@recording
def breadth_v1_behaviour() -> dict[str, Any]:
    """Records the quick questions without the behaviour of TensorFlow 2."""
    from breadth.asking import IN_BOTH

    v1.disable_v2_behavior()
    return _generated(lambda name: IN_BOTH.match(name) is not None)


def _generated(is_asked: Callable[[str], bool]) -> dict[str, Any]:
    from breadth import asking

    known = asking.all_questions(apis())
    return asking.compact(asking.answers(apis(), filter(is_asked, known)), known)


def _figures(jobs: dict[str, Any]) -> dict[str, Any]:
    import figures

    runs = {f"{job} {flavour}": (job, flavour) for job in jobs for flavour in jobs[job].flavours}

    def observe(name: str, base: str) -> dict[str, Any]:
        job, flavour = runs[name]
        return figures.observe(jobs[job], apis()[flavour], base)

    return observed(runs, observe)


@recording
def training() -> dict[str, Any]:
    import training_jobs

    return _figures(training_jobs.JOBS)


@recording
def keras() -> dict[str, Any]:
    import keras_jobs

    return _figures(keras_jobs.JOBS)


def _train_and_evaluate(subject: str) -> Callable[[], dict[str, Any]]:
    def record() -> dict[str, Any]:
        import all_jobs
        import job_cases

        cases = all_jobs.CASES[subject]
        return observed(cases, lambda name, _: job_cases.observe(cases[name], apis()["v2"]))

    return record


for _subject in ("checkpoints", "exporters", "flow", "specs", "stopping", "warm_start"):
    RECORDINGS[f"train_and_evaluate_{_subject}"] = _train_and_evaluate(_subject)


def _canned(flavour: str, module: str) -> dict[str, Any]:
    import canned_figures

    cases = importlib.import_module(module).CASES
    api = apis()[flavour]
    return observed(cases, lambda name, _: canned_figures.observe(cases[name], api))


@recording
def canned() -> dict[str, Any]:
    return _canned("v2", "canned_cases")


@recording
def canned_v1() -> dict[str, Any]:
    return _canned("v1", "canned_cases_v1")


@recording
def canned_kmeans() -> dict[str, Any]:
    return _canned("v1", "canned_kmeans")


@recording
def canned_rnn() -> dict[str, Any]:
    # tf.estimator cannot train recurrent networks on loops of TensorFlow 2.
    v1.disable_control_flow_v2()
    return _canned("v2", "canned_rnn")


@recording
def canned_rnn_seeded() -> dict[str, Any]:
    import canned_rnn

    return {kind: canned_rnn.initial_values(kind, apis()["v2"]) for kind in canned_rnn.SEEDED}


@recording
def canned_sdca() -> dict[str, Any]:
    import canned_sdca

    return {
        f"{name} {flavour}": canned_sdca.observe(api, *canned_sdca.CASES[name])
        for flavour, api in apis().items()
        for name in canned_sdca.CASES
    }


@recording
def canned_asked() -> dict[str, Any]:
    import ask_canned

    return outcomes(ask_canned.questions(tf.estimator, v1.estimator, tf.keras))


@recording
def canned_collections() -> dict[str, Any]:
    import ask_collections

    return outcomes(ask_collections.questions(apis()))


@recording
def canned_names() -> dict[str, Any]:
    import ask_names

    return outcomes(ask_names.questions(apis()))


@recording
def canned_errors() -> dict[str, Any]:
    import ask_canned_errors

    return ask_canned_errors.answers({"v2": tf.estimator, "v1": v1.estimator})


def _canned_goes_on(directory: Path) -> dict[str, Any]:
    from canned_checkpoints import MODELS, go_on, home_of

    homes = {home_of(api, name): (api, name) for api, name in MODELS}

    def observe(home: str, base: str) -> Any:
        api, name = homes[home]
        shutil.copytree(directory / home, f"{base}/model")
        return go_on(apis()[api], name, f"{base}/model")

    return observed(homes, observe)


@recording
def canned_continued() -> dict[str, Any]:
    """Records answers, and writes the checkpoints to tests/golden/checkpoints."""
    from canned_checkpoints import CHECKPOINTS, MODELS, begin, home_of

    for api, name in MODELS:
        target = CHECKPOINTS / home_of(api, name)
        shutil.rmtree(target, ignore_errors=True)
        with tempfile.TemporaryDirectory() as base:
            begin(apis()[api], name, f"{base}/model")
            shutil.copytree(f"{base}/model", target)
    return _canned_goes_on(CHECKPOINTS)


@recording
def canned_continued_ours() -> dict[str, Any]:
    return _canned_goes_on(Path(sys.argv[2]))


@recording
def checkpoints() -> dict[str, Any]:
    """Records answers, and writes the checkpoints to tests/golden/checkpoints."""
    from continuing import CHECKPOINTS, FIRST, JOBS, MORE, copy_checkpoint, train

    def observe(name: str, base: str) -> Any:
        unbroken = train(JOBS[name], apis()["v2"], Path(base) / "unbroken", FIRST + MORE)
        train(JOBS[name], apis()["v2"], Path(base) / "first", FIRST)
        shutil.rmtree(CHECKPOINTS / name, ignore_errors=True)
        copy_checkpoint(Path(base) / "first", CHECKPOINTS / name)
        return unbroken

    return observed(JOBS, observe)


@recording
def continued() -> dict[str, Any]:
    from continuing import JOBS, MORE, copy_checkpoint, train

    def observe(name: str, base: str) -> Any:
        copy_checkpoint(Path(sys.argv[2]) / name, Path(base) / name)
        return train(JOBS[name], apis()["v2"], Path(base) / name, MORE)

    return observed(JOBS, observe)


@recording
def way_back() -> dict[str, Any]:
    """Records answers, and writes the checkpoints to tests/golden/way_back."""
    from way_back_jobs import CHECKPOINTS, FIRST, JOBS, MORE, input_fn, predictions

    def observe(name: str, base: str) -> Any:
        estimator = JOBS[name].estimator(apis()["v2"], base)
        estimator.train(input_fn, steps=FIRST)
        _copy_latest(Path(estimator.latest_checkpoint()), CHECKPOINTS / name)
        first = predictions(JOBS[name], estimator)
        estimator.train(input_fn, steps=MORE)
        return {"first": first, "more": predictions(JOBS[name], estimator)}

    return observed(JOBS, observe)


def _copy_latest(path: Path, target: Path) -> None:
    """Copies a checkpoint alone, as it would move to another machine."""
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    for part in path.parent.glob(f"{path.name}.*"):
        if part.suffix != ".meta":
            shutil.copy(part, target)
    (target / "checkpoint").write_text(f'model_checkpoint_path: "{path.name}"\n')


@recording
def model_to_estimator() -> dict[str, Any]:
    from model_to_estimator_jobs import CASES, OPTIMIZERS, observe_optimizer

    def observe(name: str, base: str) -> Any:
        kind, _, name = name.partition(" ")
        api = apis()["v2"]
        return (
            CASES[name].observe(api, base) if kind == "case" else observe_optimizer(name, api, base)
        )

    names = [f"optimizer {name}" for name in OPTIMIZERS] + [f"case {name}" for name in CASES]
    return observed(names, observe)


@recording
def replicas() -> dict[str, Any]:
    import ask_heads_replicas
    import replica_jobs

    ask_heads_replicas.two_devices()
    return replica_jobs.answers(tf.estimator, tf.keras)


@recording
def inputs() -> dict[str, Any]:
    import ask_inputs

    return ask_inputs.ask(v1.estimator.inputs)


@recording
def tpu_refusals() -> dict[str, Any]:
    import ask_tpu_refusals

    return outcomes(ask_tpu_refusals.questions(v1.estimator.tpu, tf.estimator.EstimatorSpec))


@recording
def run_config() -> dict[str, Any]:
    import ask_run_config

    return outcomes(ask_run_config.questions(tf.estimator.RunConfig))


@recording
def spec() -> dict[str, Any]:
    import ask_spec

    return outcomes(ask_spec.questions(tf.estimator, tf.keras))


@recording
def public_names() -> dict[str, Any]:
    """Returns names with the arguments of what can be called."""
    import public_api

    return {
        f"{name}.{path}": public_api.described(namespace, path)
        for name, namespace in (
            ("tf.estimator", tf.estimator),
            ("tf.compat.v1.estimator", v1.estimator),
        )
        for path in public_api.paths(namespace)
    }


@recording
def export() -> dict[str, Any]:
    import ask_export

    raw_supervised = tf.estimator.experimental.build_raw_supervised_input_receiver_fn
    return outcomes(ask_export.questions(v1.estimator.export, raw_supervised, tf.keras))


@recording
def saved_model() -> dict[str, Any]:
    import ask_export

    def exported(question: ask_export.Export) -> dict[str, Any]:
        """Returns the SavedModel that an Estimator exports, and its log lines about signatures."""
        model_dir = tempfile.mkdtemp()
        model_fn = ask_export.make_model_fn(v1.estimator, question.outputs)
        estimator = v1.estimator.Estimator(model_fn, model_dir)
        estimator.train(lambda: ({"x": tf.constant([[1.0, 2.0]])}, tf.constant([[1.0]])), steps=1)
        with logged() as lines:
            path = estimator.experimental_export_all_saved_models(model_dir, question.receivers)
        return {
            "saved model": ask_export.saved_model(path.decode()),
            "log": [line for line in lines if ask_export.is_about_signatures(line)],
        }

    raw_supervised = tf.estimator.experimental.build_raw_supervised_input_receiver_fn
    questions = ask_export.exports(v1.estimator.export, raw_supervised)
    return {name: exported(question) for name, question in questions.items()}


def _private(name: str) -> Any:
    """Returns a module of names that scripts use though tf.estimator does not publish them."""
    return importlib.import_module(f"tensorflow_estimator.python.estimator.{name}")


@recording
def heads() -> dict[str, Any]:
    import ask_heads

    legacy, new = tf.keras.optimizers.legacy, tf.keras.optimizers.Optimizer
    return outcomes(ask_heads.questions(tf.estimator, legacy, new))


@recording
def heads_tpu() -> dict[str, Any]:
    import ask_heads_tpu

    sequential = _private("head.sequential_head").SequentialHeadWrapper
    calls = ask_heads_tpu.questions(tf.estimator, sequential, tf.keras.optimizers.legacy)
    return outcomes(calls)


@recording
def heads_bad_input() -> dict[str, Any]:
    import ask_heads_bad_input

    calls = ask_heads_bad_input.questions(tf.estimator, tf.keras.optimizers.legacy)
    return {name: ask_heads_bad_input.answer(call) for name, call in calls.items()}


@recording
def heads_shapes() -> dict[str, Any]:
    import ask_heads_shapes

    calls = ask_heads_shapes.questions(tf.estimator)
    return {name: ask_heads_shapes.answer(call) for name, call in calls.items()}


@recording
def heads_v1() -> dict[str, Any]:
    import ask_heads_v1

    return outcomes(
        ask_heads_v1.questions(
            ask_heads_v1.linear_of_original, tf.estimator.export, v1.estimator.RunConfig
        )
    )


@recording
def heads_sequential() -> dict[str, Any]:
    import ask_heads_sequential

    wrapper = _private("head.sequential_head").SequentialHeadWrapper
    return outcomes(ask_heads_sequential.questions(tf.estimator, wrapper))


@recording
def heads_keys() -> dict[str, Any]:
    names = {
        "MetricKeys": _private("canned.metric_keys").MetricKeys,
        "PredictionKeys": _private("canned.prediction_keys").PredictionKeys,
    }
    return {
        name: {key: value for key, value in vars(keys).items() if key.isupper()}
        for name, keys in names.items()
    }


@recording
def logs() -> dict[str, Any]:
    import ask_logs

    return observed(ask_logs.JOBS, lambda name, base: ask_logs.ask(tf.estimator, name, base))


@recording
def autograph() -> dict[str, Any]:
    import ask_autograph
    import ask_heads_replicas

    ask_heads_replicas.two_devices()
    return ask_autograph.answers(tf.estimator, v1.estimator, tf.estimator, tf.keras)


@recording
def heads_replicas() -> dict[str, Any]:
    import ask_heads_replicas

    ask_heads_replicas.two_devices()
    return ask_heads_replicas.answers(tf.estimator, tf.estimator, tf.keras.optimizers.legacy)


if __name__ == "__main__":
    goldens.write(sys.argv[1], RECORDINGS[sys.argv[1]]())
    goldens.note_version(
        sys.argv[1], *goldens.own_versions(f"tf.estimator of TensorFlow {tf.__version__}")
    )
