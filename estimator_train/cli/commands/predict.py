"""`estimator-train predict`: writes one line for each prediction."""

import contextlib
import json
import logging
import os
import sys
from typing import TYPE_CHECKING

from absl import flags as absl_flags

from estimator_train.cli import results
from estimator_train.cli.job import user_code
from estimator_train.cli.job.user_code import Group
from estimator_train.cli.results import open_atomically
from estimator_train.cluster import CHIEF, MASTER, WORKER, detect, has_tf_config, read_tf_config

if TYPE_CHECKING:
    from estimator_train.cli.job.job import Job

DESCRIPTION = """
Writes the predictions of the model in --model_dir for the prediction data (the data of the input_fn
for mode 'infer'), one line for each example, in order. Use the --preset, or the --model and the
--input_fn or --input, of the training. With --format=parquet, the same command continues after an
interruption, and several processes predict a --shard each.
"""


def _define_output_flags(flag_values: absl_flags.FlagValues) -> None:
    define = Group(flag_values)
    define.string("output", None, "File to write. The default is the standard output.")
    define.enum(
        "format",
        "json",
        [*results.LINE_FORMATS, "parquet"],
        "json: one object per line; csv: a header, then a column for each number; parquet: files "
        "in the folder --output.",
    )
    define.integer(
        "num_shards",
        None,
        "Number of shards of --format=parquet. In a cluster the default is the number of workers, "
        "with the chief.",
        lower_bound=1,
    )
    define.integer(
        "shard",
        None,
        "Shard that this process predicts, from 0. In a cluster the default is the number of the "
        "worker, after the chief.",
        lower_bound=0,
    )
    define.list("predict_keys", [], "Names of the predictions to write. The default is all.")


FLAGS = (_define_output_flags, *user_code.JOB_FLAGS, user_code.define_checkpoint_path)


def run(flag_values: absl_flags.FlagValues) -> None:
    """Predicts with the model of the flags.

    Args:
      flag_values: The parsed flags.

    Raises:
      UsageError: A flag is missing or wrong, or there is no checkpoint.
    """
    with results.record_run(flag_values):
        _run(flag_values)


def _run(flag_values: absl_flags.FlagValues) -> None:
    from estimator_train.cli.job.job import Job

    if flag_values.format == "parquet":
        if (found := _choose_shard(flag_values)) is not None:
            _write_parquet(Job(flag_values), flag_values, *found)
        return
    job = Job(flag_values)
    predictions = job.get_trained_estimator().predict(
        job.make_predict_input_fn(),
        predict_keys=flag_values.predict_keys or None,
        checkpoint_path=flag_values.checkpoint_path,
    )
    path = flag_values.output
    with open_atomically(path) if path else contextlib.nullcontext(sys.stdout) as output:
        for line in results.LINE_FORMATS[flag_values.format](predictions):
            output.write(line + "\n")


def _write_parquet(
    job: "Job", flag_values: absl_flags.FlagValues, shard: int, num_shards: int
) -> None:
    from estimator_train.cli.parquet_parts import ParquetParts

    estimator = job.get_trained_estimator()
    checkpoint = flag_values.checkpoint_path or estimator.latest_checkpoint()
    keys = flag_values.predict_keys
    depends_on = {
        "checkpoint": checkpoint,
        "input": flag_values.input or flag_values.input_fn,
        "input_files": job.describe_input_files(shard, num_shards),
        "batch_size": flag_values.batch_size,
        "predict_keys": keys,
    }
    parts = ParquetParts(flag_values.output, shard, num_shards, depends_on)
    if not parts.is_complete:
        parts.write(
            estimator.predict(
                job.make_shard_input_fn(shard, num_shards, parts.batches),
                predict_keys=keys or None,
                checkpoint_path=checkpoint,
                yield_single_examples=False,
            )
        )


def _choose_shard(flag_values: absl_flags.FlagValues) -> tuple[int, int] | None:
    """Returns the shard of this process and the number of shards; None if it predicts none.

    It removes the cluster from TF_CONFIG: each task predicts alone, and the session of a cluster
    would wait for the servers of the others.

    Args:
      flag_values: The parsed flags.

    Raises:
      UsageError: There is no --output, or the shard is not one of the shards.
    """
    from estimator_train.cli.errors import UsageError

    if not flag_values.output:
        raise UsageError("--output=DIR is needed with --format=parquet, a folder for the files.")
    cluster = detect()
    if has_tf_config():
        settings = {k: v for k, v in read_tf_config().items() if k not in ("cluster", "task")}
        os.environ["TF_CONFIG"] = json.dumps(settings)
    shard, num_shards = flag_values.shard, flag_values.num_shards
    if shard is None and num_shards is None and cluster.jobs:
        if cluster.task_type not in (CHIEF, MASTER, WORKER):
            logging.getLogger("tensorflow").info("A %s predicts no shard.", cluster.task_type)
            return None
        has_chief = cluster.task_type == WORKER and bool({CHIEF, MASTER} & set(cluster.jobs))
        return cluster.task_id + has_chief, cluster.num_workers
    shard, num_shards = shard or 0, num_shards or 1
    if shard >= num_shards:
        raise UsageError(f"--shard={shard} must be less than --num_shards={num_shards}.")
    return shard, num_shards
