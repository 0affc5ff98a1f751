"""Whatever stands in variables and flags, it is read, or refused with an error that names it."""

import json
import re

import numpy as np
import pytest
import tensorflow as tf
from absl import flags as absl_flags
from hypothesis import given, settings, strategies as st

import flags
from estimator_train.cluster import cluster_from_tf_config, detect
from input_fns import csv, read_idx, tfrecords, write_idx

JOBS = st.sampled_from(["chief", "master", "worker", "ps", "evaluator", "wrker", ""])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(JOBS | st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)
ADDRESSES = st.lists(
    st.sampled_from(["a:1", "b:2", "b:x", "c", ":3", "d:99999"]) | JSON, max_size=3
)
TF_CONFIGS = st.fixed_dictionaries(
    {},
    optional={
        "cluster": st.dictionaries(JOBS, ADDRESSES | JSON, max_size=4) | JSON,
        "task": st.fixed_dictionaries(
            {}, optional={"type": JOBS | JSON, "index": st.integers(-2, 4) | JSON}
        )
        | JSON,
        "environment": JSON,
        "model_dir": JSON,
        "session_master": JSON,
    },
)
SLURM = st.dictionaries(
    st.sampled_from(
        [
            "SLURM_JOB_ID",
            "SLURM_JOB_NAME",
            "SLURM_PROCID",
            "SLURM_NTASKS",
            "SLURM_JOB_NODELIST",
            "SLURM_STEP_NODELIST",
            "SLURM_STEP_NUM_TASKS",
            "SLURM_STEP_TASKS_PER_NODE",
            "SLURM_STEP_ID",
            "SLURM_STEP_RESV_PORTS",
            "SLURM_DISTRIBUTION",
            "SLURMD_NODENAME",
            "OMPI_COMM_WORLD_RANK",
            "OMPI_COMM_WORLD_SIZE",
            "OMPI_COMM_WORLD_LOCAL_SIZE",
            "PMIX_NAMESPACE",
            "SLURM_TASKS_PER_NODE",
        ]
    ),
    st.sampled_from(["12345", "bash", "job", "0", "1", "n[1-2]", "n[1-", "a,b", "2(x2)", "(", ""])
    | st.text(max_size=6).filter(lambda text: "\x00" not in text),
)
RANKS = st.dictionaries(
    st.sampled_from(
        [
            "RANK",
            "WORLD_SIZE",
            "LOCAL_RANK",
            "MASTER_ADDR",
            "MASTER_PORT",
            "TORCHELASTIC_RUN_ID",
            "SM_HOSTS",
            "SM_CURRENT_HOST",
        ]
    ),
    st.sampled_from(["0", "1", "2", "x", "", '["a", "b"]', "a", "[", "29500"]),
)
LINES = st.lists(
    st.sampled_from(
        ["--batch_size=4", "--batch_size=x", "# note", "--nonsense", "", "--clean=maybe"]
    )
    | st.text(max_size=12).filter(lambda text: "\n" not in text and "\r" not in text),
    max_size=5,
)


@settings(max_examples=300, deadline=None)
@given(config=TF_CONFIGS | JSON)
def test_tf_config_is_read_or_refused(config):
    text = json.dumps(config)
    _read_or_refuse(lambda: cluster_from_tf_config(text), "TF_CONFIG", "cluster", "task")


@settings(max_examples=200, deadline=None)
@given(text=st.text(max_size=40))
def test_tf_config_of_any_text_is_read_or_refused(text):
    _read_or_refuse(lambda: cluster_from_tf_config(text), "TF_CONFIG", "cluster", "task")


@pytest.mark.filterwarnings("ignore:.*was started without srun")
@settings(max_examples=300, deadline=None)
@given(variables=SLURM | RANKS)
def test_variables_of_other_clusters_are_read_or_refused(variables):
    names = ("Slurm", "SLURM_", "mpirun", "OMPI_", "PMIX_", "SM_", "RANK", "WORLD_SIZE", "MASTER_")
    _read_or_refuse(lambda: detect(variables), *names)


