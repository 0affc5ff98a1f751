#!/usr/bin/env bash
# Spark repeats a barrier stage of which a task has failed only if another stage reads its results.
# A barrier stage that returns its results to the driver, as `collect` of the result of
# `rdd.barrier().mapPartitions(...)` does, ends the job at the first failed task, although
# spark.task.maxFailures and spark.stage.maxConsecutiveAttempts are 4. Without barrier mode the same
# task is repeated.
#
# Seen with pyspark 4.3.0, OpenJDK 17 (which must be installed), Python 3.11, Linux, on local[2,4];
# the first attempt of task 0 raises an error.
#
#   barrier, collect:                 Could not recover from a failed barrier ResultStage
#   barrier, repartition(1), collect: [0, 1]
#   no barrier, collect:              [0, 1]
#
# A training in barrier tasks that must survive a lost task needs a shuffle after it.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check pyspark==4.3.0

cat > "$folder/program.py" << 'PYTHON'
import os
import re
import tempfile

from pyspark.sql import SparkSession

context = SparkSession.builder.master("local[2,4]").getOrCreate().sparkContext
context.setLogLevel("OFF")


def run(name, barrier, shuffle):
    """Prints the results of two tasks, the first of which fails once."""
    folder = tempfile.mkdtemp(dir=os.getcwd())

    def task(numbers):
        (number,) = numbers
        first = f"{folder}/first"
        if number == 0 and not os.path.exists(first):
            open(first, "w").close()
            raise RuntimeError("first attempt")
        return [number]

    rdd = context.parallelize([0, 1], 2)
    results = (rdd.barrier() if barrier else rdd).mapPartitions(task)
    try:
        print(name, sorted((results.repartition(1) if shuffle else results).collect()))
    except Exception as error:
        print(name, re.search("Could not recover from a failed barrier ResultStage", str(error))[0])


run("barrier, collect:", True, False)
run("barrier, repartition(1), collect:", True, True)
run("no barrier, collect:", False, False)
PYTHON

cd "$folder"
output=$(PYSPARK_PYTHON="$folder/venv/bin/python" SPARK_LOCAL_IP=127.0.0.1 \
    "$folder/venv/bin/python" program.py 2> errors) || { cat errors; exit 1; }
expected="barrier, collect: Could not recover from a failed barrier ResultStage
barrier, repartition(1), collect: [0, 1]
no barrier, collect: [0, 1]"
printf '%s\n' "$output"
[ "$output" = "$expected" ] || { printf 'changed; expected:\n%s\n' "$expected"; exit 1; }
