"""Names of the engine for packages that extend Estimators, such as `tf_contrib`.

    from estimator_train.extension import HookPhase, PhasedHook

They can change with any release. A name is loaded when it is first used, so that importing one
does not load the modules of the others.
"""

import pkgutil
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from estimator_train.canned.arguments import (
        V1Choice as V1Choice,
    )
    from estimator_train.canned.columns import (
        Batch as ColumnBatch,
    )
    from estimator_train.canned.kmeans_steps import (
        Clusters as KMeansClusters,
        CountLastRunHook as CountLastRunHook,
    )
    from estimator_train.canned.lookups import (
        Ids as ColumnIds,
    )
    from estimator_train.canned.models import (
        LinearModel as LinearModel,
    )
    from estimator_train.canned.rnn import (
        CLIP_NORM as RNN_CLIP_NORM,
        LEARNING_RATE as RNN_LEARNING_RATE,
        USE_DEFAULT as RNN_USE_DEFAULT,
    )
    from estimator_train.canned.sdca_steps import (
        Settings as SDCASettings,
        build_train_op as build_sdca_train_op,
    )
    from estimator_train.canned.specs import (
        dnn_logit_fn_builder as dnn_logit_fn_builder,
        linear_logit_fn_builder as linear_logit_fn_builder,
    )
    from estimator_train.engine.job import (
        list_argument_names as list_argument_names,
        warn_of_missing_params as warn_of_missing_params,
    )
    from estimator_train.engine.run.evaluate import (
        get_or_create_eval_step as get_or_create_eval_step,
    )
    from estimator_train.engine.tf_internals.graphs import (
        drop_control_inputs as drop_control_inputs,
        run_after as run_after,
        set_input as set_input,
    )
    from estimator_train.engine.tf_internals.saver_entries import (
        CheckpointEntry as CheckpointEntry,
    )
    from estimator_train.engine.types import (
        HookPhase as HookPhase,
        PhasedHook as PhasedHook,
    )
    from estimator_train.export.receivers import (
        SupervisedInputReceiver as SupervisedInputReceiver,
    )
    from estimator_train.export.saved_model import (
        choose_export_dir as choose_export_dir,
        get_temporary_dir as get_temporary_dir,
    )
    from estimator_train.heads.base import (
        Metrics as HeadMetrics,
    )
    from estimator_train.heads.keys import (
        MetricKeys as MetricKeys,
        PredictionKeys as PredictionKeys,
    )
    from estimator_train.heads.losses import (
        Batch as HeadBatch,
    )
    from estimator_train.heads.v1 import (
        V1Training as V1Training,
        V1WeightedHead as V1WeightedHead,
    )
    from estimator_train.lifecycle.preemption import (
        handle_preemption as handle_preemption,
    )
    from estimator_train.predictor.live import (
        make_output_getter as make_output_getter,
        open_estimator as open_estimator,
    )
    from estimator_train.predictor.saved_model import (
        get_signature as get_signature,
        open_saved_model as open_saved_model,
    )
    from estimator_train.training.eval_metrics import (
        read_eval_metrics as read_eval_metrics,
    )
    from estimator_train.training.exporters import (
        remove_old_exports as remove_old_exports,
    )
    from estimator_train.training.extenders import (
        clip_gradients_by_norm as clip_gradients_by_norm,
        forward_features as forward_features,
    )

