"""The names of a model's inputs and outputs, and values given by them or by position."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from estimator_train.keras.graph.structures import Structure


class FormattedKeyError(KeyError):
    """KeyError that shows line breaks of its text; a plain KeyError escapes them."""

    def __str__(self) -> str:
        return str(self.args[0])


@dataclasses.dataclass(frozen=True)
class Names:
    """Names of a model's inputs or of its outputs.

    Attributes:
      names: One name per tensor, in the model's order.
      aliases: Keys to names, for a model that takes or returns a dict.
    """

    names: tuple[str, ...]
    aliases: Mapping[str, str] = dataclasses.field(default_factory=dict)

    @classmethod
    def from_structure(cls, names: Sequence[str], structure: Structure) -> "Names":
        """Makes the names of the tensors in `structure`; keys of a dict are aliases."""
        keys = sorted(structure) if isinstance(structure, Mapping) else []
        return cls(tuple(names), dict(zip(keys, names, strict=True)) if keys else {})

    def resolve_aliases(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Replaces aliases by names."""
        return {
            key if key in self.names else self.aliases.get(key, key): value
            for key, value in given.items()
        }

    def spread(self, given: Structure, argument: str) -> dict[str, Any]:
        """Returns one value for each name.

        Args:
          given: A dict by name (or alias), where names may be missing; a list or tuple in the order
            of the names; or one value for all.
          argument: The name of the values in error messages.

        Returns:
          Names to values; None for a missing value.

        Raises:
          ValueError: The dict has an unknown name, or the list another length.
        """
        if isinstance(given, Mapping):
            resolved = self.resolve_aliases(given)
            unknown = [key for key in resolved if key not in self.names]
            if unknown:
                raise ValueError(
                    f"Unknown entries in {argument} dictionary: {unknown}. Only expected following "
                    f"keys: {list(self.names)}"
                )
            return {name: resolved.get(name) for name in self.names}
        if isinstance(given, (list, tuple)):
            return self._in_order(given, argument)
        return dict.fromkeys(self.names, given)

    def pick(self, given: Structure, what: str, kind: str, wanted: Sequence[str]) -> dict[str, Any]:
        """Returns tensors by name from what an input_fn returned.

        Args:
          given: A dict by name (or alias), which may have other keys too; a list or tuple in the
            order of the names; or a tensor, if there is one name.
          what: "features" or "labels", for messages.
          kind: "inputs" or "outputs", for messages.
          wanted: The names that must be there.

        Raises:
          FormattedKeyError: The dict lacks a wanted name.
          ValueError: The list is of another length, or there is one tensor for several names.
        """
        if isinstance(given, Mapping):
            resolved = self.resolve_aliases(given)
            check_covers(set(resolved), set(wanted), set(given), what, kind)
            return {name: resolved[name] for name in self.names if name in resolved}
        return self._in_order(given if isinstance(given, (list, tuple)) else [given], what)

    def _in_order(self, given: Sequence[Any], what: str) -> dict[str, Any]:
        if len(given) != len(self.names):
            raise ValueError(
                f"When passing a list as {what}, it should have one entry for each of "
                f"{list(self.names)}, but you passed {len(given)}: {list(given)}"
            )
        return dict(zip(self.names, given, strict=True))


def check_covers(found: set[str], wanted: set[str], given: set[str], what: str, kind: str) -> None:
    """Checks that no wanted name is missing.

    Args:
      found: The names in the dict.
      wanted: The names that must be there.
      given: The names in the dict, as the user wrote them.
      what: The name of the dict in the error.
      kind: The kind of the wanted names in the error.

    Raises:
      FormattedKeyError: A name is missing.
    """
    missed = wanted - found
    if missed:
        raise FormattedKeyError(
            f"The dictionary passed into {what} does not cover requested {kind} keys defined in "
            f"the keras model.\n\tExpected keys: {_set(wanted)}\n\t{what} keys: {_set(given)}\n\t"
            f"Missed keys: {_set(missed)}"
        )


def _set(keys: set[str]) -> str:
    """Formats a set as Python does, but sorted."""
    return "{" + ", ".join(sorted(map(repr, keys))) + "}"
