"""Names that SciPy, Pillow and protobuf have removed since a codebase was written."""

import ask_scipy_misc
import PIL.Image
import pytest
from google.protobuf import descriptor_pb2
from outcomes import recorded

from estimator_train.legacy.removed import scipy_misc

RECORDED = recorded("scipy_misc")
QUESTIONS = ask_scipy_misc.questions(scipy_misc)


def test_scipy_misc_returns_the_values_of_scipy_1_2():
    answers = {name: ask_scipy_misc.answer(question) for name, question in QUESTIONS.items()}
    assert {name: answers[name] for name in RECORDED if answers[name] != RECORDED[name]} == {}
    assert answers.keys() == RECORDED.keys()


def test_a_program_finds_the_removed_names(run, tmp_path):
    PIL.Image.new("RGB", (4, 2), (9, 99, 199)).save(tmp_path / "p.png")
    program = (
        "import scipy.misc, scipy.sparse as sparse, PIL.Image\n"
        "from PIL import Image\n"
        "from scipy.misc import imread\n"
        "import tensorflow as tf\n"
        "picture = imread('p.png')\n"
        "print(picture.shape, scipy.misc.imresize(picture, 0.5).ravel(), sparse.eye(2).nnz)\n"
        "print(Image.ANTIALIAS == PIL.Image.LANCZOS, Image.CUBIC == Image.BICUBIC)\n"
        "tf.logging._logger.setLevel('INFO')\n"
        "print(tf.logging.get_verbosity() == tf.logging.INFO)\n"
    )
    done = run(program, switches=["--tf1"])
    assert done.stdout == "(2, 4, 3) [  9  99 199   9  99 199] 2\nTrue True\nTrue\n"


# Printed by TensorFlow 1.15 with NumPy 1.18.
METHODS = """True 5 [3, 3, 3] b'\\x00\\x00\\x00@'
[[0, 9, 2], [3, 7, 8]] 150994944 4.0
[1, 2] (2, 3)
"""


def test_arrays_have_the_methods_of_numpy_1(run):
    program = (
        "import numpy as np\n"
        "import tensorflow as tf\n"
        "a = np.arange(6).reshape(2, 3).astype('i4')\n"
        "print(a.tostring() == a.tobytes(), a.ptp(), a.ptp(axis=0).tolist(), "
        "np.float32(2).tostring())\n"
        "a.itemset(1, 9), a.itemset((1, 1), 7), a.itemset(1, 2, 8)\n"
        "b = np.zeros(())\n"
        "b.itemset(4)\n"
        "print(a.tolist(), a.newbyteorder().ravel()[1], b)\n"
        "nest = tf.contrib.framework.nest\n"
        "print(nest.map_structure_up_to([0, 0], lambda x: x[0], [(1, 5), (2,)]), "
        "nest.flatten_up_to(0, (2, 3))[0])\n"
    )
    assert run(program, switches=["--tf1"]).stdout == METHODS


# The form in which protoc wrote modules up to 3.18, without options and services.
GENERATED = """
import sys
_b = sys.version_info[0] < 3 and (lambda x: x) or (lambda x: x.encode('latin1'))
from google.protobuf import descriptor as _descriptor
from google.protobuf import reflection as _reflection
{imports}
DESCRIPTOR = _descriptor.FileDescriptor(name={file!r}, syntax='proto3', serialized_pb={pb})
_FIELD = _descriptor.FieldDescriptor(name='size', full_name='{name}.size', index=0, number=1,
  type=3, cpp_type=2, label=1, has_default_value=False, default_value=0, message_type=None,
  enum_type=None, containing_type=None, is_extension=False, extension_scope=None)
"""


def generate(name, serialized, imports=""):
    return GENERATED.format(file=f"{name}.proto", name=name, pb=serialized, imports=imports)


