"""Questions about names of tf.contrib that TensorFlow still has elsewhere, and about small ones."""

import numpy as np
import tensorflow as tf
from asking import main, numbers, question, signature
from trying import tried

contrib = tf.contrib
NAMES = {
    "autograph": "AutoGraphError ConversionOptions StackTraceMapper convert converted_call "
    "set_element_type stack",
    "batching": "batch_function",
    "checkpoint": "CheckpointableBase CheckpointableObjectGraph PythonStateWrapper "
    "capture_dependencies list_objects object_metadata",
    "distribute": "StandardInputStep StandardSingleLossStep Step TPUStrategy UpdateContext "
    "initialize_tpu_system require_replica_context run_standard_tensorflow_server",
    "distributions": "BetaWithSoftplusConcentration ExponentialWithSoftplusRate "
    "GammaWithSoftplusConcentrationRate LaplaceWithSoftplusScale NormalWithSoftplusScale "
    "StudentTWithAbsDfSoftplusScale matrix_diag_transform tridiag",
    "eager": "Checkpointable EagerVariableStore async_clear_error async_wait "
    "connect_to_remote_host execution_mode set_execution_mode set_server_def",
    "framework": "convolutional_delta_orthogonal",
    "summary": "SummaryWriter create_summary_file_writer eval_dir generic import_event",
    "tpu": "DeviceAssignment InfeedQueue Topology device_assignment infeed_dequeue "
    "infeed_dequeue_tuple infeed_enqueue infeed_enqueue_tuple outfeed_dequeue "
    "outfeed_dequeue_tuple outfeed_enqueue outfeed_enqueue_tuple",
}


@question
def names():
    return {
        module: [callable(getattr(getattr(contrib, module), name)) for name in names.split()]
        for module, names in NAMES.items()
    }


@question
def inner_names():
    return {
        "bijectors": callable(contrib.distributions.bijectors.Identity),
        "xla": callable(contrib.compiler.xla.check_function_argument_count),
        "keras": tf.contrib.keras.api.keras.layers.Dense.__name__,
    }


@question
def softplus_distributions():
    d = contrib.distributions
    x = numbers(3, start=2)
    return {
        "normal": d.NormalWithSoftplusScale(0.5, x).log_prob(1.0),
        "gamma": d.GammaWithSoftplusConcentrationRate(x, x).mean(),
        "laplace": d.LaplaceWithSoftplusScale(0.0, x).stddev(),
    }


@question
def flipped_losses():
    nn = contrib.nn
    logits, labels = tf.constant(numbers(2, 3)), tf.constant([[0.0, 1.0, 0.0], [0.5, 0.25, 0.25]])
    return {
        "softmax": nn.deprecated_flipped_softmax_cross_entropy_with_logits(logits, labels),
        "sparse": nn.deprecated_flipped_sparse_softmax_cross_entropy_with_logits(logits, [2, 0]),
        "sigmoid": nn.deprecated_flipped_sigmoid_cross_entropy_with_logits(logits, labels),
        "signatures": repr(
            [
                signature(nn.deprecated_flipped_softmax_cross_entropy_with_logits),
                signature(nn.deprecated_flipped_sparse_softmax_cross_entropy_with_logits),
                signature(nn.deprecated_flipped_sigmoid_cross_entropy_with_logits),
            ]
        ),
    }


@question
def flipped_gradients():
    logits, labels = tf.constant(numbers(2, 3)), tf.constant([[0.0, 1.0, 0.0], [0.5, 0.25, 0.25]])
    loss = contrib.nn.deprecated_flipped_softmax_cross_entropy_with_logits(logits, labels)
    of_labels = tf.gradients(loss, labels)[0]
    return {"logits": tf.gradients(loss, logits)[0], "labels": repr(of_labels)}


@question
def parameters_of_a_graph():
    analyzer = contrib.tfprof.model_analyzer
    v = tf.get_variable("v", [3, 4])
    tf.matmul(tf.ones([2, 3]), v)
    graph = tf.get_default_graph()
    options = dict(analyzer.TRAINABLE_VARS_PARAMS_STAT_OPTIONS, output="none")
    counted = analyzer.print_model_analysis(graph, tfprof_options=options)
    floats = dict(analyzer.FLOAT_OPS_OPTIONS, output="none", show_name_regexes=["MatMul"])
    flops = analyzer.print_model_analysis(graph, tfprof_options=floats)
    shown = ("TRAINABLE_VARS_PARAMS_STAT_OPTIONS", "FLOAT_OPS_OPTIONS", "PRINT_ALL_TIMING_MEMORY")
    return {
        "parameters": counted.total_parameters,
        "matmul": [one.float_ops for one in flops.children if one.name == "MatMul"],
        "options": [repr(sorted(getattr(analyzer, name).items())) for name in shown],
        "signatures": signature(analyzer.print_model_analysis)[:4] + signature(analyzer.advise)[:2],
    }


@question
def element_shapes():
    def given(shape):
        data = tf.data.Dataset.from_generator(lambda: iter([[1, 2]]), tf.int32)
        data = data.apply(contrib.data.assert_element_shape(tf.TensorShape(shape)))
        return data.make_one_shot_iterator().get_next()

    known = tf.data.Dataset.from_tensors(np.zeros(2))
    transform = contrib.data.assert_element_shape(tf.TensorShape([3]))
    return {
        "static": repr(given([2]).shape.as_list()),
        "values": given([2]),
        "refused": tried(lambda: known.apply(transform)),
    }


@question
def wrong_element():
    data = tf.data.Dataset.from_generator(lambda: iter([[1, 2]]), tf.int32)
    data = data.apply(contrib.data.assert_element_shape(tf.TensorShape([3])))
    return {"value": data.make_one_shot_iterator().get_next()}


@question
def steps_of_slim():
    slim = contrib.slim
    step = slim.create_global_step()
    variable = tf.Variable(1.0, name="mine")
    slim.add_model_variable(variable)
    slim.assert_global_step(step)
    return {
        "step": step,
        "same": slim.assert_or_get_global_step(global_step_tensor=step) is step,
        "model": [one.op.name for one in slim.get_model_variables()],
    }


if __name__ == "__main__":
    main()
