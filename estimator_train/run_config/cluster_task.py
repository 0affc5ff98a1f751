"""The task of a process in a cluster, as its RunConfig shows it."""

import tensorflow as tf

from estimator_train.cluster import Cluster, Jobs
from estimator_train.run_config.settings import ReadOnly


class ClusterTask:
    """Attributes of a RunConfig that describe the task of this process in the cluster."""

    service = ReadOnly["dict[str, object] | None"]("Platform settings in TF_CONFIG, or None.")
    cluster_spec = ReadOnly[tf.train.ClusterSpec]("The cluster, a tf.train.ClusterSpec.")
    task_type = ReadOnly[str]("Name of this process's job in the cluster.")
    task_id = ReadOnly[int]("Index of this process in its job.")
    global_id_in_cluster = ReadOnly["int | None"](
        "Index of this task among all tasks of the cluster; None for an evaluator."
    )
    master = ReadOnly[str]("Address that sessions of training connect to.")
    evaluation_master = ReadOnly[str]("Address that sessions of evaluation connect to.")
    is_chief = ReadOnly[bool]("Whether this task saves checkpoints and summaries.")
    num_ps_replicas = ReadOnly[int]("Number of parameter servers.")
    num_worker_replicas = ReadOnly[int]("Number of workers, the chief included.")
    device_filters = ReadOnly["tuple[str, ...]"]("Devices that sessions may see; empty: all.")

    def _set_task(self, cluster: Cluster, jobs: Jobs) -> None:
        """Stores all attributes but `service`.

        Args:
          cluster: The cluster and the task.
          jobs: The jobs that `cluster_spec` shows.
        """
        self._cluster_spec = tf.train.ClusterSpec(dict(jobs))
        self._task_type = cluster.task_type
        self._task_id = cluster.task_id
        self._global_id_in_cluster = cluster.global_id
        self._master = cluster.master
        self._evaluation_master = cluster.evaluation_master
        self._is_chief = cluster.is_chief
        self._num_ps_replicas = cluster.num_ps
        self._num_worker_replicas = cluster.num_workers
        self._device_filters = cluster.device_filters
