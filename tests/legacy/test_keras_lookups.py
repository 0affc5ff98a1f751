"""Objects and names that old programs and tuners ask Keras for."""

import json

import pytest

LOOKUPS = """
import json
import tensorflow as tf

answers = {}
for kind, known in (("metrics", "mse"), ("losses", "mse"), ("initializers", "ones")):
    for function in ("get", "deserialize"):
        look_up = getattr(getattr(tf.keras, kind), function)
        for given in ("unknown", {"class_name": "unknown", "config": {}}, known):
            try:
                answer = callable(look_up(given))
            except ValueError as error:
                answer = " ".join(str(error).split()[:2])
            answers[f"{kind}.{function}({given})"] = answer
print(json.dumps(answers))
"""

RANGE = """
class Range:
    def __init__(self, low):
        self.low = low

    def get_config(self):
        return {"low": self.low}

    @classmethod
    def from_config(cls, config):
        return cls(**config)
"""

DESERIALIZE = """
import tensorflow as tf
from keras_probe.engine import ranges

copy = tf.keras.utils.deserialize_keras_object({
    "module": "keras_probe.engine.ranges",
    "class_name": "Range",
    "config": {"low": 3},
    "registered_name": "Range",
})
print(type(copy) is ranges.Range, copy.low, ranges.__name__, ranges.__spec__.name)
try:
    import tf_keras_absent.engine
except ModuleNotFoundError as error:
    print(error)
"""


@pytest.mark.parametrize("generation", ["--tf1", "--tf2"])
def test_keras_has_no_answer_for_an_unknown_name(run, generation):
    answers = json.loads(run(LOOKUPS, switches=[generation]).stdout)
    # TensorFlow 1.15.5 answers so.
    for question, answer in answers.items():
        expected = "Unknown" if "unknown" in question else True
        assert (answer if answer is True else answer.split()[0]) == expected, question
    assert len(answers) == 18


def test_objects_of_a_package_whose_name_begins_with_keras_are_loaded(run, tmp_path):
    package = tmp_path / "keras_probe" / "engine"
    package.mkdir(parents=True)
    for directory in (package.parent, package):
        (directory / "__init__.py").touch()
    (package / "ranges.py").write_text(RANGE)
    lines = run(DESERIALIZE, switches=["--tf2"]).stdout.splitlines()
    name = "keras_probe.engine.ranges"
    assert lines == [f"True 3 {name} {name}", "No module named 'tf_keras_absent'"]
