"""Questions about tf.contrib.distribute."""

import tensorflow as tf
from asking import main, question, signature

distribute = tf.contrib.distribute


def described_in(strategy):
    """Returns the replicas of a strategy, and which context the parts of a program are in."""
    seen = {}

    def replica():
        seen["in a replica"] = [
            distribute.get_replica_context() is None,
            distribute.get_cross_replica_context() is None,
            distribute.in_cross_replica_context(),
            distribute.get_strategy() is strategy,
            distribute.get_distribution_strategy() is strategy,
        ]
        seen["loss"] = distribute.get_loss_reduction().name
        return tf.constant(2.0) * 3.0

    with strategy.scope():
        seen["in its scope"] = [
            distribute.get_replica_context() is None,
            distribute.get_cross_replica_context() is strategy,
            distribute.in_cross_replica_context(),
            distribute.has_strategy(),
            distribute.has_distribution_strategy(),
        ]
        found = strategy.extended.call_for_each_replica(replica)
        total = strategy.reduce("SUM", found, axis=None)
    return dict(seen, replicas=strategy.num_replicas_in_sync, total=total)


@question
def one_device():
    return described_in(distribute.OneDeviceStrategy("/cpu:0"))


@question
def mirrored_on_devices():
    return described_in(distribute.MirroredStrategy(devices=["/cpu:0"]))


@question
def mirrored_of_no_gpus():
    return described_in(distribute.MirroredStrategy(num_gpus=0))


@question
def mirrored_with_devices_by_place():
    return described_in(distribute.MirroredStrategy(["/cpu:0"], None, None, None, True))


@question
def outside_of_any():
    return {
        "has": [distribute.has_strategy(), distribute.has_distribution_strategy()],
        "cross": distribute.get_cross_replica_context() is None,
        "in": distribute.in_cross_replica_context(),
        "replica": distribute.get_replica_context().replica_id_in_sync_group,
        "replicas": distribute.get_strategy().num_replicas_in_sync,
        "loss": distribute.get_loss_reduction().name,
    }


@question
def mirrored_of_two_counts():
    return distribute.MirroredStrategy(num_gpus=1, num_gpus_per_worker=1)


@question
def mirrored_of_devices_and_a_count():
    return distribute.MirroredStrategy(devices=["/cpu:0"], num_gpus=1)


@question
def mirrored_of_two_cross_device_ops():
    ops = tf.distribute.ReductionToOneDevice()
    try:
        distribute.MirroredStrategy(["/cpu:0"], cross_device_ops=ops, cross_tower_ops=ops)
    except (AssertionError, ValueError):
        return {"refused": True}


@question
def mirrored_by_an_unknown_argument():
    try:
        return distribute.MirroredStrategy(num_gpu=1)
    except TypeError as error:
        return {"unexpected": "unexpected keyword argument 'num_gpu'" in str(error)}


@question
def all_reduce():
    ops = [
        distribute.AllReduceCrossDeviceOps(),
        distribute.AllReduceCrossDeviceOps("hierarchical_copy", num_packs=2),
        distribute.AllReduceCrossDeviceOps("nccl", 1, 0, 10),
    ]
    totals = [
        described_in(distribute.MirroredStrategy(["/cpu:0"], cross_device_ops=one))["total"]
        for one in ops[:1]
    ]
    return {"are": [isinstance(one, distribute.CrossDeviceOps) for one in ops], "total": totals[0]}


@question
def signatures():
    return {
        name: signature(getattr(distribute, name))
        for name in (
            "AllReduceCrossDeviceOps",
            "MirroredStrategy",
            "OneDeviceStrategy",
            "ParameterServerStrategy",
        )
    }


@question
def workers_in_step():
    strategy = distribute.CollectiveAllReduceStrategy(num_gpus_per_worker=0)
    return described_in(strategy)


@question
def parameter_servers():
    strategy = distribute.ParameterServerStrategy(num_gpus_per_worker=0)
    return {
        "replicas": strategy.num_replicas_in_sync,
        "kind": isinstance(strategy, distribute.DistributionStrategy),
    }


@question
def kinds():
    return {
        "strategy": isinstance(
            distribute.MirroredStrategy(["/cpu:0"]), distribute.DistributionStrategy
        ),
        "one": isinstance(distribute.OneDeviceStrategy("/cpu:0"), distribute.OneDeviceStrategy),
        "mirrored": isinstance(
            distribute.MirroredStrategy(["/cpu:0"]), distribute.MirroredStrategy
        ),
    }


@question
def distribute_config():
    strategy = distribute.OneDeviceStrategy("/cpu:0")
    config = distribute.DistributeConfig(strategy, eval_distribute=strategy)
    return {
        "train": config.train_distribute is strategy,
        "eval": config.eval_distribute is strategy,
        "remote": str(config.remote_cluster),
    }


if __name__ == "__main__":
    main()
