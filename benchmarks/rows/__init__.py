"""The rows of the table, in rooms; a new one is added to the list of its room."""

from benchmarks.benchmark import Benchmark
from benchmarks.rows import calls, inputs, keras, processes, scaling, training

_ROOMS = (training, keras, scaling, calls, processes, inputs)

BENCHMARKS: dict[str, Benchmark] = {row.name: row for room in _ROOMS for row in room.BENCHMARKS}
