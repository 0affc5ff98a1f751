"""Odd values for exports: receivers, arguments, raw and parsed inputs."""

from __future__ import annotations

import collections
import functools
import os
import pathlib
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf
from breadth.forms import Delegate, Path, _subclass_of
from breadth.odd import Names, odd
from file_lists import list_files
from jobs import Api, tiny_receiver, trained

tf1 = tf.compat.v1


def _x() -> Any:
    return tf1.placeholder(tf.float32, [None, 2], name="x")


def signatures(path: Any) -> Any:
    """Returns the graphs of an export: tags, signatures, with what each takes and gives."""
    from tensorflow.core.protobuf import saved_model_pb2

    found = saved_model_pb2.SavedModel()
    found.ParseFromString((pathlib.Path(os.fsdecode(path)) / "saved_model.pb").read_bytes())
    return [
        [
            sorted(graph.meta_info_def.tags),
            {
                name: [one.method_name, sorted(one.inputs), sorted(one.outputs)]
                for name, one in sorted(graph.signature_def.items())
            },
        ]
        for graph in found.meta_graphs
    ]


def _exported(receiver: Callable[[Api], Any], **arguments: Any) -> Any:
    def ask(api: Api, directory: str) -> Any:
        estimator = trained(api, f"{directory}/model")
        values = {name: make(directory) for name, make in arguments.items()}
        path = estimator.export_saved_model(f"{directory}/export", receiver(api), **values)
        return (
            [list_files(path), signatures(path)] if not values.get("as_text") else list_files(path)
        )

    return ask


def _received(make: Callable[[Api], Any]) -> Callable[[Api], Any]:
    return lambda api: lambda: make(api)


def _receiver(*args: Any, **kwargs: Any) -> Callable[[Api], Any]:
    """Returns a receiver of functions, which create tensors in the graph."""

    def of(api: Api) -> Any:
        x = _x()
        values = [make(x) for make in args]
        more = {name: make(x) for name, make in kwargs.items()}
        return api.estimator.export.ServingInputReceiver(*values, **more)

    return _received(of)


_Own = collections.namedtuple("_Own", "features receiver_tensors")
_Three = collections.namedtuple("_Three", "features receiver_tensors receiver_tensors_alternatives")


def _usual(api: Api) -> Any:
    return tiny_receiver(api)()


class Falsy:
    """A function that is false."""

    def __init__(self, target: Any) -> None:
        self._target = target

    def __call__(self) -> Any:
        return self._target()

    def __bool__(self) -> bool:
        return False


def _namespace(x: Any) -> Any:
    return types.SimpleNamespace(features={"x": x}, receiver_tensors={"x": x})


RECEIVERS: dict[str, Callable[[Api], Any]] = {
    "partial": lambda api: functools.partial(_usual, api),
    "false": lambda api: Falsy(tiny_receiver(api)),
    "None": lambda api: None,
    "no function": lambda api: 3,
    "of a tuple": _received(lambda api: tuple(_usual(api))),
    "of an own tuple of two": _received(lambda api: (lambda x: _Own({"x": x}, {"x": x}))(_x())),
    "of an own tuple of three": _received(
        lambda api: (lambda x: _Three({"x": x}, {"x": x}, None))(_x())
    ),
    "of a namespace": _received(lambda api: _namespace(_x())),
    "that delegates": _received(lambda api: Delegate(_usual(api))),
    "subclass": _received(lambda api: _subclass_of(_usual(api))),
    "UserDict": _receiver(lambda x: collections.UserDict(x=x), lambda x: {"x": x}),
    "own mapping": _receiver(lambda x: Names({"x": x}), lambda x: Names({"x": x})),
    "of a tensor alone": _receiver(lambda x: {"x": x}, lambda x: x),
    "of a list": _receiver(lambda x: {"x": x}, lambda x: [x]),
    "by a number": _receiver(lambda x: {"x": x, 3: x}, lambda x: {"x": x}),
    "by a tuple": _receiver(lambda x: {"x": x, ("a", "b"): x}, lambda x: {"x": x}),
    "by bytes": _receiver(lambda x: {"x": x, b"a": x}, lambda x: {"x": x}),
    "fed by a number": _receiver(lambda x: {"x": x}, lambda x: {3: x}),
    "fed by bytes": _receiver(lambda x: {"x": x}, lambda x: {b"x": x}),
    "with nothing to feed": _receiver(lambda x: {"x": tf.zeros([1, 2])}, lambda x: {}),
    "with a variable": _receiver(
        lambda x: {"x": x, "v": tf1.get_variable("v", initializer=1.0)}, lambda x: {"x": x}
    ),
    "with an array": _receiver(lambda x: {"x": x, "v": np.zeros(2)}, lambda x: {"x": x}),
    "with None": _receiver(lambda x: {"x": x, "v": None}, lambda x: {"x": x}),
    "with a list": _receiver(lambda x: {"x": x, "v": [x, x]}, lambda x: {"x": x}),
    "with sparse": _receiver(lambda x: {"x": x, "v": tf.sparse.from_dense(x)}, lambda x: {"x": x}),
    "with ragged": _receiver(
        lambda x: {"x": x, "v": tf.RaggedTensor.from_tensor(x)}, lambda x: {"x": x}
    ),
    "fed ragged": _receiver(
        lambda x: {"x": x}, lambda x: {"x": x, "v": tf1.ragged.placeholder(tf.int64, 1)}
    ),
    "fed sparse": _receiver(
        lambda x: {"x": x}, lambda x: {"x": x, "v": tf1.sparse_placeholder(tf.int64)}
    ),
    "fed what is no placeholder": _receiver(lambda x: {"x": x}, lambda x: {"x": x * 2}),
    "alternatives: none of them": _receiver(lambda x: {"x": x}, lambda x: {"x": x}, lambda x: {}),
    "alternatives: a tensor": _receiver(lambda x: {"x": x}, lambda x: {"x": x}, lambda x: {"a": x}),
    "alternatives: by a number": _receiver(
        lambda x: {"x": x}, lambda x: {"x": x}, lambda x: {3: {"x": x}}
    ),
    "alternatives: None": _receiver(lambda x: {"x": x}, lambda x: {"x": x}, lambda x: {"a": None}),
    "alternatives: a list": _receiver(lambda x: {"x": x}, lambda x: {"x": x}, lambda x: [x]),
    "alternatives: own mapping": _receiver(
        lambda x: {"x": x}, lambda x: {"x": x}, lambda x: Names({"a": {"x": x}})
    ),
    "alternatives: not enough": _receiver(
        lambda x: {"x": x}, lambda x: {"x": x}, lambda x: {"a": {"y": tf1.placeholder(tf.float32)}}
    ),
}
odd("export.receiver", {k: _exported(v) for k, v in RECEIVERS.items()}, ("v2",))


