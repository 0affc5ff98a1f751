"""Questions about the modules of tf.contrib: which ones import, and the effect of unused names."""

import importlib

import tensorflow as tf
from asking import main, question
from trying import tried

MODULES = """
    all_reduce autograph batching bayesflow bigtable boosted_trees checkpoint cloud
    cluster_resolver compiler constrained_optimization copy_graph crf cudnn_rnn data
    decision_trees deprecated distribute distributions eager estimator factorization
    feature_column ffmpeg framework fused_conv graph_editor grid_rnn hadoop hooks ignite image
    input_pipeline integrate kafka keras kernel_methods kinesis labeled_tensor layers learn
    legacy_seq2seq libsvm linear_optimizer lookup losses memory_stats meta_graph_transform
    metrics mixed_precision model_pruning nearest_neighbor nn opt optimizer_v2 periodic_resample
    predictor proto quantization quantize receptive_field recurrent reduce_slice_ops
    remote_fused_graph resampler rnn rpc saved_model seq2seq session_bundle signal slim solvers
    sparsemax specs staging stat_summarizer stateless summary tensor_forest tensorboard tensorrt
    testing text tfprof timeseries tpu training util compiler.jit compiler.xla
    distributions.python.ops.bijectors quantize.python.quantize_graph
    legacy_seq2seq.python.ops.seq2seq optimizer_v2.adam tensor_forest.client.random_forest
    tensor_forest.python.tensor_forest cudnn_rnn.python.ops.cudnn_rnn_ops
    session_bundle.exporter layers.python.layers.feature_column
    learn.python.learn.estimators.model_fn slim.python.slim.nets.resnet_v1 graph_editor.select
    text.python.ops.skip_gram_ops lookup.lookup_ops predictor.saved_model_predictor
    summary.summary util.loader
""".split()  # noqa: SIM905


@question
def modules_that_import():
    return {name: tried(imported, "tensorflow.contrib." + name) for name in MODULES}


def imported(name):
    return importlib.import_module(name) is not None


@question
def imported_names_are_only_used_later():
    from tensorflow.contrib import quantize, text  # noqa: F401, PLC0415
    from tensorflow.contrib.distributions import Normal  # noqa: F401, PLC0415
    from tensorflow.contrib.legacy_seq2seq import rnn_decoder  # noqa: F401, PLC0415
    from tensorflow.contrib.quantize.python import quantize_graph  # noqa: F401, PLC0415
    from tensorflow.contrib.tensor_forest.client import random_forest  # noqa: F401, PLC0415

    return {"quantize": tf.contrib.quantize.__name__, "is_normal": isinstance(3, Normal)}


@question
def names_that_moved():
    seed = [1, 2]
    contrib = tf.contrib
    signal = tf.constant([[0.5, -1.0, 0.25, 2.0, 1.0, -0.5, 0.0, 1.5]])
    return {
        "uniform": contrib.stateless.stateless_random_uniform([3], seed),
        "normal": contrib.stateless.stateless_random_normal([3], seed),
        "truncated": contrib.stateless.stateless_truncated_normal([3], seed),
        "multinomial": contrib.stateless.stateless_multinomial([[0.1, 0.9, 0.2]], 4, seed),
        "frames": contrib.signal.frame(signal, 4, 2),
        "mel": contrib.signal.linear_to_mel_weight_matrix(3, 5, 800.0, 20.0, 300.0),
        "autograph": contrib.autograph.to_graph is not None,
    }


if __name__ == "__main__":
    main()
