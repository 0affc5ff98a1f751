"""Benchmarks of processes: start-up time, large graphs, cost of saving, peak memory."""

from benchmarks.rows.processes import bert, large_graph, memory, run_start, saving, start

BENCHMARKS = (
    *saving.BENCHMARKS,
    start.BENCHMARK,
    run_start.BENCHMARK,
    *bert.BENCHMARKS,
    *large_graph.BENCHMARKS,
    memory.BENCHMARK,
)
