"""Sessions that run graphs as they are built: the optimizer takes a quarter of the tests' time."""

import tensorflow as tf

_SESSION = tf.compat.v1.Session
_INIT = _SESSION.__init__


def install() -> None:
    """Switches the optimizer off in all sessions of this process that are opened from now on."""
    _SESSION.__init__ = _init_unoptimized


def uninstall() -> None:
    """Makes new sessions what they were."""
    _SESSION.__init__ = _INIT


def _init_unoptimized(self, target="", graph=None, config=None):
    own = tf.compat.v1.ConfigProto()
    own.CopyFrom(config or own)
    own.graph_options.rewrite_options.disable_meta_optimizer = True
    _INIT(self, target, graph, own)
