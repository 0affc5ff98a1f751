#!/usr/bin/env bash
# oneDNN's pass fuses a convolution with the addition of its bias even if the bias must be read
# after the convolution. The fused operation then waits for itself, and the session call ends
# without a result and without the name of an operation.
#
# Seen with tensorflow 2.21.0, Python 3.11, Linux, x86-64 (AMD EPYC). The graph: a Conv2D, a
# ReadVariableOp with a control input from it, and a BiasAdd of both; alone, and as the body of a
# tf.while_loop. TensorFlow enables oneDNN by default on processors with AVX512_VNNI and newer;
# ONEDNN_MAX_CPU_ISA makes no difference.
#
#   TF_ENABLE_ONEDNN_OPTS=0: graph 80.0, loop 240.0
#   TF_ENABLE_ONEDNN_OPTS=1: graph InvalidArgumentError: Retval[0] does not have value
#                            loop  InvalidArgumentError: Retval[0] does not have value
#
# Code that adds control inputs to the read of a variable must therefore add none from an operation
# that may be fused with the operation that uses the value.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check tensorflow==2.21.0

cat > "$folder/program.py" << 'PYTHON'
import tensorflow as tf

v1 = tf.compat.v1
tf.compat.v1.enable_control_flow_v2()


def convolve(number, total):
    maps = tf.nn.conv2d(images, kernel.read_value(), 1, "VALID")
    with tf.control_dependencies([maps]):
        late = bias.read_value()
    return number + 1, total + tf.reduce_sum(tf.nn.bias_add(maps, late))


def run(name, tensor):
    try:
        print(name, session.run(tensor))
    except tf.errors.OpError as error:
        print(name, type(error).__name__ + ":", error.message.splitlines()[-1])


with tf.Graph().as_default(), v1.variable_scope("", use_resource=True):
    images = v1.placeholder_with_default(tf.ones([1, 4, 4, 1]), [1, 4, 4, 1])
    kernel = v1.get_variable("kernel", [3, 3, 1, 2], initializer=v1.ones_initializer())
    bias = v1.get_variable("bias", [2], initializer=v1.ones_initializer())
    once = convolve(0, 0.0)[1]
    thrice = tf.while_loop(lambda number, total: number < 3, convolve, [0, 0.0])[1]
    with v1.Session() as session:
        session.run(v1.global_variables_initializer())
        run("graph", once)
        run("loop", thrice)
PYTHON

check() {
    local output
    output=$(TF_CPP_MIN_LOG_LEVEL=3 TF_ENABLE_ONEDNN_OPTS=$1 \
        "$folder/venv/bin/python" "$folder/program.py" 2> "$folder/errors") \
        || { cat "$folder/errors"; exit 1; }
    if [ "$output" != "$2" ]; then
        printf 'TF_ENABLE_ONEDNN_OPTS=%s changed:\n%s\nexpected:\n%s\n' "$1" "$output" "$2"
        exit 1
    fi
    printf 'TF_ENABLE_ONEDNN_OPTS=%s:\n%s\n' "$1" "$output"
}

failure="InvalidArgumentError: Retval[0] does not have value"
check 0 $'graph 80.0\nloop 240.0'
check 1 "graph $failure"$'\n'"loop $failure"
