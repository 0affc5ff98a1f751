"""What questions are generated of: callables, the usual values of their arguments, their use."""

from __future__ import annotations

import contextlib
import dataclasses
import operator
import zlib
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import tensorflow as tf
from breadth.forms import forms
from jobs import Api

SUBJECTS: dict[str, Subject] = {}
_PATHS = ("dir", "path", "ckpt", "vocab", "file")


class With(NamedTuple):
    """A value that needs values of other arguments."""

    value: Any
    also: dict[str, Any]


@dataclasses.dataclass
class Subject:
    """A public class or function.

    Attributes:
        usual: Makes usual values of all arguments, of an API and an empty directory.
        use: What the result of the call comes to, of (result, API, directory).
        required: The names of the arguments that every call has.
        call: What to call; the public name by default.
        flavours: Of which APIs it is asked.
        forms: How many forms of a value are asked, in turn from subject to subject; all by default.
        in_graph: Whether it is called where a graph is the default.
    """

    usual: Callable[[Api, str], dict[str, Any]]
    use: Callable[[Any, Api, str], Any]
    required: tuple[str, ...] = ()
    call: Callable[[Api, str], Callable[..., Any]] | None = None
    flavours: tuple[str, ...] = ("v2",)
    forms: int | None = None
    in_graph: bool = False


class Question(NamedTuple):
    """One call: the argument that it gives, and in which form.

    Attributes:
        subject: The name of a subject.
        flavour: The API's name.
        argument: The argument that is given with the required ones; None for none, "*" for all.
        form: The name of a form of its value, "None", or "" for its usual value.
    """

    subject: str
    flavour: str
    argument: str | None = None
    form: str = ""

    @property
    def name(self) -> str:
        given = f"({self.argument})" if self.argument else ""
        return f"{self.flavour} {self.subject}{given}" + (f" {self.form}" if self.form else "")

    @property
    def usual(self) -> str | None:
        """The name of the question whose answer this one's is expected to be."""
        if self.form in ("", "None"):
            return None
        always = self.argument in SUBJECTS[self.subject].required
        return self._replace(form="", argument=None if always else self.argument).name

    def ask(self, api: Api, directory: str) -> Any:
        """Returns the outcome of the call."""
        about = SUBJECTS[self.subject]
        with tf.Graph().as_default() if about.in_graph else contextlib.nullcontext():
            return _called(self, about, api, directory)


def subject(name: str, usual: Any, use: Any, **more: Any) -> None:
    """Registers the questions about a public name."""
    SUBJECTS[name] = Subject(usual, use, **more)


def questions(apis: dict[str, Api], directory: str) -> Iterator[Question]:
    """Yields all questions; values are made only to see of which kinds they are."""
    for name, about in SUBJECTS.items():
        for flavour in about.flavours:
            usual = about.usual(apis[flavour], f"{directory}/{name} {flavour}")
            yield Question(name, flavour)
            yield Question(name, flavour, "*")
            for argument, value in usual.items():
                optional = argument not in about.required
                if optional:
                    yield Question(name, flavour, argument)
                value = value.value if isinstance(value, With) else value
                names = [*forms(value, _is_path(argument)), *(["None"] if optional else [])]
                for form in _chosen(name + flavour + argument, names, about.forms):
                    yield Question(name, flavour, argument, form)


def _chosen(seed: str, names: list[str], count: int | None) -> list[str]:
    if count is None or count >= len(names):
        return names
    start = zlib.crc32(seed.encode()) % len(names)
    step = max(1, len(names) // count)
    return [names[(start + step * turn) % len(names)] for turn in range(count)]


def _is_path(argument: str) -> bool:
    return any(part in argument for part in _PATHS)


def _called(question: Question, about: Subject, api: Api, directory: str) -> Any:
    usual = about.usual(api, directory)
    required = {name: usual[name] for name in about.required}
    call = about.call or (lambda api, _: operator.attrgetter(question.subject)(api.estimator))
    if question.argument == "*":
        values = [v.value if isinstance(v, With) else v for v in usual.values()]
        return about.use(call(api, directory)(*values), api, directory)
    if question.argument:
        value = usual[question.argument]
        if isinstance(value, With):
            required |= value.also
            value = value.value
        form = forms(value, _is_path(question.argument)).get(question.form, lambda same: same)
        required[question.argument] = None if question.form == "None" else form(value)
    required = {key: v.value if isinstance(v, With) else v for key, v in required.items()}
    return about.use(call(api, directory)(**required), api, directory)