@settings(max_examples=100, deadline=None)
@given(lines=LINES)
def test_flagfile_is_read_or_refused(lines, tmp_path_factory):
    path = tmp_path_factory.mktemp("flags") / "file"
    path.write_text("\n".join(lines))
    values = absl_flags.FlagValues()
    flags.define_base_flags(values)
    absl_flags.DEFINE_multi_string("flagfile", [], "", flag_values=values)
    said = _refused(lambda: values(["program", f"--flagfile={path}"]), absl_flags.Error)
    assert said is None or re.search("flag|--batch_size|--clean", said)


CELLS = st.sampled_from(["1", "2.5", "a", "", '"', '"q"', " ", "\ufeff", "99999999999999999999"])
ROWS = st.lists(st.lists(CELLS, min_size=1, max_size=4).map(",".join), max_size=5)
DAMAGE = st.tuples(st.sampled_from(["cut", "flip", "add"]), st.integers(0, 10**6), st.binary())


@pytest.mark.long
@settings(max_examples=12, deadline=None)
@given(content=ROWS.map("\n".join) | ROWS.map("x,y\n1,2\n".join) | st.text(max_size=20))
def test_csv_file_is_read_or_refused_by_its_name(content, tmp_path_factory):
    path = tmp_path_factory.mktemp("rows") / "rows.csv"
    path.write_text(content)
    _batches_or_its_name(lambda: csv(str(path), batch_size=2, num_epochs=1), path)


@pytest.fixture(scope="module")
def whole_files(tmp_path_factory):
    """Returns a TFRecord file and an IDX file, by the function that reads one."""
    directory = tmp_path_factory.mktemp("whole")
    with tf.io.TFRecordWriter(str(directory / "records")) as writer:
        for number in range(5):
            value = tf.train.Feature(int64_list=tf.train.Int64List(value=[number]))
            features = tf.train.Features(feature={"x": value})
            writer.write(tf.train.Example(features=features).SerializeToString())
    write_idx(directory / "idx", np.arange(12, dtype=np.int16).reshape(3, 4))
    return directory


@settings(max_examples=6, deadline=None)
@given(damage=DAMAGE)
def test_tfrecords_are_read_or_refused_by_the_file_s_name(damage, whole_files, tmp_path_factory):
    path = _damaged(whole_files / "records", damage, tmp_path_factory)
    spec = {"x": tf.io.FixedLenFeature([], tf.int64)}
    _batches_or_its_name(lambda: tfrecords(str(path), spec, batch_size=2, num_epochs=1), path)


@settings(max_examples=200, deadline=None)
@given(damage=DAMAGE)
def test_idx_file_is_read_or_refused_by_its_name(damage, whole_files, tmp_path_factory):
    path = _damaged(whole_files / "idx", damage, tmp_path_factory)
    said = _refused(lambda: read_idx(path), ValueError)
    assert said is None or str(path) in said


def _damaged(whole, damage, tmp_path_factory):
    """Returns a copy of a file with a change at some place."""
    kind, place, more = damage
    path = tmp_path_factory.mktemp("damaged") / whole.name
    content = whole.read_bytes()
    place %= len(content)
    rest = {"cut": b"", "flip": bytes([content[place] ^ 0xFF]) + content[place + 1 :]}
    path.write_bytes(content[:place] + rest.get(kind, more + content[place:]))
    return path


def _batches_or_its_name(make, path):
    said = _refused(lambda: list(make()), (ValueError, tf.errors.InvalidArgumentError))
    assert said is None or str(path) in said


def _read_or_refuse(read, *names):
    """Reads; an error must contain one of the names."""
    said = _refused(read, (ValueError, TypeError))
    assert said is None or any(name in said for name in names), said


def _refused(read, errors):
    """Returns the message of the error for a damaged input; None if it can be read."""
    try:
        read()
    except errors as error:
        return str(error)
    return None


def test_the_roles_equal_the_documented_table():
    config = {"cluster": {"chief": ["a:1"], "ps": ["b:2"]}, "task": {"type": "ps", "index": 0}}
    assert cluster_from_tf_config(json.dumps(config)).num_ps == 1
    with pytest.raises(ValueError, match="JSON"):
        cluster_from_tf_config("{")
