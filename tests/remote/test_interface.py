"""The structures of filesystem.c are those of TensorFlow's header; the library needs libc alone."""

import re
import shutil
import subprocess
from pathlib import Path

import tensorflow as tf
from processes import run_process

from estimator_train.remote import registration

SOURCE = Path(registration.__file__).with_name("filesystem.c")
# By the names of TensorFlow's structures: ours.
STRUCTURES = {
    "TF_RandomAccessFileOps": "ReadOps",
    "TF_WritableFileOps": "WriteOps",
    "TF_FileStatistics": "FileStatistics",
    "TF_Filesystem": "Handle",
    "TF_RandomAccessFile": "Handle",
    "TF_WritableFile": "Handle",
    "TF_FilesystemPluginOps": "PluginOps",
    "TF_FilesystemPluginInfo": "PluginInfo",
}
# The members of TF_FilesystemPluginOps, in their order.
THEIRS = re.findall(
    r"\w+",
    """
    scheme filesystem_ops_abi filesystem_ops_api filesystem_ops_size filesystem_ops
    random_access_file_ops_abi random_access_file_ops_api random_access_file_ops_size
    random_access_file_ops writable_file_ops_abi writable_file_ops_api writable_file_ops_size
    writable_file_ops read_only_memory_region_ops_abi read_only_memory_region_ops_api
    read_only_memory_region_ops_size read_only_memory_region_ops
    """,
)
INFO = {"num_schemes": "num_schemes", "ops": "ops", "allocate": "plugin_memory_allocate",
        "free": "plugin_memory_free"}  # fmt: skip


def members_of(structure: str) -> list[str]:
    """Returns the members of a structure of filesystem.c."""
    text = re.sub(r"/\*.*?\*/", "", SOURCE.read_text(), flags=re.DOTALL)
    body = next(
        body
        for body, name in re.findall(r"typedef struct \{(.*?)\n?\} (\w+);", text, re.DOTALL)
        if name == structure
    )
    names = []
    for declaration in body.split(";"):
        pointer = re.search(r"\(\*(\w+)\)\(", declaration)
        plain = declaration.split("(")[0].split(",")
        names += [pointer[1]] if pointer else [n.split()[-1].strip("*") for n in plain if n.strip()]
    return names


def test_structures_have_the_sizes_and_offsets_of_the_header(tmp_path):
    assert shutil.which("g++"), "needs Debian's package g++: TensorFlow's header is C++"
    ours, theirs = [], []
    for their, our in STRUCTURES.items():
        ours.append(f"sizeof({our})")
        theirs.append(f"sizeof({their})")
    for structure in ("ReadOps", "WriteOps", "FileStatistics"):
        their = next(name for name, our in STRUCTURES.items() if our == structure)
        for member in members_of(structure):
            ours.append(f"offsetof({structure}, {member})")
            theirs.append(f"offsetof({their}, {member})")
    for member in members_of("FilesystemOps"):
        ours.append(f"offsetof(FilesystemOps, {member})")
        theirs.append(f"offsetof(TF_FilesystemOps, {member})")
    for member, name in zip(members_of("PluginOps"), THEIRS, strict=True):
        ours.append(f"offsetof(PluginOps, {member})")
        theirs.append(f"offsetof(TF_FilesystemPluginOps, {name})")
    for member in members_of("PluginInfo"):
        ours.append(f"offsetof(PluginInfo, {member})")
        theirs.append(f"offsetof(TF_FilesystemPluginInfo, {INFO[member]})")
    assert len(ours) > 60
    theirs += ["TF_FILESYSTEM_OPS_ABI", "TF_RANDOM_ACCESS_FILE_OPS_ABI",
               "TF_WRITABLE_FILE_OPS_ABI"]  # fmt: skip
    ours += ["0", "0", "0"]
    header = "tensorflow/c/experimental/filesystem/filesystem_interface.h"
    expected = evaluate(tmp_path / "theirs.cc", f"#include <{header}>", theirs, ["g++"])
    actual = evaluate(tmp_path / "ours.c", f'#include "{SOURCE}"', ours, ["gcc", "-std=c11"])
    assert dict(zip(theirs, actual, strict=True)) == dict(zip(theirs, expected, strict=True))


def evaluate(path: Path, include: str, expressions: list[str], compiler: list[str]) -> list[int]:
    """Returns the values of expressions of C."""
    lines = [f'  printf("%zu\\n", (size_t)({expression}));' for expression in expressions]
    path.write_text(
        f"{include}\n#include <stddef.h>\n#include <stdio.h>\nint main(void) {{\n"
        + "\n".join(lines)
        + "\n}\n"
    )
    program = path.with_suffix("")
    flags = ["-I", tf.sysconfig.get_include(), "-w", "-o", str(program), str(path), "-lpthread"]
    subprocess.run([*compiler, *flags], check=True)
    return [int(line) for line in run_process([program]).stdout.split()]


def test_the_library_needs_neither_tensorflow_nor_python(tmp_path):
    built = registration.find_or_compile_library()
    symbols = run_process(["nm", "-D", "--undefined-only", built]).stdout.split()
    assert not [name for name in symbols if name.startswith(("TF_", "Py", "_Py"))]
    compiled = tmp_path / "strict.so"
    flags = ["-std=c11", "-O2", "-fPIC", "-shared", "-Wall", "-Wextra", "-Werror", "-Wl,-z,defs"]
    run_process(["gcc", *flags, "-o", compiled, SOURCE, "-lpthread"])
    assert compiled.stat().st_size < 60_000


def test_entries_that_tensorflow_would_replace_by_unsafe_defaults_are_given():
    # Its own get_matching_paths waits for threads, its translate_name drops the scheme.
    table = re.search(r"FilesystemOps filesystem = \{(.*?)\};", SOURCE.read_text(), re.DOTALL)[1]
    given = set(re.findall(r"\.(\w+) =", table))
    left_out = {"new_read_only_memory_region_from_file", "paths_exist"}
    assert given == set(members_of("FilesystemOps")) - left_out
