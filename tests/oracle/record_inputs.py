"""Records what the original's `inputs` do: run by hand with TensorFlow 2.15."""

import ask_inputs
import goldens
import tensorflow as tf

if __name__ == "__main__":
    goldens.write("inputs", ask_inputs.ask(tf.compat.v1.estimator.inputs))
