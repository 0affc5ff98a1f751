"""Every golden file has who records it and who reads it, and an answer to each question asked."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from pathlib import Path

import all_cases
import all_jobs
import ask_autograph
import ask_canned
import ask_canned_errors
import ask_collections
import ask_export
import ask_heads
import ask_heads_bad_input
import ask_heads_replicas
import ask_heads_sequential
import ask_heads_shapes
import ask_heads_tpu
import ask_heads_v1
import ask_inputs
import ask_logs
import ask_names
import ask_run_config
import ask_spec
import ask_tpu_refusals
import boosted_trees
import boosted_trees_continued
import boosted_trees_exported
import canned_cases
import canned_cases_v1
import canned_checkpoints
import canned_kmeans
import canned_rnn
import canned_sdca
import continuing
import figures
import goldens
import keras_jobs
import model_to_estimator_jobs
import pytest
import record
import recordings
import replica_jobs
import tf_keras
import training_jobs
import way_back_jobs
from breadth import asking
from jobs import Api
from outcomes import GOLDEN, recorded

import estimator_train as est
from estimator_train import heads, tpu
from estimator_train.compat import v1

TESTS = Path(__file__).parent
LEGACY = tf_keras.optimizers.legacy
RAW = est.experimental.build_raw_supervised_input_receiver_fn
APIS = {name: Api(name, of, tf_keras, None) for name, of in (("v2", est), ("v1", v1))}
HOMES = [canned_checkpoints.home_of(*model) for model in canned_checkpoints.MODELS]


def _flavoured(jobs: dict[str, figures.Job]) -> list[str]:
    return [f"{job} {flavour}" for job in jobs for flavour in jobs[job].flavours]


# What each file has answers to. Those of tf.contrib are looked at where they are asked.
QUESTIONS: dict[str, Callable[[], Iterable[str]]] = {
    "behaviour": lambda: all_cases.CASES,
    "behaviour_without_v2": lambda: all_cases.CASES,
    "breadth": lambda: asking.all_questions(APIS),
    "breadth_v1_behaviour": lambda: filter(
        asking.IN_BOTH.match, map(str, asking.all_questions(APIS))
    ),
    "boosted_trees": lambda: boosted_trees.CASES,
    "boosted_trees_collections": lambda: boosted_trees.COLLECTIONS,
    "boosted_trees_continued": lambda: boosted_trees_continued.CONTINUED,
    "boosted_trees_exported": lambda: boosted_trees_exported.EXPORTED,
    "boosted_trees_settings": lambda: [
        *(f"losses {name}" for name in boosted_trees.LONG),
        *(f"bad {name}" for name in boosted_trees.BAD),
        *("in memory classifier", "in memory regressor", "signatures"),
    ],
    "autograph": lambda: ask_autograph.NAMES,
    "canned": lambda: canned_cases.CASES,
    "canned_continued": lambda: HOMES,
    "canned_continued_ours": lambda: HOMES,
    "canned_errors": lambda: ask_canned_errors.questions({"v1": v1, "v2": est}),
    "canned_collections": lambda: ask_collections.questions(APIS),
    "canned_names": lambda: ask_names.questions(APIS),
    "canned_asked": lambda: ask_canned.questions(est, v1, tf_keras),
    "canned_kmeans": lambda: canned_kmeans.CASES,
    "canned_rnn": lambda: canned_rnn.CASES,
    "canned_rnn_seeded": lambda: canned_rnn.SEEDED,
    "canned_sdca": lambda: [f"{name} {v}" for name in canned_sdca.CASES for v in ("v1", "v2")],
    "canned_v1": lambda: canned_cases_v1.CASES,
    "checkpoints": lambda: continuing.JOBS,
    "continued": lambda: continuing.JOBS,
    "export": lambda: ask_export.questions(est.export, RAW, tf_keras),
    "heads": lambda: ask_heads.questions(heads, LEGACY, tf_keras.optimizers.Optimizer),
    "heads_bad_input": lambda: ask_heads_bad_input.questions(heads, LEGACY),
    "heads_keys": lambda: ("MetricKeys", "PredictionKeys"),
    "heads_replicas": lambda: ask_heads_replicas.NAMES,
    "heads_sequential": lambda: ask_heads_sequential.questions(heads, heads.SequentialHeadWrapper),
    "heads_shapes": lambda: ask_heads_shapes.questions(heads),
    "heads_tpu": lambda: ask_heads_tpu.questions(heads, heads.SequentialHeadWrapper, LEGACY),
    "heads_v1": lambda: ask_heads_v1.questions(lambda *_: None, est.export, est.RunConfig),
    "inputs": lambda: ask_inputs.ask(v1.inputs),
    "keras": lambda: _flavoured(keras_jobs.JOBS),
    "logs": lambda: ask_logs.JOBS,
    "model_to_estimator": lambda: [
        *(f"optimizer {name}" for name in model_to_estimator_jobs.OPTIMIZERS),
        *(f"case {name}" for name in model_to_estimator_jobs.CASES),
    ],
    "public_names": lambda: recorded("public_names"),  # Other recordings' questions.
    "replicas": lambda: replica_jobs.NAMES,
    "run_config": lambda: ask_run_config.questions(est.RunConfig),
    "saved_model": lambda: ask_export.exports(est.export, RAW),
    "spec": lambda: ask_spec.questions(est, tf_keras),
    "tpu_refusals": lambda: ask_tpu_refusals.questions(tpu, est.EstimatorSpec),
    "training": lambda: _flavoured(training_jobs.JOBS),
    "way_back": lambda: way_back_jobs.JOBS,
    **{
        f"train_and_evaluate_{subject}": functools.partial(list, cases)
        for subject, cases in all_jobs.CASES.items()
    },
}
FILES = sorted(path.stem for path in GOLDEN.glob("*.json"))
OF_OTHER_LIBRARIES = (
    record.TFJOB,
    record.KUBERNETES,
    record.SCIPY_MISC,
    record.REMOVED_NAMES,
)
OF_LIBRARY = [
    name for name in FILES if not name.startswith(record.CONTRIB) and name not in OF_OTHER_LIBRARIES
]


def test_every_file_has_a_recording_script() -> None:
    of_others = [*record.TREES, *OF_OTHER_LIBRARIES, *record.contrib()]
    assert sorted([*recordings.RECORDINGS, *of_others]) == FILES


def test_every_file_has_the_version_that_recorded_it() -> None:
    versions = goldens.versions()
    assert sorted(versions) == FILES
    original = {
        **dict.fromkeys(FILES, "TensorFlow 1.15.5"),
        **dict.fromkeys(OF_LIBRARY, "TensorFlow 2.15.1"),
        **dict.fromkeys(record.TREES, "TensorFlow 2.8.4"),
        record.TFJOB: "kubeflow-training",
        record.KUBERNETES: "kubeflow-trainer-api",
        record.SCIPY_MISC: "scipy 1.2",
        record.REMOVED_NAMES: "pandas 0.25",
    }
    assert [name for name in FILES if original[name] not in versions[name]] == []


def test_every_file_is_read_by_a_test() -> None:
    texts = "".join(path.read_text() for path in TESTS.rglob("test_*.py") if path != Path(__file__))
    families = ("train_and_evaluate_{", record.CONTRIB + "{")
    assert all(f'"{family}' in texts for family in families)
    alone = [name for name in OF_LIBRARY if not name.startswith(families[0][:-1])]
    assert [name for name in alone if f'"{name}"' not in texts] == []


@pytest.mark.parametrize("name", OF_LIBRARY)
def test_each_question_has_an_answer_and_each_answer_a_question(name: str) -> None:
    assert sorted(QUESTIONS[name]()) == sorted(recorded(name))


def test_a_test_continues_each_checkpoint() -> None:
    found = {path.name for path in (GOLDEN / "checkpoints").iterdir()}
    assert found == {*HOMES, *continuing.JOBS}
    assert {path.name for path in (GOLDEN / "way_back").iterdir()} == {*way_back_jobs.JOBS}