# Maps each name to its place, as `pkgutil.resolve_name` wants it, and says what it is.
_NAMES = {
    "CheckpointEntry": (
        "estimator_train.engine.tf_internals.saver_entries:CheckpointEntry",
        "Entry of a Saver for a tensor with any name.",
    ),
    "ColumnBatch": (
        "estimator_train.canned.columns:Batch",
        "Features of a batch, transformed by feature columns.",
    ),
    "ColumnIds": (
        "estimator_train.canned.lookups:Ids",
        "Ids of a categorical column in a batch.",
    ),
    "CountLastRunHook": (
        "estimator_train.canned.kmeans_steps:CountLastRunHook",
        "Hook that counts the run in which the input ended as a step.",
    ),
    "HeadBatch": (
        "estimator_train.heads.losses:Batch",
        "Logits, labels and weights of a batch after all checks.",
    ),
    "HeadMetrics": (
        "estimator_train.heads.base:Metrics",
        "Type of the metrics of a head, by name.",
    ),
    "HookPhase": (
        "estimator_train.engine.types:HookPhase",
        "Position of a hook among the hooks of a session.",
    ),
    "KMeansClusters": (
        "estimator_train.canned.kmeans_steps:Clusters",
        "Centers of k-means in the default graph.",
    ),
    "LinearModel": (
        "estimator_train.canned.models:LinearModel",
        "Variables and inputs of a linear model, for SDCA.",
    ),
    "MetricKeys": (
        "estimator_train.heads.keys:MetricKeys",
        "Names of metrics in the results of evaluations.",
    ),
    "PhasedHook": (
        "estimator_train.engine.types:PhasedHook",
        "Base class of hooks that choose their position.",
    ),
    "PredictionKeys": (
        "estimator_train.heads.keys:PredictionKeys",
        "Names of the predictions of heads.",
    ),
    "RNN_CLIP_NORM": (
        "estimator_train.canned.rnn:CLIP_NORM",
        "Bound of the gradients' norm in canned recurrent networks.",
    ),
    "RNN_LEARNING_RATE": (
        "estimator_train.canned.rnn:LEARNING_RATE",
        "Default learning rate of canned recurrent networks.",
    ),
    "RNN_USE_DEFAULT": (
        "estimator_train.canned.rnn:USE_DEFAULT",
        "Default of an argument that has no default beside another one.",
    ),
    "SDCASettings": (
        "estimator_train.canned.sdca_steps:Settings",
        "Arguments of stochastic dual coordinate ascent.",
    ),
    "SupervisedInputReceiver": (
        "estimator_train.export.receivers:SupervisedInputReceiver",
        "Features, labels and request tensors of an exported training graph.",
    ),
    "V1Choice": (
        "estimator_train.canned.arguments:V1Choice",
        "Optimizer of tf.compat.v1.train by name, instance or function.",
    ),
    "V1Training": (
        "estimator_train.heads.v1:V1Training",
        "Base class of heads that train with tf.compat.v1.train.",
    ),
    "V1WeightedHead": (
        "estimator_train.heads.v1:V1WeightedHead",
        "Base class of heads of one task with losses of TensorFlow 1.",
    ),
    "build_sdca_train_op": (
        "estimator_train.canned.sdca_steps:build_train_op",
        "Returns the operation of a step of dual coordinate ascent.",
    ),
    "choose_export_dir": (
        "estimator_train.export.saved_model:choose_export_dir",
        "Returns a directory, named after the time, that no export uses.",
    ),
    "clip_gradients_by_norm": (
        "estimator_train.training.extenders:clip_gradients_by_norm",
        "Makes an optimizer that bounds the norm of gradients.",
    ),
    "dnn_logit_fn_builder": (
        "estimator_train.canned.specs:dnn_logit_fn_builder",
        "Returns the logit_fn of a deep network.",
    ),
    "drop_control_inputs": (
        "estimator_train.engine.tf_internals.graphs:drop_control_inputs",
        "Makes an operation no longer wait for others.",
    ),
    "forward_features": (
        "estimator_train.training.extenders:forward_features",
        "Makes an Estimator whose predictions contain features.",
    ),
    "get_or_create_eval_step": (
        "estimator_train.engine.run.evaluate:get_or_create_eval_step",
        "Returns the counter of evaluated batches.",
    ),
    "get_signature": (
        "estimator_train.predictor.saved_model:get_signature",
        "Returns a signature of a SavedModel.",
    ),
    "get_temporary_dir": (
        "estimator_train.export.saved_model:get_temporary_dir",
        "Returns the directory of an export that is being written.",
    ),
    "handle_preemption": (
        "estimator_train.lifecycle.preemption:handle_preemption",
        "Context in which a signal ends a job after a checkpoint.",
    ),
    "linear_logit_fn_builder": (
        "estimator_train.canned.specs:linear_logit_fn_builder",
        "Returns the logit_fn of a linear model.",
    ),
    "list_argument_names": (
        "estimator_train.engine.job:list_argument_names",
        "Returns the arguments that a caller can give to a function.",
    ),
    "make_output_getter": (
        "estimator_train.predictor.live:make_output_getter",
        "Returns the function that finds the outputs of a key.",
    ),
    "open_estimator": (
        "estimator_train.predictor.live:open_estimator",
        "Opens an Estimator, trained or not, as a predictor.",
    ),
    "open_saved_model": (
        "estimator_train.predictor.saved_model:open_saved_model",
        "Opens a SavedModel as a predictor.",
    ),
    "read_eval_metrics": (
        "estimator_train.training.eval_metrics:read_eval_metrics",
        "Reads the metrics of all evaluations in a directory.",
    ),
    "remove_old_exports": (
        "estimator_train.training.exporters:remove_old_exports",
        "Removes all but the newest exports.",
    ),
    "run_after": (
        "estimator_train.engine.tf_internals.graphs:run_after",
        "Makes an operation run after another one.",
    ),
    "set_input": (
        "estimator_train.engine.tf_internals.graphs:set_input",
        "Replaces an input of an operation.",
    ),
    "warn_of_missing_params": (
        "estimator_train.engine.job:warn_of_missing_params",
        "Warns of a model_fn with `params` if the estimator has none.",
    ),
}

__all__ = sorted(_NAMES)


def __getattr__(name: str) -> Any:
    if name not in _NAMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    place, _ = _NAMES[name]
    value = globals()[name] = pkgutil.resolve_name(place)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_NAMES})