@pytest.mark.parametrize("form", ["bytes", "text"])
def test_modules_of_an_old_protoc_load(run, tmp_path, form):
    def serialize(file):
        serialized = file.SerializeToString()
        text = f"_b({serialized.decode('latin1')!r})"
        return repr(serialized) if form == "bytes" else text

    box = descriptor_pb2.FileDescriptorProto(name=f"box_{form}.proto", package=f"old_{form}")
    message = box.message_type.add(name="Box")
    message.field.add(name="size", number=1, type=3, label=1)
    kind = box.enum_type.add(name="Kind")
    kind.value.add(name="ROUND", number=1)
    pile = descriptor_pb2.FileDescriptorProto(name=f"pile_{form}.proto", package=f"old_{form}")
    pile.dependency.append(box.name)
    inner = pile.message_type.add(name="Pile")
    inner.field.add(name="boxes", number=1, type=11, label=3, type_name=f".old_{form}.Box")
    pile.options.py_generic_services = True
    packer = pile.service.add(name="Packer").method.add(name="pack")
    packer.input_type = packer.output_type = f".old_{form}.Pile"
    (tmp_path / "box_pb2.py").write_text(generate("box", serialize(box)))
    (tmp_path / "pile_pb2.py").write_text(
        generate("pile", serialize(pile), "import box_pb2 as box__pb2")
    )
    program = (
        "import tensorflow as tf\n"
        "import pile_pb2, box_pb2\n"
        "pile = pile_pb2.Pile(boxes=[box_pb2.Box(size=3)])\n"
        "print(pile_pb2.Pile.FromString(pile.SerializeToString()).boxes[0].size)\n"
        "print(box_pb2.ROUND, box_pb2.Kind.Name(1), box_pb2.DESCRIPTOR.name)\n"
        "print(pile_pb2.Packer.DESCRIPTOR.methods[0].name, pile_pb2.Packer_Stub.__name__)\n"
    )
    done = run(program, switches=["--tf1"])
    assert done.stdout == f"3\n1 ROUND box_{form}.proto\npack Packer_Stub\n"


def test_libraries_without_tensorflow_find_the_names_of_collections(run, tmp_path):
    library = tmp_path / "site-packages" / "settings.py"
    library.parent.mkdir()
    library.write_text("import collections\nis_mapping = issubclass(dict, collections.Mapping)\n")
    program = "import sys\nsys.path.append('site-packages')\nimport settings\n"
    assert run(f"{program}print(settings.is_mapping)\n").stdout == "True\n"


@pytest.mark.parametrize(
    ("switch", "module"), [("--tf1", "tensorflow"), ("--tf2", "tensorflow.compat.v1")]
)
def test_resource_variables_are_instances_of_variable(run, switch, module):
    program = (
        f"import {module} as tf\n"
        "with tf.Graph().as_default():\n"
        "    a = tf.get_variable('a', [1], use_resource=True)\n"
        "    layer = tf.keras.layers.Dense(1)\n"
        "    layer.build((None, 1))\n"
        "    found = (a, tf.Variable(1.0), layer.kernel, tf.constant(1.0))\n"
        "print([isinstance(value, tf.Variable) for value in found])\n"
    )
    # TensorFlow 1.15 prints the same.
    assert run(program, switches=[switch]).stdout == "[True, True, True, False]\n"


def test_names_of_contrib_with_a_new_location_resolve(run):
    program = (
        "import tensorflow as tf\n"
        "f, sets = tf.contrib.framework, tf.contrib.metrics\n"
        "bounded = f.BoundedTensorSpec([2], tf.int32, 0, 1)\n"
        "print(f.TensorSpec([2], tf.int32, 'x').name, bounded.minimum)\n"
        "print(f.strip_name_scope('a/b', 'a'), f.prepend_name_scope('b', 'a'))\n"
        "true = f.smart_constant_value(tf.constant(True))\n"
        "print(f.smart_cond(True, lambda: 1, lambda: 2), true)\n"
        "x, y = tf.constant([[1, 2, 3]]), tf.constant([[2, 3, 9]])\n"
        "both, either = sets.set_intersection(x, y), sets.set_union(x, y)\n"
        "with tf.Session() as session:\n"
        "    print(*session.run([sets.set_size(both), either.values]))\n"
        "print(issubclass(tf.contrib.lookup.HashTable, tf.contrib.lookup.LookupInterface))\n"
    )
    # TensorFlow 1.15 prints the same.
    expected = "x 0\nb a/b\n1 True\n[2] [1 2 3 9]\nTrue\n"
    assert run(program, switches=["--tf1"]).stdout == expected


def test_inner_modules_of_contrib_have_the_names_of_their_package(run):
    program = (
        "from tensorflow.contrib.learn.python.learn.estimators import model_fn, run_config\n"
        "from tensorflow.contrib.learn.python.learn.estimators.model_fn import ModeKeys\n"
        "import tensorflow as tf\n"
        "learn = tf.contrib.learn\n"
        "print(ModeKeys is learn.ModeKeys, ModeKeys.INFER, learn.TaskType.PS)\n"
        "print(model_fn.ModelFnOps is learn.ModelFnOps, run_config.RunConfig is learn.RunConfig)\n"
    )
    # TensorFlow 1.15 prints the same.
    assert run(program, switches=["--tf1"]).stdout == "True infer ps\nTrue True\n"


