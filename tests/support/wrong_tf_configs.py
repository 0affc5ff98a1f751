"""Mistakes in TF_CONFIG, and their error messages."""

from __future__ import annotations

import json
from typing import Any

CLUSTER = {"chief": ["c:1"], "worker": ["w:1", "w:2"], "ps": ["p:1"]}
CHIEF = {"type": "chief", "index": 0}


_MISTAKES: list[tuple[Any, str]] = [
    ("{", "not valid JSON"),
    ("[]", "must be a JSON object"),
    ({"cluster": 3, "task": CHIEF}, "`cluster` must be a dictionary"),
    ({"cluster": {"chief": "c:1"}, "task": CHIEF}, "must be a list or a dictionary"),
    ({"cluster": {"chief": [1]}, "task": CHIEF}, "Task address 1 must be"),
    ({"cluster": {"chief": {"a": "c:1"}}, "task": CHIEF}, "index in TF_CONFIG must be an int"),
    ({"cluster": {"chief": []}, "task": CHIEF}, 'must have one "chief" node'),
    ({"cluster": {"chief": ["a:1", "a:2"]}, "task": CHIEF}, 'only one "chief" node'),
    ({"cluster": {"master": ["a:1"], "chief": ["a:2"]}, "task": CHIEF}, "job `chief` is not"),
    ({"cluster": {"worker": ["a:1"]}, "task": CHIEF}, 'must have one "chief" node'),
    ({"cluster": CLUSTER}, "task type must be set"),
    ({"cluster": CLUSTER, "task": []}, "task type must be set"),
    ({"cluster": CLUSTER, "task": [1]}, '"task" in TF_CONFIG must be a dict'),
    ({"cluster": CLUSTER, "task": {"type": "chief"}}, "task index must be set"),
    ({"cluster": CLUSTER, "task": {"type": "boss", "index": 0}}, "boss is not a valid"),
    ({"cluster": CLUSTER, "task": {"type": "worker", "index": 2}}, "2 is not a valid task_id"),
    ({"cluster": CLUSTER, "task": {"type": "worker", "index": -1}}, "non-negative"),
    ({"cluster": CLUSTER, "task": {"type": "worker", "index": "x"}}, "must be an integer"),
    ({"task": {"type": "ps", "index": 0}}, "task type must be WORKER"),
    ({"cluster": CLUSTER, "task": CHIEF, "service": 3}, "must be a dict"),
    ({"cluster": CLUSTER, "task": CHIEF, "model_dir": ""}, "should be non-empty"),
]
# The text of TF_CONFIG, and a pattern of the message.
MISTAKES = [(c if isinstance(c, str) else json.dumps(c), text) for c, text in _MISTAKES]

# Mistakes that only a server of the cluster notices.
ADDRESS_MISTAKES = [
    (json.dumps({"cluster": cluster, "task": CHIEF}), text)
    for cluster, text in [
        ({"chief": ["c:1"], "ps": ["c:1"]}, "chief 0 and ps 0 have the same address"),
        ({"chief": ["c"], "ps": ["p:1"]}, "address of chief 0 .* must be host:port, given: 'c'"),
        ({"chief": ["c:99999"], "ps": ["p:1"]}, "must be host:port"),
        ({"chief": ["c:1"], "ps": [""]}, "address of ps 0 .* must be host:port, given: ''"),
    ]
]
