"""The names of a model's inputs and outputs, and values given by them or by position."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any


class FormattedKeyError(KeyError):
    """A KeyError whose text keeps its line breaks; a plain one would show them escaped."""

    def __str__(self) -> str:
        return str(self.args[0])


@dataclasses.dataclass(frozen=True)
class Names:
    """The names of a model's inputs or of its outputs.

    Attributes:
      names: One for each, in the model's order.
      aliases: For a model that takes or gives a dict: its keys, and the names they stand for.
    """

    names: tuple[str, ...]
    aliases: Mapping[str, str] = dataclasses.field(default_factory=dict)

    @classmethod
    def of(cls, names: Sequence[str], structure: Any) -> "Names":
        """The names of the tensors in `structure`, a dict's keys being aliases of them."""
        keys = sorted(structure) if isinstance(structure, Mapping) else []
        return cls(tuple(names), dict(zip(keys, names, strict=True)) if keys else {})

    def resolved(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Returns `given` with names in place of aliases."""
        return {
            key if key in self.names else self.aliases.get(key, key): value
            for key, value in given.items()
        }

    def spread(self, given: Any, what: str) -> dict[str, Any]:
        """Returns one value for each name.

        Args:
          given: A dict by name (or alias), where names may be missing; a list or tuple in the order
            of the names; or one value for all.
          what: What the values are, for messages.

        Returns:
          Name to value, None for what is missing.

        Raises:
          ValueError: The dict has an unknown name, or the list another length.
        """
        if isinstance(given, Mapping):
            resolved = self.resolved(given)
            unknown = [key for key in resolved if key not in self.names]
            if unknown:
                raise ValueError(
                    f"Unknown entries in {what} dictionary: {unknown}. Only expected following "
                    f"keys: {list(self.names)}"
                )
            return {name: resolved.get(name) for name in self.names}
        if isinstance(given, (list, tuple)):
            return self._in_order(given, what)
        return dict.fromkeys(self.names, given)

    def pick(self, given: Any, what: str, kind: str, wanted: Sequence[str]) -> dict[str, Any]:
        """Returns tensors by name from what an input_fn returned.

        Args:
          given: A dict by name (or alias), which may hold more; a list or tuple in the order of the
            names; or a tensor, where there is one name.
          what: "features" or "labels", for messages.
          kind: "inputs" or "outputs", for messages.
          wanted: The names that have to be there.

        Raises:
          FormattedKeyError: The dict does not have all that is wanted.
          ValueError: The list is of another length, or there is one tensor for several names.
        """
        if isinstance(given, Mapping):
            resolved = self.resolved(given)
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
    """Checks that all names that are wanted are there.

    Args:
      found: The names that are there.
      wanted: The names that have to be.
      given: The names that are there as the user wrote them.
      what: What has the names that are there, for the error.
      kind: What wants them, for the error.

    Raises:
      FormattedKeyError: Some are missing.
    """
    missed = wanted - found
    if missed:
        raise FormattedKeyError(
            f"The dictionary passed into {what} does not cover requested {kind} keys defined in "
            f"the keras model.\n\tExpected keys: {_set(wanted)}\n\t{what} keys: {_set(given)}\n\t"
            f"Missed keys: {_set(missed)}"
        )


def _set(keys: set[str]) -> str:
    """A set as Python writes it, in an order that does not change from run to run."""
    return "{" + ", ".join(sorted(map(repr, keys))) + "}"
