"""What a whole process takes: to start, to save, of memory."""

from benchmarks.rows.processes import memory, run_start, saving, start

BENCHMARKS = (saving.BENCHMARK, start.BENCHMARK, run_start.BENCHMARK, memory.BENCHMARK)
