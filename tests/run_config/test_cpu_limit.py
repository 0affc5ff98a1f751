"""CPU limits of control groups, from the contents of their files."""

import pytest
import tensorflow as tf

from estimator_train.run_config import setting_values
from estimator_train.run_config.setting_values import count_usable_threads, read_cpu_limit

V2 = "/sys/fs/cgroup"
V1 = "/sys/fs/cgroup/cpu,cpuacct"


def files_v1(place, quota, period="100000\n"):
    return {
        "/proc/self/cgroup": "12:memory:/docker/a\n4:cpu,cpuacct:/docker/a\n0::/\n",
        f"{place}/cpu.cfs_quota_us": f"{quota}\n",
        f"{place}/cpu.cfs_period_us": period,
    }


def test_the_limit_of_a_cgroup_v2_container_is_read():
    files = {"/proc/self/cgroup": "0::/\n", f"{V2}/cpu.max": "150000 100000\n"}
    assert read_cpu_limit(files.get) == 1.5


def test_the_smallest_limit_of_all_parent_groups_counts():
    files = {
        "/proc/self/cgroup": "0::/kubepods.slice/pod1/main\n",
        f"{V2}/kubepods.slice/pod1/main/cpu.max": "max 100000\n",
        f"{V2}/kubepods.slice/pod1/cpu.max": "50000 25000\n",
        f"{V2}/kubepods.slice/cpu.max": "6400000 100000\n",
    }
    assert read_cpu_limit(files.get) == 2.0


@pytest.mark.parametrize("place", [f"{V1}/docker/a", V1, "/sys/fs/cgroup/cpu"])
def test_the_limit_of_a_cgroup_v1_container_is_read(place):
    assert read_cpu_limit(files_v1(place, 400000).get) == 4.0


@pytest.mark.parametrize(
    "files",
    [
        {},
        {"/proc/self/cgroup": ""},
        {"/proc/self/cgroup": "0::/\n", f"{V2}/cpu.max": "max 100000\n"},
        {"/proc/self/cgroup": "0::/\n", f"{V2}/cpu.max": "what\n"},
        {"/proc/self/cgroup": "3:memory:/a\n", f"{V2}/memory/a/cpu.cfs_quota_us": "1000"},
        files_v1(V1, -1),
        files_v1(V1, 100000, ""),
    ],
)
def test_no_limit_is_none(files):
    assert read_cpu_limit(files.get) is None


@pytest.mark.parametrize(
    ("quota", "cpus", "threads"), [(0.3, 8, 1), (2.5, 8, 3), (8.0, 8, None), (None, 8, None)]
)
def test_threads_follow_a_limit_below_the_machines_cores(quota, cpus, threads, monkeypatch):
    monkeypatch.setattr(setting_values, "read_cpu_limit", lambda read: quota)
    monkeypatch.setattr(setting_values, "_count_cpus", lambda: cpus)
    assert count_usable_threads() == threads


def test_sessions_use_that_many_threads_by_default(monkeypatch):
    monkeypatch.setattr(setting_values, "count_usable_threads", lambda: 2)
    own = tf.compat.v1.ConfigProto(intra_op_parallelism_threads=5)
    config = setting_values.limit_threads(own)
    assert config.intra_op_parallelism_threads == 5
    assert config.inter_op_parallelism_threads == 2
    assert own.inter_op_parallelism_threads == 0


def test_sessions_do_not_use_more_threads_than_restores_can_start(monkeypatch):
    monkeypatch.setattr(setting_values, "count_usable_threads", lambda: None)
    allowed = setting_values._MAX_INTRA_OP_THREADS
    asked = {"intra_op_parallelism_threads": allowed, "inter_op_parallelism_threads": 1024}
    same = tf.compat.v1.ConfigProto(**asked)
    assert setting_values.limit_threads(same) == same
    more = tf.compat.v1.ConfigProto(**{**asked, "intra_op_parallelism_threads": 1024})
    assert setting_values.limit_threads(more) == same
    assert more.intra_op_parallelism_threads == 1024
