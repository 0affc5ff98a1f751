"""The task of a process in a cluster, as its RunConfig shows it."""

import tensorflow as tf

from estimator_train.cluster import Cluster, Jobs
from estimator_train.run_config.settings import ReadOnly


class ClusterTask:
    """The attributes of a RunConfig that tell a process its task in the cluster."""

    service = ReadOnly("Settings of the platform in TF_CONFIG, or None.")
    cluster_spec = ReadOnly("The cluster, a tf.train.ClusterSpec.")
    task_type = ReadOnly("Name of this process's job in the cluster.")
    task_id = ReadOnly("Index of this process in its job.")
    global_id_in_cluster = ReadOnly("Number of this task among all; None for an evaluator.")
    master = ReadOnly("Address that sessions of training connect to.")
    evaluation_master = ReadOnly("Address that sessions of evaluation connect to.")
    is_chief = ReadOnly("Whether this task saves checkpoints and summaries.")
    num_ps_replicas = ReadOnly("Number of parameter servers.")
    num_worker_replicas = ReadOnly("Number of workers and chief.")
    device_filters = ReadOnly("Devices that sessions may see; empty: all.")

    def _take_task(self, cluster: Cluster, jobs: Jobs) -> None:
        """Fills in all but `service`.

        Args:
          cluster: The cluster and the task.
          jobs: The jobs to show in `cluster_spec`.
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
