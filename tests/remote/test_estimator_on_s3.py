"""A job whose data, checkpoints, event files and exports are on a real S3 server."""

import json
import sys
from pathlib import Path

import pytest
from processes import run_process

JOB = Path(__file__).with_name("estimator_job.py")


def run_job(directory, **variables):
    command = [sys.executable, JOB, directory]
    return json.loads(run_process(command, **variables).stdout.splitlines()[-1])


@pytest.mark.long
def test_a_job_on_s3_is_the_job_on_a_local_disk(store, bucket, tmp_path):
    local = run_job(str(tmp_path / "job"))
    remote = run_job(f"s3://{bucket}/job")
    strip = len(f"s3://{bucket}/job"), len(str(tmp_path / "job"))
    assert [path[strip[0] :] for path in remote.pop("all")] == [
        path[strip[1] :] for path in local.pop("all")
    ]
    exported = remote.pop("export").removeprefix(f"s3://{bucket}/")
    local.pop("export")
    assert remote == local
    assert remote["temporary"] == []
    times = {key: store.client.head_object(Bucket=bucket, Key=key)["LastModified"]
             for key in store.list_keys(bucket, exported)}  # fmt: skip
    # The store's times are whole seconds.
    assert times[f"{exported}/saved_model.pb"] == max(times.values())
