"""Stand-in for `tf.contrib.model_pruning`: weights of small magnitude are masked while training.

The method is that of Zhu and Gupta, "To prune, or not to prune: exploring the efficacy of pruning
for model compression" (2017), https://arxiv.org/abs/1710.01878.
"""

from tf_contrib.model_pruning.hparams import get_pruning_hparams
from tf_contrib.model_pruning.layers import (
    masked_conv2d,
    masked_convolution,
    masked_fully_connected,
)
from tf_contrib.model_pruning.learning import train
from tf_contrib.model_pruning.masks import (
    apply_mask,
    get_masked_weights,
    get_masks,
    get_thresholds,
    get_weight_sparsity,
    get_weights,
)
from tf_contrib.model_pruning.pruning import Pruning
from tf_contrib.model_pruning.rnn_cells import (
    MaskedBasicLSTMCell,
    MaskedLSTMCell,
)
from tf_contrib.model_pruning.strip import (
    graph_def_from_checkpoint,
    strip_pruning_vars_fn,
)

__all__ = [
    "MaskedBasicLSTMCell",
    "MaskedLSTMCell",
    "Pruning",
    "apply_mask",
    "get_masked_weights",
    "get_masks",
    "get_pruning_hparams",
    "get_thresholds",
    "get_weight_sparsity",
    "get_weights",
    "graph_def_from_checkpoint",
    "masked_conv2d",
    "masked_convolution",
    "masked_fully_connected",
    "strip_pruning_vars_fn",
    "train",
]
