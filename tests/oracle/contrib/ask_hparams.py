"""Questions about tf.contrib.training.HParams."""

import copy

import numpy as np
import tensorflow as tf
from asking import main, question
from trying import tried

training = tf.contrib.training


def hparams():
    return training.HParams(
        rate=0.1, layers=3, name="net", on=True, sizes=[64, 32], names=["a", "b"], flags=[True]
    )


def parsed(*texts):
    """Returns values after parsing each text, by the text."""

    def after(text):
        made = hparams()
        return made.parse(text) and sorted(made.values().items())

    return {str(index): tried(after, text) for index, text in enumerate(texts)}


@question
def parse_numbers():
    return parsed(
        "rate=0.5", "rate=1", "rate=1e-3", "rate=-2", "rate=x", "rate=", "layers=4", "layers=1.0",
        "layers=1e3", "layers=1.5", "layers=-2", "layers = 4", "layers=4, rate=0.2",
        "rate=0.2,layers=5,", ",rate=0.2", "rate=.5", "rate=nan", "", " ", "layers=0x10",
    )  # fmt: skip


@question
def parse_strings_and_booleans():
    return parsed(
        "name=other", "name=a b", "name=", "name=a=b", "name=[a]", "name=1", 'name="x"',
        "on=false", "on=False", "on=0", "on=1", "on=true", "on=TRUE", "on=2", "on=yes", "on=",
        "name=a-b/c.d:e", "name=(a)", "name=None", "rate=None", "on=fALSE",
    )  # fmt: skip


@question
def parse_lists():
    return parsed(
        "sizes=[1,2,3]", "sizes=[1]", "sizes=[]", "sizes=5", "sizes=[1, 2]", "sizes=[1.0,2]",
        "sizes=[1,x]", "sizes[0]=5", "sizes[1]=5,sizes[0]=7", "sizes[2]=5", "sizes[0]=1,rate=0.5",
        "names=[x,y]", "names=[x, y]", "names[0]=z", "flags=[true,false]", "flags=[1,0]",
        "sizes=[1,2],rate=0.5", "rate=[1,2]", "rate[0]=1", "sizes=[1,2", "sizes=1,2",
        "names=[a b]", "sizes[0]=1,sizes[0]=2", "sizes=[1],sizes=[2]", "names=['a','b']",
    )  # fmt: skip


@question
def parse_unknown_and_malformed():
    return parsed(
        "other=1", "rate", "=1", "rate=1,rate=2", "rate=0.1 layers=2", "rate==1", "1rate=2",
        "rate=0.1;layers=2", "rate.x=1", "Rate=1", "name=x,name=y", "rate=1,other=2",
    )  # fmt: skip


@question
def parse_values():
    types = {"a": int, "b": float, "c": str, "d": bool}
    made = {}
    for index, text in enumerate(
        [
            "a=1",
            "b=2",
            "c=x,d=true",
            "a=[1,2]",
            "a[1]=5",
            "a[0]=1,a[2]=3",
            "e=1",
            "a=x",
            "a=[1 2]",
            "a=[1,,2]",
            "c=[a  b,c]",
            "d=-1",
            "d=1.0",
            "d=2",
            "a[0]=1,a[0]=2",
            "a=[1],a[0]=2",
            "a[0]=2,a=[1]",
            "a=1,a[0]=2",
            "a[0]=[1]",
            "d=[2,true]",
            "c='a,b'",
            "c=",
            "a[x]=1",
            "a=1_0",
            "a= 1 ",
            "c= x y ",
            "c=[ ]",
            "a=1,,b=2",
            "c=x]",
            "c=x[1]",
            "e.f=1",
        ]  # fmt: skip
    ):
        made[str(index)] = tried(training.parse_values, text, types)
    made["ignoring"] = tried(training.parse_values, "e=1,a=2", types, ignore_unknown=True)
    return made


@question
def set_numbers():
    made = {}
    for index, (name, value) in enumerate(
        [("rate", 1), ("rate", "0.5"), ("rate", "x"), ("rate", True), ("rate", None),
         ("rate", [1.0]), ("rate", np.float32(0.5)), ("rate", np.int64(2)),
         ("layers", 2.0), ("layers", 2.5), ("layers", "2"), ("layers", True), ("layers", None),
         ("layers", np.int64(5)), ("layers", np.float32(5)), ("other", 1)]
    ):  # fmt: skip
        made[str(index)] = assigned(name, value)
    return made


@question
def set_others():
    made = {}
    for index, (name, value) in enumerate(
        [("name", 1), ("name", 1.5), ("name", None), ("name", True), ("name", "x"),
         ("name", b"x"), ("name", ["x"]), ("on", 1), ("on", 0), ("on", "true"), ("on", "x"),
         ("on", None), ("on", 2.0), ("on", np.bool_(False)),
         ("sizes", [1]), ("sizes", (1, 2)), ("sizes", 5), ("sizes", []), ("sizes", [1.0]),
         ("sizes", ["1"]), ("sizes", None), ("sizes", [None]), ("names", [1]),
         ("names", "ab"), ("flags", [0, 1])]
    ):  # fmt: skip
        made[str(index)] = assigned(name, value)
    return made


def assigned(name, value):
    made = hparams()
    return tried(lambda: [made.set_hparam(name, value), made.get(name), type(made.get(name))])


@question
def set_as_attributes():
    made = hparams()
    made.rate = "text"
    made.other = 5
    return {
        "rate": made.rate,
        "values": repr(sorted(made.values().items())),
        "other": made.other,
        "in": ["rate" in made, "other" in made],
        "parsed": tried(made.parse, "rate=0.5") and repr(made.rate),
    }


