"""Loads modules that an old `protoc` generated from .proto files, and those which they import.

Such a module builds each descriptor itself, which the protobuf package refuses since version 4. The
file's serialized descriptor is in the module too, and suffices to build its messages.
"""

import ast
import importlib.abc
import importlib.machinery
import importlib.util
import sys
import types
from collections.abc import Sequence
from pathlib import Path
from typing import cast

_SUFFIX = "_pb2"
_SERVICES = "google.protobuf.service"


def install() -> None:
    """Makes old generated modules importable."""
    sys.meta_path.insert(0, _Finder())


class _Finder(importlib.abc.MetaPathFinder):
    """Finder of generated modules that protobuf refuses, and of modules that it has removed."""

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,
        target: types.ModuleType | None = None,
    ) -> importlib.machinery.ModuleSpec | None:
        if not fullname.endswith(_SUFFIX) and fullname != _SERVICES:
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if fullname == _SERVICES:
            services = Path(__file__).parent / "removed" / "messages" / "services.py"
            return spec or importlib.util.spec_from_file_location(fullname, services)
        if spec is None or not spec.origin or not spec.origin.endswith(".py"):
            return None
        source = Path(spec.origin).read_bytes()
        if b"serialized_pb=" not in source or b"AddSerializedFile" in source:
            return None
        spec.loader = _Loader(fullname, spec.origin)
        return spec


class _Loader(importlib.machinery.SourceFileLoader):
    """Loader that builds the messages and services from the serialized descriptor in the source."""

    def exec_module(self, module: types.ModuleType) -> None:
        tree = ast.parse(self.get_data(self.path))
        serialized = _find_serialized(tree)
        if serialized is None:
            super().exec_module(module)
            return
        from google.protobuf import descriptor_pool
        from google.protobuf.internal import builder

        # The imported modules register the files on which this one depends.
        imports: list[ast.stmt] = [
            node for node in tree.body if isinstance(node, (ast.Import, ast.ImportFrom))
        ]
        code = compile(ast.Module(imports, []), self.path, "exec", dont_inherit=True)
        exec(code, module.__dict__)
        file = descriptor_pool.Default().AddSerializedFile(serialized)
        module.__dict__["DESCRIPTOR"] = file
        builder.BuildMessageAndEnumDescriptors(file, module.__dict__)
        builder.BuildTopDescriptorsAndMessages(file, module.__name__, module.__dict__)
        if file.GetOptions().py_generic_services:
            builder.BuildServices(file, module.__name__, module.__dict__)


def _find_serialized(tree: ast.Module) -> bytes | None:
    """Returns the argument `serialized_pb` of the module's file descriptor, or None."""
    for node in tree.body:
        value = node.value if isinstance(node, ast.Assign) else None
        for keyword in value.keywords if isinstance(value, ast.Call) else ():
            if keyword.arg == "serialized_pb":
                return _evaluate(keyword.value)
    return None


def _evaluate(node: ast.expr) -> bytes | None:
    """Returns the bytes of a literal, which code for Python 2 and 3 passes to `_b`."""
    if isinstance(node, ast.Call) and node.args:
        node = node.args[0]
    if not isinstance(node, ast.Constant):
        return None
    value = cast(object, node.value)
    if isinstance(value, str):
        return value.encode("latin1")
    return value if isinstance(value, bytes) else None
