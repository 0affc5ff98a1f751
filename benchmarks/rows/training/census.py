"""A wide-and-deep classifier on CSV data with crosses and embeddings, including the parsing."""

from benchmarks.apis import Apis, compare_apis
from benchmarks.benchmark import ORIGINAL, Benchmark


def _measure_examples_per_second(apis: Apis, quick: bool) -> float:
    from benchmarks import census_job

    size = {"epochs": 31, "rows": 10 * census_job.BATCH, "eval_rows": census_job.BATCH}
    result = census_job.run(apis.estimator, apis.keras.optimizers.legacy, **(size if quick else {}))
    return result["examples_per_sec"]


BENCHMARK = Benchmark(
    "census",
    "train: wide & deep on CSV of 14 columns, batch 128",
    "examples/s",
    compare_apis(_measure_examples_per_second),
    goals={ORIGINAL: 1.5},
)