def _file(directory: str) -> str:
    path = pathlib.Path(directory) / "words.txt"
    path.parent.mkdir(exist_ok=True)
    path.write_text("a", encoding="utf-8")
    return str(path)


ARGUMENTS: dict[str, dict[str, Any]] = {
    "assets: pathlib": {"assets_extra": lambda d: {"w.txt": pathlib.Path(_file(d))}},
    "assets: path beside": {"assets_extra": lambda d: {pathlib.Path("w.txt"): _file(d)}},
    "assets: os.PathLike": {"assets_extra": lambda d: {"w.txt": Path(_file(d))}},
    "assets: bytes": {"assets_extra": lambda d: {"w.txt": _file(d).encode()}},
    "assets: UserDict": {"assets_extra": lambda d: collections.UserDict({"w.txt": _file(d)})},
    "assets: own mapping": {"assets_extra": lambda d: Names({"w.txt": _file(d)})},
    "assets: pairs": {"assets_extra": lambda d: [("w.txt", _file(d))]},
    "assets: missing": {"assets_extra": lambda d: {"w.txt": d + "/nothing"}},
    "assets: a directory": {"assets_extra": lambda d: {"w": os.path.dirname(_file(d))}},
    "assets: above": {"assets_extra": lambda d: {"../w.txt": _file(d)}},
    "assets: none of them": {"assets_extra": lambda d: {}},
    "checkpoint: missing": {"checkpoint_path": lambda d: d + "/model/model.ckpt-77"},
    "checkpoint: directory": {"checkpoint_path": lambda d: d + "/model"},
    "checkpoint: pathlib": {"checkpoint_path": lambda d: pathlib.Path(d) / "model/model.ckpt-2"},
    "checkpoint: bytes": {"checkpoint_path": lambda d: (d + "/model/model.ckpt-2").encode()},
    "checkpoint: empty": {"checkpoint_path": lambda d: ""},
    "mode: unknown": {"experimental_mode": lambda d: "nothing"},
    "mode: train without labels": {"experimental_mode": lambda d: "train"},
    "mode: eval without labels": {"experimental_mode": lambda d: "eval"},
    "mode: of NumPy": {"experimental_mode": lambda d: np.str_("infer")},
    "mode: None": {"experimental_mode": lambda d: None},
    "text: one": {"as_text": lambda d: 1},
    "text: of NumPy": {"as_text": lambda d: np.bool_(True)},
}
odd("export", {k: _exported(tiny_receiver, **v) for k, v in ARGUMENTS.items()}, ("v2",))


def _all(receivers: Callable[[Api], Any]) -> Any:
    def ask(api: Api, directory: str) -> Any:
        estimator = trained(api, f"{directory}/model")
        path = estimator.experimental_export_all_saved_models(f"{directory}/export", receivers(api))
        return [list_files(path), signatures(path)]

    return ask


def _supervised(api: Api) -> Any:
    build = api.estimator.experimental.build_raw_supervised_input_receiver_fn
    return build({"x": _x()}, tf1.placeholder(tf.float32, [None]))


