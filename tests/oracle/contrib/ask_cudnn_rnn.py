"""Questions about the layers of tf.contrib.cudnn_rnn, which TensorFlow 1.15 builds on any machine.

It runs them on a GPU only, so every layer is built in a graph that does not run.
"""

import tensorflow as tf
from asking import main, numbers, question, signature

cudnn_rnn = tf.contrib.cudnn_rnn
LAYERS = ("CudnnLSTM", "CudnnGRU", "CudnnRNNRelu", "CudnnRNNTanh")


def built(kind, *arguments, **options):
    """Returns what can be said of a layer and its outputs before they are run."""
    with tf.Graph().as_default():
        layer = getattr(cudnn_rnn, kind)(*arguments, **options)
        outputs, state = layer(tf.constant(numbers(4, 2, 3)))
        variables = [layer.trainable_variables, tf.global_variables(), tf.trainable_variables()]
        return {
            "shapes": str([outputs.shape.as_list()] + [one.shape.as_list() for one in state]),
            "state": type(state).__name__,
            "variables": str([[one.name for one in some] for some in variables]),
            "weights": str([list(shape) for shape in layer.canonical_weight_shapes]),
            "biases": str([list(shape) for shape in layer.canonical_bias_shapes]),
            "sizes": [layer.num_layers, layer.num_units, layer.num_dirs, layer.input_size],
            "modes": [layer.rnn_mode, layer.input_mode, layer.direction],
            "state_shape": str(layer.state_shape(5)),
        }


@question
def arguments():
    return {name: signature(getattr(cudnn_rnn, name).__init__) for name in LAYERS}


@question
def arguments_of_calls():
    return {name: signature(getattr(cudnn_rnn, name).call) for name in LAYERS}


@question
def lstm():
    return built("CudnnLSTM", 1, 3)


@question
def lstm_both_ways():
    return built("CudnnLSTM", 2, 3, "linear_input", "bidirectional", 0.2, 7, name="mine")


@question
def gru():
    return built("CudnnGRU", 2, 3)


@question
def gru_both_ways_of_own_inputs():
    return built("CudnnGRU", 2, 3, direction="bidirectional", input_mode="skip_input")


@question
def relu():
    return built("CudnnRNNRelu", 2, 3)


@question
def tanh():
    return built("CudnnRNNTanh", 1, 4, input_mode="auto_select")


@question
def unknown_direction():
    return built("CudnnLSTM", 1, 3, direction="both")


@question
def unknown_input_mode():
    return built("CudnnLSTM", 1, 3, input_mode="linear")


@question
def double_precision():
    with tf.Graph().as_default():
        layer = cudnn_rnn.CudnnLSTM(1, 2, dtype=tf.float64)
        layer.build([None, None, 3])
        return {"dtype": layer.trainable_variables[0].dtype.base_dtype.name, "built": layer.built}


@question
def inputs_of_two_axes():
    return cudnn_rnn.CudnnLSTM(1, 2)(tf.zeros([2, 3]))


@question
def inputs_of_unknown_size():
    return cudnn_rnn.CudnnLSTM(1, 2)(tf.placeholder(tf.float32, [None, None, None]))


@question
def shapes_before_the_build():
    return {"weights": str(cudnn_rnn.CudnnLSTM(1, 2).canonical_weight_shapes)}


if __name__ == "__main__":
    main()
