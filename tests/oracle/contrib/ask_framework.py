"""Questions about tf.contrib.framework and tf.contrib.slim."""

import os
import tempfile

import numpy as np
import tensorflow as tf
from asking import main, numbers, question, signature

framework = tf.contrib.framework
slim = tf.contrib.slim


def made():
    """Variables of several scopes and collections."""
    with tf.variable_scope("a"):
        framework.model_variable("weights", [2], initializer=tf.ones_initializer())
        framework.variable("biases", [2], initializer=tf.zeros_initializer(), trainable=False)
    with tf.variable_scope("ab/c"):
        framework.model_variable("weights", [3], initializer=tf.ones_initializer())
    framework.local_variable(1.0, name="local")
    tf.Variable(2.0, name="weights")
    tf.Variable(3.0, name="a/my_weights")


def names(found):
    return " ".join(one.name for one in found)


def saved(**values):
    """Returns a checkpoint of variables by their names."""
    path = os.path.join(tempfile.mkdtemp(), "model.ckpt")
    with tf.Graph().as_default(), tf.Session() as session:
        for name, value in values.items():
            tf.Variable(value, name=name.replace("__", "/"))
        session.run(tf.global_variables_initializer())
        return tf.train.Saver().save(session, path, 7)


def values_after(function):
    """Returns the values of all variables after a function of a session has run."""
    if function is None:
        return {"nothing": "None"}
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        function(session)
        return {one.op.name: session.run(one) for one in tf.global_variables()}


@question
def signatures():
    asked = "add_arg_scope add_model_variable arg_scope arg_scoped_arguments assert_global_step "
    asked += "assign_from_checkpoint assign_from_checkpoint_fn assign_from_values "
    asked += "assign_from_values_fn create_global_step filter_variables get_global_step "
    asked += "get_local_variables get_model_variables get_or_create_global_step "
    asked += "get_trainable_variables get_unique_variable get_variable_full_name get_variables "
    asked += "get_variables_by_name get_variables_by_suffix get_variables_to_restore "
    asked += "has_arg_scope global_variable local_variable model_variable variable "
    asked += "is_tensor list_variables load_variable init_from_checkpoint sort argsort"
    found = {}
    for name in asked.split():
        one = getattr(framework, name)
        found[name] = signature(one) if name not in SELDOM else [str(callable(one))]
    return found


# Those of TensorFlow itself, whose arguments have other names today.
SELDOM = ["is_tensor", "list_variables", "load_variable", "init_from_checkpoint"]


@question
def variables():
    collections = [tf.GraphKeys.GLOBAL_VARIABLES, "mine"]
    one = framework.variable("one", [2, 3], initializer=tf.ones_initializer())
    two = framework.variable("two", [2], tf.int64, tf.zeros_initializer(), trainable=False)
    three = framework.variable(
        "three", [2], regularizer=slim.l2_regularizer(0.5), collections=["mine"]
    )
    four = framework.model_variable("four", [2], collections=collections, device="/cpu:0")
    five = framework.local_variable([1.0, 2.0], name="five")
    six = framework.global_variable(6, name="six")
    seven = framework.variable("seven", initializer=tf.constant([1.0, 2.0]))
    made = [one, two, three, four, five, six, seven]
    return {
        "kinds": [[v.op.name, v.dtype.base_dtype.name, v.op.device] for v in made],
        "losses": [tf.identity(one) for one in tf.losses.get_regularization_losses()],
    }


@question
def variables_of_a_getter():
    """A custom getter of a variable is called instead of `tf.get_variable`."""
    seen = []

    def as_model_variable(getter, name, shape=None, initializer=None, **_):
        return framework.model_variable(name, shape, initializer=initializer, custom_getter=getter)

    def getter(name, **named):
        seen.append([name, *sorted(named)])
        return tf.get_variable(name + "_got", named["shape"])

    with tf.variable_scope("s", custom_getter=as_model_variable):
        tf.layers.dense(tf.zeros([2, 3]), 4)
    with tf.variable_scope("t"):
        framework.variable("v", [2], tf.float32, custom_getter=getter)
    return {"model": names(tf.model_variables()), "seen": seen[0]}


@question
def variables_in_scopes():
    """Returns an arg_scope can set the device, and a scope reuses."""
    with framework.arg_scope([framework.variable], device="/cpu:0"):
        with tf.variable_scope("s"):
            one = framework.variable("v", [2])
        with tf.variable_scope("s", reuse=True):
            again = framework.model_variable("v", [2])
    return {"same": one is again, "device": one.device, "model": names(slim.get_model_variables())}


@question
def found():
    made()
    scope = tf.variable_scope("a")
    with scope as entered:
        pass
    return {
        "all": names(framework.get_variables()),
        "scope": names(framework.get_variables("a")),
        "entered": names(framework.get_variables(entered)),
        "suffix": names(framework.get_variables(suffix="weights")),
        "suffix with a colon": names(framework.get_variables(suffix="weights:0")),
        "model": names(framework.get_model_variables()),
        "model of a scope": names(framework.get_model_variables("ab", "weights")),
        "trainable": names(framework.get_trainable_variables()),
        "local": names(framework.get_local_variables()),
        "by name": names(framework.get_variables_by_name("weights")),
        "by name and scope": names(framework.get_variables_by_name("weights", "a")),
        "by suffix": names(framework.get_variables_by_suffix("ights")),
        "by suffix and scope": names(framework.get_variables_by_suffix("weights", "ab")),
        "unique": framework.get_unique_variable("a/weights").name,
        "full": framework.get_variable_full_name(framework.get_variables("ab")[0]),
    }


