"""Questions about tf.contrib.cluster_resolver."""

import os

import tensorflow as tf
from asking import main, question


@question
def simple_resolver():
    resolver = tf.contrib.cluster_resolver
    made = resolver.SimpleClusterResolver(tf.train.ClusterSpec({"worker": ["a:1", "b:2"]}))
    return {
        "spec": repr(made.cluster_spec().as_dict()),
        "master": [made.master(), made.master("worker", 1), made.master("worker", 0)],
        "tasks": [repr(made.task_type), repr(made.task_id), repr(made.environment)],
    }


@question
def resolver_of_environment():
    os.environ["TF_CONFIG"] = (
        '{"cluster": {"worker": ["a:1", "b:2"]}, "task": {"type": "worker", "index": 1}}'
    )
    try:
        made = tf.contrib.cluster_resolver.TFConfigClusterResolver()
        return {
            "spec": repr(made.cluster_spec().as_dict()),
            "task": repr((made.task_type, made.task_id)),
            "master": [made.master(), made.master("worker", 0)],
        }
    finally:
        del os.environ["TF_CONFIG"]


@question
def union_of_resolvers():
    resolver = tf.contrib.cluster_resolver
    simple = [
        resolver.SimpleClusterResolver(tf.train.ClusterSpec({"worker": [one]})) for one in "ab"
    ]
    made = resolver.UnionClusterResolver(*simple)
    return {"spec": repr(made.cluster_spec().as_dict()), "master": made.master()}


if __name__ == "__main__":
    main()
