"""Inception nets of all versions."""

from tf_contrib.nets.inception_v1 import (
    inception_v1 as inception_v1,
    inception_v1_arg_scope as inception_v1_arg_scope,
    inception_v1_base as inception_v1_base,
)
from tf_contrib.nets.inception_v2 import (
    inception_v2 as inception_v2,
    inception_v2_arg_scope as inception_v2_arg_scope,
    inception_v2_base as inception_v2_base,
)
from tf_contrib.nets.inception_v3 import (
    inception_v3 as inception_v3,
    inception_v3_arg_scope as inception_v3_arg_scope,
    inception_v3_base as inception_v3_base,
)
