"""Public names of `export`: SavedModels, their inputs and outputs, and other formats.

`portable` converts to ONNX, LiteRT and OpenVINO; `boosted_trees.py` rewrites old exports of trees.
"""

from estimator_train.estimator_spec.export_outputs import (
    ClassificationOutput,
    EvalOutput,
    ExportOutput,
    PredictOutput,
    RegressionOutput,
)
from estimator_train.export.boosted_trees import convert_boosted_trees
from estimator_train.export.portable.checkpoint_files import write_variables
from estimator_train.export.portable.conversion import Conversion, convert
from estimator_train.export.receivers import (
    ServingInputReceiver,
    TensorServingInputReceiver,
    build_parsing_serving_input_receiver_fn,
    build_raw_serving_input_receiver_fn,
)

__all__ = [
    "ClassificationOutput",
    "Conversion",
    "EvalOutput",
    "ExportOutput",
    "PredictOutput",
    "RegressionOutput",
    "ServingInputReceiver",
    "TensorServingInputReceiver",
    "build_parsing_serving_input_receiver_fn",
    "build_raw_serving_input_receiver_fn",
    "convert",
    "convert_boosted_trees",
    "write_variables",
]
