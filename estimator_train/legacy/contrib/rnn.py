"""`tf.contrib.rnn`: recurrent cells by their old place."""

import tensorflow as tf

_v1 = tf.compat.v1.nn
RNNCell = _v1.rnn_cell.RNNCell
LayerRNNCell = _v1.rnn_cell.RNNCell
BasicRNNCell = _v1.rnn_cell.BasicRNNCell
BasicLSTMCell = _v1.rnn_cell.BasicLSTMCell
LSTMCell = _v1.rnn_cell.LSTMCell
GRUCell = _v1.rnn_cell.GRUCell
LSTMStateTuple = _v1.rnn_cell.LSTMStateTuple
MultiRNNCell = _v1.rnn_cell.MultiRNNCell
DropoutWrapper = _v1.rnn_cell.DropoutWrapper
ResidualWrapper = _v1.rnn_cell.ResidualWrapper
DeviceWrapper = _v1.rnn_cell.DeviceWrapper
static_rnn = _v1.static_rnn
static_state_saving_rnn = _v1.static_state_saving_rnn
static_bidirectional_rnn = _v1.static_bidirectional_rnn
