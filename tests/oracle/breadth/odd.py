"""Questions written by hand: values that a program may give and that no general form makes."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import tensorflow as tf
from jobs import Api

Ask = Callable[[Api, str], Any]
ODD: dict[str, Odd] = {}
tf1 = tf.compat.v1


class Odd(NamedTuple):
    """A question about one flavour.

    Attributes:
        flavour: The API's name.
        topic: The subject of the question.
        text: The description of the arguments.
        ask: A program, as a function of an API and an empty directory.
    """

    flavour: str
    topic: str
    text: str
    ask: Ask

    @property
    def name(self) -> str:
        return f"{self.flavour} {self.topic}: {self.text}"


def odd(topic: str, asks: dict[str, Ask], flavours: Iterable[str] = ("v2", "v1")) -> None:
    """Registers questions by the given value."""
    for flavour in flavours:
        for text, ask in asks.items():
            made = Odd(flavour, topic, text, ask)
            if made.name in ODD:
                raise ValueError(f"two questions are named {made.name}")
            ODD[made.name] = made


def made(api: Api, directory: str, name: str, *args: Any, **arguments: Any) -> Any:
    """Returns an estimator by its public name, in `directory`."""
    kind = getattr(api.estimator, name, None) or getattr(api.estimator.experimental, name)
    config = api.estimator.RunConfig(tf_random_seed=1, save_summary_steps=1)
    return kind(*args, model_dir=f"{directory}/model", config=config, **arguments)


class Names(Mapping):
    """A mapping of a program's own."""

    def __init__(self, items: Any) -> None:
        self._items = items

    def __getitem__(self, key: Any) -> Any:
        return self._items[key]

    def __iter__(self) -> Any:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)


@contextlib.contextmanager
def old_loops() -> Iterator[None]:
    """Loops in which tf.estimator can train recurrent networks."""
    enabled = tf1.control_flow_v2_enabled()
    tf1.disable_control_flow_v2()
    try:
        yield
    finally:
        if enabled:
            tf1.enable_control_flow_v2()
