"""The policy of mixed precision under which layers are made."""

import contextlib
import sys
from collections.abc import Iterator


@contextlib.contextmanager
def use_policy(name: str | None) -> Iterator[None]:
    """Makes a policy the global one of tf_keras, and of Keras 3 if it is imported.

    The threads of a strategy's replicas share the global policy of tf_keras, and are in this
    context at the same time: the thread that has changed the policy restores it.

    Args:
      name: A policy such as "mixed_bfloat16"; None keeps the global policy.
    """
    with contextlib.ExitStack() as stack:
        for package in ("tf_keras", "keras"):
            if name is None or package not in sys.modules:
                continue
            precision = sys.modules[package].mixed_precision
            before = precision.global_policy()
            if before.name != name:
                stack.callback(precision.set_global_policy, before)
                precision.set_global_policy(name)
        yield
