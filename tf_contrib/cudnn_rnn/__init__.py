"""Stand-in for `tf.contrib.cudnn_rnn`: recurrent layers with the equations of cuDNN."""

from tf_contrib.cudnn_rnn.layers import (
    CudnnGRU,
    CudnnLSTM,
    CudnnRNNRelu,
    CudnnRNNTanh,
)
from tf_contrib.rnn.unit_cells import (
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
