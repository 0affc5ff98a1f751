"""The layers of tf.contrib.cudnn_rnn compute on a CPU what cuDNN's equations say."""

import ast
import re


def test_layers_equal_compatible_cells_and_a_numpy_reference(run):
    done = run("cudnn_rnn.py")
    differences = ast.literal_eval(re.search(r"^DIFFERENCES (.*)$", done.stdout, re.MULTILINE)[1])
    assert len(differences) == 11
    assert max(differences) < 1e-5
    assert "GRADIENTS True" in done.stdout
    assert "DROPPED True" in done.stdout
