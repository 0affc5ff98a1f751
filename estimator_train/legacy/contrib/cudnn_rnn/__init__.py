"""Stand-in for `tf.contrib.cudnn_rnn`: recurrent layers with the equations of cuDNN."""

from estimator_train.legacy.contrib.cudnn_rnn.layers import (
    CudnnGRU,
    CudnnLSTM,
    CudnnRNNRelu,
    CudnnRNNTanh,
)
from estimator_train.legacy.contrib.rnn.further_cells import (
    CudnnCompatibleGRUCell,
    CudnnCompatibleLSTMCell,
)

__all__ = [
    "CudnnCompatibleGRUCell",
    "CudnnCompatibleLSTMCell",
    "CudnnGRU",
    "CudnnLSTM",
    "CudnnRNNRelu",
    "CudnnRNNTanh",
]