@question
def override():
    def over(values):
        made = hparams()
        same = made.override_from_dict(values) is made
        return same, sorted(made.values().items())

    given = [{"rate": 1, "name": "x"}, {"other": 1}, {"sizes": [1]}, {"rate": "x"}, {}]
    made = {str(index): tried(over, values) for index, values in enumerate(given)}
    made["json"] = tried(
        lambda: sorted(hparams().parse_json('{"rate": 2, "sizes": [1, 2]}').values().items())
    )
    made["unknown"] = tried(hparams().parse_json, '{"x": 2}')
    made["malformed"] = tried(hparams().parse_json, "x")
    return made


@question
def to_json():
    made = hparams()
    made.add_hparam("call", len)
    made.add_hparam("none", None)
    return {
        "plain": tried(hparams().to_json, sort_keys=True),
        "indented": tried(hparams().to_json, 2, sort_keys=True),
        "spaced": tried(hparams().to_json, separators=(",", ":"), sort_keys=True),
        "order": tried(hparams().to_json),
        "callable": tried(made.to_json, sort_keys=True),
        "none": tried(training.HParams(a=None).to_json),
    }


@question
def get():
    made = hparams()
    return {
        str(index): tried(made.get, *arguments)
        for index, arguments in enumerate(
            [("rate",), ("rate", 1.0), ("rate", 1), ("rate", "x"), ("other",), ("other", 5),
             ("sizes", [1]), ("sizes", 5), ("sizes", []), ("name", "x"), ("on", 1), ("layers", 1.0),
             ("rate", None), ("layers", True), ("sizes", [1.0]), ("rate", [0.1])]
        )
    }  # fmt: skip


@question
def add_and_remove():
    made = hparams()
    return {
        "taken": tried(made.add_hparam, "rate", 1),
        "method": tried(made.add_hparam, "parse", 1),
        "empty": tried(made.add_hparam, "x", []),
        "tuple": tried(made.add_hparam, "t", (1, 2)),
        "t": repr(made.t),
        "dict": tried(made.add_hparam, "d", {"a": 1}),
        "d": repr(made.d),
        "none": tried(made.add_hparam, "n", None),
        "set none": tried(made.set_hparam, "n", 5) + repr(made.get("n")),
        "parse none": tried(made.parse, "n=x"),
        "again": tried(made.add_hparam, "n", 5),
        "deleted": tried(made.del_hparam, "rate"),
        "rate": tried(lambda: made.rate),
        "not there": tried(made.del_hparam, "rate"),
        "in": ["rate" in made, "layers" in made],
        "set": tried(made.set_hparam, "rate", 1),
        "missing": tried(lambda: made.nothing),
        "set tuple": tried(made.set_hparam, "t", (3, 4)),
        "set list": tried(made.set_hparam, "t", [3, 4]),
        "parse list": tried(made.parse, "t=[5]"),
        "set dict": tried(made.set_hparam, "d", {"b": 2}),
        "text": str(made),
        "list for none": tried(made.set_hparam, "n", [5]),
        "from map": tried(made.set_from_map, {"layers": 5}) + repr(made.layers),
        "at once": tried(made.parse, "layers=7,zz=2") + repr(made.layers),
    }


@question
def forms():
    made = hparams()
    made.set_model_structure("structure")
    copied = copy.deepcopy(made)
    copied.rate = 5.0
    return {
        "repr": repr(made),
        "str": str(made),
        "values": repr(list(made.values().items())),
        "keys": sorted(made.values().keys()),
        "copied": [made.rate, copied.rate],
        "structure": made.get_model_structure(),
        "copied structure": repr(copied.get_model_structure()),
        "given": repr(training.HParams(None, "m", a=1).get_model_structure()),
        "equal": hparams().values() == hparams().values(),
        "numpy": repr(training.HParams(a=np.float32(0.5)).a),
        "subscript": tried(lambda: made["rate"]),
    }


class Nested(training.HParams):
    """Hyperparameters some of which a subclass takes away and adds again."""

    def replace(self, name, value):
        delattr(self, name)
        self._hparam_types.pop(name, None)
        self.add_hparam(name, value)

    def rename(self, old, new):
        kind = self._hparam_types.pop(old)
        setattr(self, new, self.__dict__.pop(old))
        self._hparam_types[new] = kind


@question
def attributes_and_types():
    made = hparams()
    types = [(name, kind.__name__, many) for name, (kind, many) in made._hparam_types.items()]
    nested = Nested(rate=0.1, layers=3, inner=training.HParams(size=4))
    nested.replace("rate", "fast")
    nested.rename("layers", "depth")
    nested.inner.size += 1
    nested.extra = 5
    removed = hparams()
    removed.del_hparam("rate")
    again = tried(removed.del_hparam, "rate")
    copied = copy.deepcopy(nested)
    copied.inner.size = 9
    return {
        "types": repr(sorted(types)),
        "attributes": repr(sorted(vars(made))),
        "nested": repr(sorted(nested.values())),
        "values": repr(
            (nested.rate, nested.depth, nested.inner.size, nested.extra, copied.inner.size)
        ),
        "has": [
            "layers" in nested,
            "depth" in nested,
            "extra" in nested,
            hasattr(nested, "layers"),
        ],
        "kind": type(copied).__name__,
        "parsed": tried(lambda: nested.parse("depth=7,rate=slow").values()["depth"]),
        "removed": repr(("rate" in removed, again, tried(lambda: removed.rate))),
        "missing": tried(lambda: made.nothing),
    }


if __name__ == "__main__":
    main()