@question
def no_unique_variable():
    made()
    return {"found": framework.get_unique_variable("a/wei").name}


@question
def none_of_a_name():
    made()
    return {"found": framework.get_unique_variable("b").name}


@question
def to_restore():
    made()
    return {
        "all": names(framework.get_variables_to_restore()),
        "some": names(framework.get_variables_to_restore(include=["a/weights", "ab"])),
        "others": names(framework.get_variables_to_restore(exclude=["a"])),
        "both": names(framework.get_variables_to_restore(["a", "ab"], ["ab"])),
        "none": names(framework.get_variables_to_restore(include=[])),
    }


@question
def to_restore_of_a_word():
    made()
    return {"found": names(framework.get_variables_to_restore(include="a"))}


@question
def filtered():
    made()
    every = tf.global_variables()
    return {
        "in": names(framework.filter_variables(every, ["weights"])),
        "out": names(framework.filter_variables(every, exclude_patterns=["^a/"])),
        "both": names(framework.filter_variables(every, ["a", "c/"], ["weights$"])),
        "matched": names(framework.filter_variables(every, ["weights"], reg_search=False)),
        "none in": names(framework.filter_variables(every, [])),
    }


@question
def model_variables_that_are_added():
    v = tf.Variable(1.0, name="v")
    framework.add_model_variable(v)
    framework.add_model_variable(v)
    return {"model": names(framework.get_model_variables())}


@question
def from_a_checkpoint():
    path = saved(v=[1.0, 2.0], w=[3.0])
    v = tf.get_variable("v", [2], initializer=tf.zeros_initializer())
    w = tf.get_variable("other", [1], initializer=tf.zeros_initializer())
    listed = framework.assign_from_checkpoint_fn(path, [v])
    mapped = framework.assign_from_checkpoint_fn(path, {"w": w})
    return [values_after(listed), values_after(mapped)]


@question
def from_a_checkpoint_with_missing_variables():
    path = saved(v=[1.0, 2.0])
    v = tf.get_variable("v", [2], initializer=tf.zeros_initializer())
    w = tf.get_variable("w", [1], initializer=tf.zeros_initializer())
    some = framework.assign_from_checkpoint_fn(path, [v, w], ignore_missing_vars=True)
    none = framework.assign_from_checkpoint_fn(path, [w], ignore_missing_vars=True)
    return [values_after(some), values_after(none)]


@question
def from_a_checkpoint_that_lacks_a_variable():
    w = tf.get_variable("w", [1], initializer=tf.zeros_initializer())
    return values_after(framework.assign_from_checkpoint_fn(saved(v=[1.0]), [w]))


@question
def from_a_checkpoint_of_another_shape():
    v = tf.get_variable("v", [3], initializer=tf.zeros_initializer())
    return values_after(framework.assign_from_checkpoint_fn(saved(v=[1.0]), [v]))


@question
def from_a_checkpoint_reshaped():
    v = tf.get_variable("v", [2, 1], initializer=tf.zeros_initializer())
    path = saved(v=[1.0, 2.0])
    return values_after(framework.assign_from_checkpoint_fn(path, [v], reshape_variables=True))


@question
def from_no_variables():
    return values_after(framework.assign_from_checkpoint_fn(saved(v=[1.0]), []))


@question
def assigned_from_a_checkpoint():
    path = saved(v=[1.0, 2.0], w=[[3.0]])
    v = tf.get_variable("v", [2], initializer=tf.zeros_initializer())
    x = tf.get_variable("x", [1, 1], initializer=tf.zeros_initializer())
    first = framework.assign_from_checkpoint(path, [v])
    second = framework.assign_from_checkpoint(path, {"v": v, "w": x}, True)
    third = framework.assign_from_checkpoint(path, [v, x], ignore_missing_vars=True)
    pairs = [first, second, third]
    sizes = [len(feeds) for _, feeds in pairs]
    return [{"sizes": sizes}] + [
        values_after(lambda session, pair=pair: session.run(*pair)) for pair in pairs
    ]


@question
def assigned_from_a_checkpoint_that_lacks_a_variable():
    w = tf.get_variable("w", [1], initializer=tf.zeros_initializer())
    return {"sizes": len(framework.assign_from_checkpoint(saved(v=[1.0]), [w])[1])}


@question
def assigned_from_a_checkpoint_of_another_shape():
    v = tf.get_variable("v", [3], initializer=tf.zeros_initializer())
    return {"sizes": len(framework.assign_from_checkpoint(saved(v=[1.0]), [v])[1])}


@question
def assigned_from_values():
    made()
    given = {"a/weights": numbers(2), "weights": np.float32(0.5)}
    return values_after(framework.assign_from_values_fn(given))


@question
def assigned_from_a_value_of_another_shape():
    made()
    return values_after(framework.assign_from_values_fn({"a/weights": numbers(3)}))


@question
def assigned_to_a_variable_that_is_not_there():
    made()
    return values_after(framework.assign_from_values_fn({"b/weights": numbers(3)}))


if __name__ == "__main__":
    main()
