"""A wide-and-deep classifier on CSV data, with crosses and embeddings, parsing included."""

from benchmarks.apis import Apis, both
from benchmarks.benchmark import ORIGINAL, Benchmark


def _examples_per_second(apis: Apis, quick: bool) -> float:
    from benchmarks import census_job

    size = {"epochs": 31, "rows": 10 * census_job.BATCH, "eval_rows": census_job.BATCH}
    found = census_job.run(apis.estimator, apis.keras.optimizers.legacy, **(size if quick else {}))
    return found["examples_per_sec"]


BENCHMARK = Benchmark(
    "census",
    "train: wide & deep on CSV of 14 columns, batch 128",
    "examples/s",
    both(_examples_per_second),
    goals={ORIGINAL: 1.5},
)
