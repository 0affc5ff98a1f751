"""Benchmarks of processes: start-up time, cost of saving, peak memory."""

from benchmarks.rows.processes import memory, run_start, saving, start

BENCHMARKS = (saving.BENCHMARK, start.BENCHMARK, run_start.BENCHMARK, memory.BENCHMARK)
