"""Stand-in for `tf.contrib.rnn`: recurrent cells and fused cells."""

import tensorflow as tf

from tf_contrib.rnn.cells import (
    GRUBlockCell,
    GRUBlockCellV2,
    LayerNormBasicLSTMCell,
    LSTMBlockCell,
)
from tf_contrib.rnn.convolution import (
    Conv1DLSTMCell,
    Conv2DLSTMCell,
    Conv3DLSTMCell,
    ConvLSTMCell,
)
from tf_contrib.rnn.frequencies import TimeFreqLSTMCell
from tf_contrib.rnn.fused import (
    FusedRNNCell,
    FusedRNNCellAdaptor,
    LSTMBlockFusedCell,
    TimeReversedFusedRNN,
)
from tf_contrib.rnn.grid import BidirectionalGridLSTMCell, GridLSTMCell
from tf_contrib.rnn.independent import (
    IndRNNCell,
    IndyGRUCell,
    IndyLSTMCell,
    NASCell,
)
from tf_contrib.rnn.lstm_cells import (
    CompiledWrapper,
    CoupledInputForgetGateLSTMCell,
    GLSTMCell,
    PhasedLSTMCell,
)
from tf_contrib.rnn.projections import (
    EmbeddingWrapper,
    InputProjectionWrapper,
    OutputProjectionWrapper,
)
from tf_contrib.rnn.stacks import (
    stack_bidirectional_dynamic_rnn,
    stack_bidirectional_rnn,
)
from tf_contrib.rnn.unit_cells import (
    AttentionCellWrapper,
    HighwayWrapper,
    IntersectionRNNCell,
    SRUCell,
    UGRNNCell,
)

_v1 = tf.compat.v1.nn
_cells = _v1.rnn_cell
RNNCell = LayerRNNCell = _cells.RNNCell
BasicRNNCell = _cells.BasicRNNCell
BasicLSTMCell = _cells.BasicLSTMCell
LSTMCell = _cells.LSTMCell
GRUCell = _cells.GRUCell
MultiRNNCell = _cells.MultiRNNCell
DropoutWrapper = _cells.DropoutWrapper
ResidualWrapper = _cells.ResidualWrapper
DeviceWrapper = _cells.DeviceWrapper
LSTMStateTuple = _cells.LSTMStateTuple
static_rnn = _v1.static_rnn
static_state_saving_rnn = _v1.static_state_saving_rnn
static_bidirectional_rnn = _v1.static_bidirectional_rnn

__all__ = [
    "AttentionCellWrapper",
    "BasicLSTMCell",
    "BasicRNNCell",
    "BidirectionalGridLSTMCell",
    "CompiledWrapper",
    "Conv1DLSTMCell",
    "Conv2DLSTMCell",
    "Conv3DLSTMCell",
    "ConvLSTMCell",
    "CoupledInputForgetGateLSTMCell",
    "DeviceWrapper",
    "DropoutWrapper",
    "EmbeddingWrapper",
    "FusedRNNCell",
    "FusedRNNCellAdaptor",
    "GLSTMCell",
    "GRUBlockCell",
    "GRUBlockCellV2",
    "GRUCell",
    "GridLSTMCell",
    "HighwayWrapper",
    "IndRNNCell",
    "IndyGRUCell",
    "IndyLSTMCell",
    "InputProjectionWrapper",
    "IntersectionRNNCell",
    "LSTMBlockCell",
    "LSTMBlockFusedCell",
    "LSTMCell",
    "LSTMStateTuple",
    "LayerNormBasicLSTMCell",
    "LayerRNNCell",
    "MultiRNNCell",
    "NASCell",
    "OutputProjectionWrapper",
    "PhasedLSTMCell",
    "RNNCell",
    "ResidualWrapper",
    "SRUCell",
    "TimeFreqLSTMCell",
    "TimeReversedFusedRNN",
    "UGRNNCell",
    "stack_bidirectional_dynamic_rnn",
    "stack_bidirectional_rnn",
    "static_bidirectional_rnn",
    "static_rnn",
    "static_state_saving_rnn",
    "transpose_batch_time",
]


def transpose_batch_time(x: tf.Tensor) -> tf.Tensor:
    """Swaps the first two axes."""
    return tf.transpose(x, [1, 0, *range(2, x.shape.rank)])
