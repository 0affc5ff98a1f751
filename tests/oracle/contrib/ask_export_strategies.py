"""Questions about the export strategies of tf.contrib.learn."""

import os
import tempfile

import tensorflow as tf
from asking import main, question, signature
from tensorflow.contrib.learn.python.learn.utils import saved_model_export_utils as utils
from trying import tried

learn = tf.contrib.learn
v1 = tf.compat.v1
COLUMNS = [tf.feature_column.numeric_column("x", shape=(2,))]
OLD_COLUMNS = [tf.contrib.layers.real_valued_column("x", dimension=2)]


def input_fn():
    data = {"x": [[1.0, 2.0], [3.0, 4.0]]}, [[1.0], [0.0]]
    return tf.data.Dataset.from_tensor_slices(data).repeat(4).batch(2)


def serving():
    x = v1.placeholder(tf.float32, [None, 2], "x")
    return tf.estimator.export.ServingInputReceiver({"x": x}, {"x": x})


def trained():
    estimator = tf.estimator.LinearRegressor(COLUMNS, tempfile.mkdtemp())
    return estimator.train(input_fn, steps=2)


def given(*names):
    """Returns an export_fn with the given arguments, which returns them."""
    values = ", ".join(name.partition("=")[0] for name in names)
    return eval(f"lambda {', '.join(names)}: [{values}]")


@question
def arguments():
    found = {}
    names = ["estimator", "export_path"]
    for more in ([], ["checkpoint_path"], ["eval_result"], ["checkpoint_path", "eval_result"],
                 ["strip_default_attrs=7"], ["checkpoint_path=1", "eval_result=2"]):  # fmt: skip
        for strip in (None, True):
            strategy = learn.ExportStrategy("name", given(*names, *more), strip)
            for values in (
                ("e", "p"),
                ("e", "p", "c"),
                ("e", "p", "c", "r"),
                ("e", "p", None, "r"),
            ):
                key = f"{more} {strip} {values}"
                found[key] = tried(strategy.export, *values)
    return found


@question
def fields():
    strategy = learn.ExportStrategy("name", len)
    return {
        "fields": list(strategy._fields),
        "values": repr([strategy.name, strategy.export_fn is len, strategy.strip_default_attrs]),
        "same": strategy == learn.ExportStrategy("name", len),
        "signature": signature(learn.ExportStrategy),
        "export": signature(learn.ExportStrategy.export),
        "module": utils.export_strategy.ExportStrategy is learn.ExportStrategy,
    }


@question
def signatures():
    names = ["make_export_strategy", "make_parsing_export_strategy",
             "make_best_model_export_strategy",
             "garbage_collect_exports", "get_timestamped_export_dir", "get_temp_export_dir",
             "get_most_recent_export"]  # fmt: skip
    return {name: signature(getattr(utils, name)) for name in names}


@question
def export():
    estimator = trained()
    base = tempfile.mkdtemp()
    strategy = utils.make_export_strategy(serving, exports_to_keep=2, assets_extra=None)
    paths = [strategy.export(estimator, base) for _ in range(3)]
    return {
        "type": [type(path).__name__ for path in paths],
        "inside": [os.path.dirname(os.fsdecode(path)) == base for path in paths],
        "kept": [os.path.exists(path) for path in paths],
        # Of the two, only estimator_train writes a fingerprint (see file_lists.py).
        "files": sorted({*os.listdir(os.fsdecode(paths[-1]))} - {"fingerprint.pb"}),
        "repr": repr([strategy.name, strategy.strip_default_attrs]),
    }


@question
def export_all():
    estimator = trained()
    base = tempfile.mkdtemp()
    strategy = utils.make_export_strategy(serving, exports_to_keep=None)
    paths = [strategy.export(estimator, base) for _ in range(3)]
    return {"kept": [os.path.exists(path) for path in paths]}


@question
def alternative_of_another_estimator():
    strategy = utils.make_export_strategy(serving, default_output_alternative_key="a")
    return tried(strategy.export, trained(), tempfile.mkdtemp())