odd(
    "export.all",
    {
        "none of them": _all(lambda api: {}),
        "None": _all(lambda api: None),
        "unknown": _all(lambda api: {"nothing": tiny_receiver(api)}),
        "unknown beside": _all(lambda api: {"nothing": 3, "infer": tiny_receiver(api)}),
        "UserDict": _all(lambda api: collections.UserDict(infer=tiny_receiver(api))),
        "own mapping": _all(lambda api: Names({"infer": tiny_receiver(api)})),
        "by NumPy": _all(lambda api: {np.str_("infer"): tiny_receiver(api)}),
        "defaultdict": _all(
            lambda api: collections.defaultdict(
                lambda: tiny_receiver(api), infer=tiny_receiver(api)
            )
        ),
        "three": _all(
            lambda api: {
                "train": _supervised(api),
                "eval": _supervised(api),
                "infer": tiny_receiver(api),
            }
        ),
        "None among them": _all(lambda api: {"infer": tiny_receiver(api), "eval": None}),
    },
    ("v2",),
)


def _raw(builder: str, *values: Callable[[], Any], **more: Any) -> Any:
    def ask(api: Api, directory: str) -> Any:
        with tf.Graph().as_default():
            build = getattr(api.estimator.export, builder, None)
            build = build or getattr(api.estimator.experimental, builder)
            found = build(*(make() for make in values), **more)()
            return [_shapes(found.features), _shapes(found.receiver_tensors)] + (
                [_shapes(found.labels)] if hasattr(found, "labels") else []
            )

    return ask


def _shapes(found: Any) -> Any:
    if hasattr(found, "keys"):
        return {str(key): _shapes(found[key]) for key in found}
    return [found.dtype.name, str(found.shape), found.op.type, found.name]


RAW: dict[str, Callable[[], Any]] = {
    "a tensor": lambda: tf.zeros([3, 2]),
    "an array": lambda: np.zeros([3, 2]),
    "a specification": lambda: tf.TensorSpec([3, 2], tf.float32),
    "a specification with a name": lambda: tf.TensorSpec([3, 2], tf.float32, "named"),
    "a scalar": lambda: tf.constant(1.0),
    "of unknown rank": lambda: tf1.placeholder(tf.float32),
    "a variable": lambda: tf1.get_variable("v", [3, 2]),
    "sparse": lambda: tf.sparse.from_dense(np.zeros([3, 2])),
    "ragged": lambda: tf.RaggedTensor.from_tensor(np.zeros([3, 2])),
    "a list": lambda: [1.0, 2.0],
    "None": lambda: None,
    "strings": lambda: tf.constant(["a"]),
    "an operation's name": lambda: tf.zeros([3, 2], name="scope/zeros"),
}
_SERVING, _SUPERVISED = (
    "build_raw_serving_input_receiver_fn",
    ("build_raw_supervised_input_receiver_fn"),
)
odd(
    "raw_serving",
    {
        **{k: _raw(_SERVING, lambda v=v: {"x": v()}) for k, v in RAW.items()},
        **{
            f"{k}, a size": _raw(_SERVING, lambda v=v: {"x": v()}, default_batch_size=5)
            for k, v in RAW.items()
        },
        "no dict: a tensor": _raw(_SERVING, lambda: tf.zeros([3])),
        "no dict: a list": _raw(_SERVING, lambda: [tf.zeros([3])]),
        "own mapping": _raw(_SERVING, lambda: Names({"x": tf.zeros([3])})),
        "UserDict": _raw(_SERVING, lambda: collections.UserDict(x=tf.zeros([3]))),
        "none of them": _raw(_SERVING, lambda: {}),
        "by a number": _raw(_SERVING, lambda: {3: tf.zeros([3])}),
    },
    ("v2",),
)
odd(
    "raw_supervised",
    {
        **{k: _raw(_SUPERVISED, v, lambda: tf.zeros([3])) for k, v in RAW.items()},
        **{f"{k} as label": _raw(_SUPERVISED, lambda: tf.zeros([3]), v) for k, v in RAW.items()},
        "same keys": _raw(_SUPERVISED, lambda: {"a": tf.zeros([3])}, lambda: {"a": tf.zeros([3])}),
        "own mapping": _raw(
            _SUPERVISED, lambda: Names({"x": tf.zeros([3])}), lambda: Names({"y": tf.zeros([3])})
        ),
        "none of them": _raw(_SUPERVISED, lambda: {}, lambda: {}),
        "named as the other": _raw(
            _SUPERVISED, lambda: {"label": tf.zeros([3])}, lambda: tf.zeros([3])
        ),
    },
    ("v2",),
)
_FIXED = tf.io.FixedLenFeature([2], tf.float32)
odd(
    "parsing_serving",
    {
        text: _raw("build_parsing_serving_input_receiver_fn", make, **more)
        for text, make, more in (
            ("OrderedDict", lambda: collections.OrderedDict(x=_FIXED), {}),
            ("own mapping", lambda: Names({"x": _FIXED}), {}),
            ("none of them", dict, {}),
            ("None", lambda: None, {}),
            ("size of NumPy", lambda: {"x": _FIXED}, {"default_batch_size": np.int64(3)}),
            ("size that is a float", lambda: {"x": _FIXED}, {"default_batch_size": 3.0}),
            ("size zero", lambda: {"x": _FIXED}, {"default_batch_size": 0}),
            (
                "ragged",
                lambda: {"x": tf.io.RaggedFeature(tf.float32)},
                {},
            ),
        )
    },
    ("v2",),
)