ENUM_FLAGS = """
from absl import flags
import tensorflow as tf

flags.DEFINE_enum("api", "keras", ("keras', 'graph"), "One text in the place of a tuple.")
flags.DEFINE_enum("kind", "a", ["a", "b"], "A list.")
flags.FLAGS(["program", "--api=graph"])
print(flags.FLAGS.api, flags.FLAGS.kind, tf.estimator.ModeKeys.EVAL)
"""


def test_the_values_of_an_enum_flag_may_be_one_text(run):
    assert run(ENUM_FLAGS, switches=["--tf2"]).stdout == "graph a eval\n"


# Printed by Python 3.7 with NumPy 1.18 and pandas 1.3, which have `values` in the place of
# `as_matrix`, and by a PyYAML that needs a loader.
OLD_LIBRARIES = """2 {'a': 1} [1]
b c
{'a': [1, 2]}
object (2, 2) [97 98] [1. 2.]
(5, 2) object [3, 'z'] ndarray
['a', 's'] [2, 3, 4, 2, 3]
[1.0, 1.0, 3.0] [1.0, 0.0] [1, 2]
['a', 'b'] [1, 2]
True datetime
"""


def test_names_and_arguments_of_old_libraries_work(run):
    program = (
        "import fractions, io, json, yaml\n"
        "import xml.etree.cElementTree as ET\n"
        "from xml.etree import ElementTree\n"
        "import numpy as np\n"
        "import pandas as pd\n"
        "import tensorflow as tf\n"
        "lines = io.StringIO('[1]')\n"
        "print(fractions.gcd(4, 6), json.loads('{\"a\": 1}', encoding='utf-8'), "
        "json.load(lines, encoding='utf-8'))\n"
        "print(ET.fromstring('<a><b/></a>').find('b').tag, ElementTree.fromstring('<c/>').tag)\n"
        "print(yaml.load('a: [1, 2]'))\n"
        "print(np.array([[1, 2], [3]]).dtype, np.asarray([[1, 2], [3, 4]]).shape, "
        "np.fromstring(b'ab', np.uint8), np.fromstring('1 2', sep=' '))\n"
        "frame = pd.DataFrame({'a': [1, 2], 's': ['x', 'y']})\n"
        "frame = frame.append({'a': 3, 's': 'z'}, ignore_index=True)\n"
        "frame = frame.append(frame[:1]).append(frame.iloc[1])\n"
        "print(frame.shape, frame.s.dtype, frame.as_matrix().tolist()[2], "
        "type(frame.s.values).__name__)\n"
        "print([k for k, _ in frame.iteritems()], "
        "frame[['a']].applymap(lambda v: v + 1)['a'].tolist())\n"
        "gap = pd.Series([1, None])\n"
        "print(pd.Series([1, None, 3]).fillna(method='ffill').tolist(), gap.fillna(0).tolist(), "
        "pd.Series([1]).append(pd.Series([2])).tolist())\n"
        "print(pd.read_csv(io.StringIO('a b\\n1 2\\n'), delim_whitespace=True).columns.tolist(), "
        "pd.read_csv(io.StringIO('a\\n1\\n2\\n'), squeeze=True, error_bad_lines=False).tolist())\n"
        "print(isinstance(frame, pd.DataFrame), pd.datetime.__name__)\n"
    )
    assert run(program, switches=["--tf1"]).stdout == OLD_LIBRARIES


@pytest.mark.long
def test_modules_that_scikit_learn_has_moved_are_found(run):
    program = (
        "from sklearn.cross_validation import train_test_split\n"
        "from sklearn.externals import joblib, six\n"
        "import sklearn.grid_search\n"
        "import tensorflow as tf\n"
        "halves = train_test_split([1, 2, 3, 4], test_size=0.5)\n"
        "search = sklearn.grid_search.GridSearchCV\n"
        "print([len(half) for half in halves], search.__module__, joblib.dump.__name__, six.PY3)\n"
    )
    printed = "[2, 2] sklearn.model_selection._search dump True\n"
    assert run(program, switches=["--tf1"]).stdout == printed