@question
def parsing():
    estimator = trained()
    strategy = utils.make_parsing_export_strategy(OLD_COLUMNS, target_core=True)
    path = strategy.export(estimator, tempfile.mkdtemp())
    with v1.Session(graph=tf.Graph()) as session:
        meta = v1.saved_model.load(session, ["serve"], path)
    signatures = {
        key: [sorted(one.inputs), sorted(one.outputs), one.method_name]
        for key, one in meta.signature_def.items()
    }
    return {"name": strategy.name, "signatures": repr(sorted(signatures.items()))}


@question
def best():
    estimator = trained()
    base = tempfile.mkdtemp()
    strategy = utils.make_best_model_export_strategy(serving)
    found = []
    for loss in (3.0, 2.0, 5.0, 1.0):
        checkpoint = estimator.latest_checkpoint()
        path = strategy.export(estimator, base, checkpoint, {"loss": loss})
        found.append([bool(path), os.listdir(base) == [os.path.basename(os.fsdecode(path))]])
    return {"name": strategy.name, "found": repr(found)}


@question
def best_by_another_metric():
    strategy = utils.make_best_model_export_strategy(
        serving, exports_to_keep=5, compare_fn=lambda best, new: new["auc"] > best["auc"]
    )
    estimator, base = trained(), tempfile.mkdtemp()
    checkpoint = estimator.latest_checkpoint()
    found = []
    for auc in (0.5, 0.4, 0.7):
        strategy.export(estimator, base, checkpoint, {"auc": auc})
        found.append(len(os.listdir(base)))
    return {"found": found}


@question
def best_without_loss():
    estimator = trained()

    def tell(result):
        strategy = utils.make_best_model_export_strategy(serving)
        base = tempfile.mkdtemp()
        strategy.export(estimator, base, estimator.latest_checkpoint(), {"loss": 1.0})
        return bool(strategy.export(estimator, base, estimator.latest_checkpoint(), result))

    return {str(result): tried(tell, result) for result in ({}, {"auc": 1.0}, None)}


@question
def directories():
    base = tempfile.mkdtemp()
    for name in ("1000000001", "1000000030", "999999999", "temp-2000000000", "x"):
        os.mkdir(os.path.join(base, name))
    recent = utils.get_most_recent_export(base)
    utils.garbage_collect_exports(base, 1)
    left = sorted(os.listdir(base))
    utils.garbage_collect_exports(base, None)
    stamped = utils.get_timestamped_export_dir(base)
    temporary = utils.get_temp_export_dir(b"/a/12")
    return {
        "recent": repr([os.path.basename(recent.path), recent.export_version]),
        "none": repr(utils.get_most_recent_export(tempfile.mkdtemp())),
        "left": left,
        "stamped": repr([type(stamped).__name__, os.path.exists(stamped)]),
        "temporary": repr(temporary),
    }


@question
def in_an_experiment():
    seen = []

    def export(estimator, export_path, checkpoint_path=None, eval_result=None):
        checkpoint = os.path.basename(checkpoint_path or "")
        seen.append([os.path.basename(export_path), checkpoint, sorted(eval_result or {})])
        return "exported"

    def run(**arguments):
        seen.clear()
        estimator = tf.estimator.LinearRegressor(COLUMNS, tempfile.mkdtemp())
        experiment = learn.Experiment(
            estimator, input_fn, input_fn, train_steps=3, eval_steps=1, eval_delay_secs=0,
            export_strategies=learn.ExportStrategy("mine", export), **arguments
        )  # fmt: skip
        _, exported = experiment.train_and_evaluate()
        old = experiment.reset_export_strategies([learn.ExportStrategy("other", export)])
        names = [
            [one.name for one in found] for found in (old, experiment.reset_export_strategies())
        ]
        return repr([seen[-1:], exported, names])

    arguments = ({}, {"checkpoint_and_export": True}, {"min_eval_frequency": 1})
    return {str(one): run(**one) for one in arguments}


if __name__ == "__main__":
    main()
