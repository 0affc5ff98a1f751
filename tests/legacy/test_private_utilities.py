"""Private functions of tf.estimator that libraries use."""

import pytest
import tensorflow as tf

from estimator_train.legacy.private import utilities


def test_parse_input_fn_result_returns_features_labels_and_hooks():
    with tf.Graph().as_default():
        data = tf.data.Dataset.from_tensors(([1.0], [2])).repeat(2)
        features, labels, hooks = utilities.parse_input_fn_result(data)
        with tf.compat.v1.train.MonitoredSession(hooks=hooks) as session:
            assert [list(part) for part in session.run((features, labels))] == [[1.0], [2]]
    assert utilities.parse_input_fn_result({"a": 1}) == ({"a": 1}, None, [])
    assert utilities.parse_input_fn_result(["a", "b"]) == ("a", "b", [])
    with pytest.raises(ValueError, match="as a len 2 tuple"):
        utilities.parse_input_fn_result((1, 2, 3))