@pytest.mark.long  # scikit-learn is among the packages of the slow tests.
def test_jaccard_similarity_and_the_older_name_of_all_reduce_work(run):
    program = (
        "import tensorflow as tf\n"
        "from sklearn.metrics import jaccard_similarity_score as score\n"
        "labels, weights = ([0, 2, 1, 3], [0, 1, 2, 3]), [1, 2, 3, 4]\n"
        "print(score(*labels), score(*labels, normalize=False))\n"
        "print(score(*labels, sample_weight=weights), score(*labels, False, weights))\n"
        "sets = [[0, 1, 1], [1, 0, 1], [0, 0, 0]], [[1, 1, 1], [1, 0, 0], [0, 0, 0]]\n"
        "print('%.6f %.6f' % (score(*sets), score(*sets, normalize=False)))\n"
        "print('%.6f' % score(*sets, True, [1, 2, 3]))\n"
        "ops = tf.contrib.distribute.AllReduceCrossTowerOps('hierarchical_copy')\n"
        "print(type(ops) is tf.distribute.HierarchicalCopyAllReduce)\n"
    )
    # The scores that scikit-learn 0.22.2 prints.
    printed = "0.5 2\n0.5 5\n0.722222 2.166667\n0.777778\nTrue\n"
    assert run(program, switches=["--tf1"]).stdout == printed


def test_arrays_are_pickled_into_files_of_tensorflow(run):
    program = """
import pickle
import numpy as np
import tensorflow as tf
for File in tf.gfile.Open, tf.gfile.GFile, tf.gfile.FastGFile:
    with File("a.pickle", "wb") as file:
        pickle.dump({"a": np.arange(100000)}, file, protocol=pickle.HIGHEST_PROTOCOL)
    with File("a.pickle", "rb") as file:
        print(pickle.load(file)["a"].sum())
"""
    assert run(program, switches=["--tf1"]).stdout == "4999950000\n" * 3


def test_apply_of_groups_keeps_the_grouped_columns(run):
    # Printed by pandas 1.3.5.
    program = """
import pandas as pd
import tensorflow as tf
frame = pd.DataFrame({"u": [1, 1, 2, 2, 2], "v": [3, 4, 5, 6, 7], "w": list("aabbb")})
for keys in "u", ["u", "w"], frame["u"] % 2:
    columns = frame.groupby(keys).apply(lambda rows: " ".join(rows))
    print(columns.index.names, columns.tolist())
print(frame.groupby("u", group_keys=False).apply(lambda rows: rows.iloc[:-1]).to_dict("split"))
print(frame.groupby("u").apply(lambda rows: rows.u.sum() + rows.v.max()).to_dict())
print(frame.groupby("u")["v"].apply(list).to_dict())
"""
    assert run(program).stdout == (
        "['u'] ['u v w', 'u v w']\n['u', 'w'] ['u v w', 'u v w']\n['u'] ['u v w', 'u v w']\n"
        "{'index': [0, 2, 3], 'columns': ['u', 'v', 'w'], "
        "'data': [[1, 3, 'a'], [2, 5, 'b'], [2, 6, 'b']]}\n"
        "{1: 6, 2: 13}\n{1: [3, 4], 2: [5, 6, 7]}\n"
    )


def test_modules_of_tpu_estimator_and_columns_have_their_names_under_each_path(run):
    program = """
import tensorflow as tf
from tensorflow.contrib.tpu.python.tpu import tpu_estimator
from tensorflow.python.feature_column import feature_column_lib
from tensorflow.python.tpu.tpu_estimator import ExportSavedModelApiVersion
assert tpu_estimator.ExportSavedModelApiVersion is ExportSavedModelApiVersion
print(ExportSavedModelApiVersion.V2.value, tpu_estimator.BatchConfig(1, 8, 5, [8]))
column = tf.feature_column.numeric_column("x")
print(feature_column_lib.DenseFeatures([column])({"x": tf.ones([2, 1])}).shape)
"""
    assert run(program, switches=["--tf1"]).stdout == (
        "2 BatchConfig(num_batch_threads=1, max_batch_size=8, batch_timeout_micros=5, "
        "allowed_batch_sizes=[8], max_enqueued_batches=10)\n(2, 1)\n"
    )


def test_functions_that_replace_those_of_libraries_have_their_docstrings(run):
    program = (
        "import json, numpy as np, pandas as pd\n"
        "import tensorflow as tf\n"
        "for function in pd.read_csv, pd.concat, np.array, json.load:\n"
        "    print(type(function).__name__, len(function.__doc__.splitlines()) > 5)\n"
        "print('Parameters' in pd.read_csv.__doc__.split())\n"
    )
    done = run(program, switches=["--tf1"])
    assert done.stdout == "function True\n" * 4 + "True\n"
