"""Shows the values of named constants in the signatures of the reference.

An extension of griffe: `loss_reduction=_MEAN` becomes
`loss_reduction=tf_keras.losses.Reduction.SUM_OVER_BATCH_SIZE`.
"""

import re
from collections.abc import Iterator
from typing import Any

import griffe

_CONSTANT = re.compile(r"_?[A-Z][A-Z_]+")


class Defaults(griffe.Extension):
    """Extension that replaces constants by their values."""

    def on_package(self, *, pkg: griffe.Module, **_: Any) -> None:
        """Replaces the defaults of all functions of a package."""
        for function in find_functions(pkg):
            for parameter in function.parameters:
                name = str(parameter.default)
                if _CONSTANT.fullmatch(name):
                    parameter.default = value_of(function.module, name) or parameter.default


def find_functions(parent: griffe.Object) -> Iterator[griffe.Function]:
    """Yields the functions of a module or class and of its members."""
    for member in parent.members.values():
        if isinstance(member, griffe.Function):
            yield member
        elif isinstance(member, (griffe.Module, griffe.Class)):
            yield from find_functions(member)


def value_of(module: griffe.Module, name: str) -> str | griffe.Expr | None:
    """Returns the expression that a module assigns to a name; None if it is not an assignment."""
    member: Any = module.members.get(name)
    if isinstance(member, griffe.Alias):
        try:
            member = member.final_target
        except griffe.AliasResolutionError:  # A name of another library.
            return None
    return member.value if isinstance(member, griffe.Attribute) else None
