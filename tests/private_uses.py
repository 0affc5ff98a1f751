"""Uses of private TensorFlow, tf_keras and private attributes outside of `engine/tf_internals`.

`test_private_uses.py` compares these tables with the code. Keys are files below the root of the
repository; names are separated by spaces.
"""

# Attributes, modules and strings of TensorFlow and tf_keras, each with the reason.
OF_LIBRARIES = {
    "estimator_train/canned/column_kinds.py": {
        "_parse_example_spec": "columns of TensorFlow 1 have no public form of it",
    },
    "estimator_train/canned/arguments.py": {
        "_current_learning_rate": "the variable of a scheduled rate has no public name",
    },
    "estimator_train/cluster/launched.py": {
        "tensorflow.python.distribute.": "frames of errors that strategies raise; never imported",
    },
    "estimator_train/bootstrap/import_hook.py": {
        "tensorflow.python.estimator": "tools import modules that TensorFlow had there until 2.15",
        "tensorflow.python.distribute.estimator_training": "EasyRec and HybridBackend import it",
    },
    "estimator_train/bootstrap/start_up.py": {
        "tf_keras.src.utils.tf_utils": "the module whose draws of seeds it repairs",
    },
    "estimator_train/engine/graph/mixed_precision.py": {
        "_create_slots": "only this creates the slots of a v1 optimizer before `tf.cond` uses them",
    },
    "estimator_train/remote/kinds.py": {
        "_call_s3": "s3fs has no public read that names the object's version by its ETag",
        "_cat_file _cp_file _rm_file": "fsspec's docs name these asyncio methods",
    },
    "estimator_train/remote/uploads.py": {
        "_call_s3": "the asyncio form of s3fs's `call_s3`, for several parts at a time",
    },
    "estimator_train/remote/store.py": {
        "_get_kwargs_from_urls _strip_protocol": "fsspec's public function creates a new client",
    },
    "estimator_train/engine/sessions/restore.py": {
        "_save_slice_info": "only this attribute marks a part of a partitioned variable",
    },
    "estimator_train/export/boosted_trees.py": {
        "tensorflow.core.framework": "the message of a variable has no public name",
        "tensorflow.core.protobuf": "the message of a SavedModel has no public name",
    },
    "estimator_train/engine/portability.py": {
        "tf_keras.src": "layers call `backend.rnn` there, which no public setting replaces",
    },
    "estimator_train/legacy/private/registries.py": {
        "tensorflow.core.framework.op_def_pb2": "the message has no public name",
    },
    "estimator_train/keras/callback_runner.py": {
        "_implements_train_batch_hooks": "TensorBoard and ModelCheckpoint answer by arguments",
    },
    "estimator_train/keras/tf_keras/checkpoints.py": {
        "_current_learning_rate": "the variable of a scheduled rate has no public name",
        "tensorflow.core.protobuf.trackable_object_graph_pb2": "the message has no public name",
    },
    "estimator_train/keras/matching.py": {
        "tensorflow.core.protobuf.trackable_object_graph_pb2": "the message has no public name",
    },
    "estimator_train/keras/tf_keras/losses_and_metrics.py": {
        "_compile_config": "the public get_compile_config() loses functions and objects",
        "_compile_metrics": "models of TensorFlow 1 behaviour have no other attribute",
        "_compile_weighted_metrics": "models of TensorFlow 1 behaviour have no other attribute",
        "tf_keras.__internal__": "a function becomes a Loss object only by this wrapper",
        "_allow_sum_over_batch_size": "without it a Loss object raises under a strategy",
        "_keras_mask": "the mask of an output has no public name",
    },
    "estimator_train/keras/tf_keras/graph_builder.py": {
        "_variable": "the variable inside of a wrapper for mixed precision has no public name",
    },
    "estimator_train/keras/copied_layers.py": {
        "_frozen_vocab_size": "a layer in a graph cannot read its size from its table",
        "_lookup_layer": "TextVectorization has no other way to its table",
    },
    "estimator_train/keras/tf_keras/graph_calls.py": {
        "_keras_history": "only this attribute marks the tensors of a functional model",
        "_set_connectivity_metadata": "a copied layer must connect its outputs as Keras does",
    },
    "estimator_train/keras/tf_keras/blueprint.py": {
        "_updates": "the updates of a metric that an unused call made cannot be removed otherwise",
        "_auto_get_config": "only this attribute marks a get_config that Keras generated",
    },
    "estimator_train/keras/keras3/keras_internals.py": {
        "keras.src.backend.common keras.src.backend.common.name_scope": "state of Keras's names",
        "keras.src.saving.serialization_lib": "the public switch of safe mode has no way back",
        "_user_metrics _user_weighted_metrics": "metrics before their first call are not public",
        "_compile_config": "the public get_compile_config() loses functions and objects",
        "_flatten_layers": "the public `layers` has no layers inside of layers",
        "_learning_rate": "the public attribute returns the value of a schedule, not the schedule",
        "_symbolic_build": "`fit` makes variables by it under a strategy",
        "_value": "only this attribute says that a variable is not created yet",
    },
    "estimator_train/optimizers/base.py": {
        "_learning_rate": "the public attribute returns the value of a schedule, not the schedule",
        "_create_all_weights": "tf_keras calls it before it loads a legacy optimizer's weights",
        "_current_learning_rate": "the variable of a scheduled rate has no public name",
    },
    "estimator_train/optimizers/graph_optimizers.py": {
        "tf_keras.__internal__": "tf_keras has no other conversion to legacy optimizers",
        "_exclude_from_weight_decay": "the variables without decay have no public name",
        "_exclude_from_weight_decay_names": "the variables without decay have no public name",
    },
    # tf.contrib: programs subclass classes of TensorFlow 1 that have only these attributes.
    "estimator_train/legacy/runner.py": {
        "_path": "Python's path of a namespace package, read without importing its parent",
    },
    "tf_contrib/opt/elastic_average.py": {
        "_learning_rate": "optimizers of TensorFlow 1 have no public name for it",
    },
    "tf_contrib/opt/adam_lars_averages.py": {
        "_beta1_t _beta2_t _epsilon_t _get_beta_accumulators _lr_t": "Adam keeps its state in them",
    },
    "tf_contrib/opt/signs.py": {
        "_beta1 _beta1_t _beta2_t _epsilon_t _lr_t": "Adam keeps its settings in them",
        "_create_non_slot_variable _get_non_slot_variable _zeros_slot": (
            "optimizers of TensorFlow 1 make their variables with them"
        ),
    },
    "estimator_train/legacy/removed/frames/methods.py": {
        "_selection": "the columns that are chosen from groups of pandas",
    },
    "estimator_train/legacy/removed/frames/columns.py": {
        "_get_item": "the column of a frame of pandas, without a copy",
        "_values": "where the values of a series are, to see whether two series share them",
        "_ndarray": "the same, of the arrays of pandas",
    },
    "tf_contrib/estimator/saved_model_graphs.py": {
        "tensorflow.core.framework": "the message has no public name",
        "tensorflow.core.protobuf": "the message has no public name",
    },
    "tf_contrib/eager.py": {
        "_id": "the identity of a tensor of TensorFlow 1",
    },
}

# Modules that name private modules only to stand in for them, or to find them in old programs.
STAND_INS = (
    "estimator_train/legacy/generation.py",
    "estimator_train/legacy/imports.py",
    "estimator_train/legacy/libraries.py",
    "estimator_train/legacy/reading/symbols.py",
    "estimator_train/legacy/rewriting/locations.py",
    "estimator_train/legacy/old_names/",
)

# Private attributes of this package that another file uses, each with the reason.
OF_THIS_PACKAGE = {
    "estimator_train/canned/boosted_trees/model.py": {
        "_inverse_link_fn": "explanations exist only for heads without this function",
    },
    "estimator_train/estimator/dry_run.py": {
        "_copy_for _make_job": "users may subclass Estimator: its public names are fixed",
    },
    "estimator_train/training/extenders.py": {
        "_warm_start_settings": "users may subclass Estimator: its public names are fixed",
    },
    "estimator_train/training/evaluations.py": {
        "_make_job": "users may subclass Estimator: its public names are fixed",
    },
    "tf_contrib/framework/arg_scope.py": {
        "_takes_arg_scope": "marks functions of users, which have no other place for it",
    },
    "estimator_train/legacy/report.py": {
        "_backing": "a stand-in module has the public names of its module only",
    },
}
