"""The first tier's tests of tf_contrib: a recorded question about each module, in one program."""

from pathlib import Path

import forked
import tensorflow as tf
from pages import blocks_of
from processes import run_process

import tf_contrib
from tests.contrib.test_contrib_as_original import ask, unexpected

README = Path(tf_contrib.__file__).with_name("README.md")
# Modules without a recorded question: they only have names of TensorFlow, or import.
IMPORTED = {"cloud", "compiler", "hooks", "memory_stats", "tensorboard", "tfprof", "util"}
ASKED = {
    "cluster_resolver": "cluster_resolver union_of_resolvers",
    "crf": "crf sequence_score",
    "cudnn_rnn": "cudnn_rnn gru",
    "data": "data map_and_batch",
    "deprecated": "losses summary_of_a_number",
    "distribute": "distribute mirrored_on_devices",
    "distributions": "distributions normal",
    "eager": "signatures eager",
    "estimator": "estimator losses_of_numbers",
    "factorization": "clusters k_means_of_all_points",
    "feature_column": "feature_column several_columns",
    "framework": "framework variables_in_scopes",
    "graph_editor": "graph_editor backward_walks",
    "image": "image rotated",
    "kernel_methods": "kernel_methods mapped",
    "layers": "layers dense_and_its_arguments",
    "learn": "learn_models logistic",
    "legacy_seq2seq": "legacy_seq2seq rnn_decoder",
    "linear_optimizer": "learn_svm_logistic_rnn sdca_classifier",
    "lookup": "lookup from_tensor",
    "losses": "losses absolute",
    "metrics": "agreement_metrics cohen_kappa",
    "mixed_precision": "mixed_precision a_factor_that_grows_and_shrinks",
    "model_pruning": "model_pruning mask",
    "nets": "slim_nets vgg_a",
    "nn": "agreement_metrics alpha_dropout",
    "opt": "opt lazy_adam_sparse",
    "predictor": "predictor no_output_but_the_inputs",
    "resampler": "splines resampled",
    "rnn": "rnn lstm_block",
    "saved_model": "signatures saved_models",
    "seq2seq": "seq2seq bahdanau",
    "slim": "slim a_train_op",
    "sparsemax": "sparsemax values_and_gradients",
    "summary": "signatures summaries",
    "timeseries": "timeseries whole_series",
    "tpu": "tpu cross_shard_optimizer",
    "training": "training clip",
}


def test_answers_of_each_module_equal_the_recorded_ones(tmp_path: Path) -> None:
    questions: dict[str, list[str]] = {}
    for area, question in map(str.split, ASKED.values()):
        questions.setdefault(area, []).append(question)
    answers = ask((f"{area}:{','.join(names)}" for area, names in questions.items()), tmp_path)
    assert {area: sorted(found) for area, found in answers.items()} == {
        area: sorted(names) for area, names in questions.items()
    }
    found = {
        f"{area} {question}": unexpected(area, question, answer)
        for area, answers_of_area in answers.items()
        for question, answer in answers_of_area.items()
    }
    assert {key: texts for key, texts in found.items() if texts} == {}


def test_the_sample_has_every_module() -> None:
    assert {*ASKED, *IMPORTED, "gan"} == set(tf_contrib.__all__)
    assert all(getattr(tf_contrib, name).__name__ == f"tf_contrib.{name}" for name in IMPORTED)


def test_a_loss_of_gan() -> None:
    scores = tf.constant([1.0, 4.0])
    model = tf_contrib.gan.GANModel(*[None] * 11)._replace(
        discriminator_real_outputs=-scores, discriminator_gen_outputs=scores
    )
    assert float(tf_contrib.gan.losses.wasserstein_generator_loss(model)) == -2.5


def test_the_example_of_the_readme_prints_its_output(tmp_path: Path) -> None:
    program, output = blocks_of(README.read_text(encoding="utf-8"))
    (tmp_path / "example.py").write_text(program.code)
    done = run_process(forked.python(tmp_path / "example.py"))
    assert done.stdout == output.code
