"""Addresses of the tasks of a Slurm job step, from the variables that srun sets.

`srun` sets SLURM_STEP_* for its tasks. A batch script has other variables of Slurm, but none of
these: it is one process, whatever SLURM_NTASKS says. Tried with Slurm 22.05.8.
"""

from __future__ import annotations

import itertools
import re
import warnings

from estimator_train.cluster.variables import Variables, read_number, require

# Below the ports that Linux gives to outgoing connections (32768 and above).
_PORTS = range(10_000, 32_000)
_LAST_PORT = 65535
_PORTS_OF_STEP = 32
# Steps of one job are this many blocks of ports apart.
_STEP_STRIDE = 97
_RANGES = r"\d+(?:-\d+)?(?:,\d+(?:-\d+)?)*"
_NODE_ITEM = re.compile(rf"(?:[^,\[\]\s]|\[{_RANGES}\])+")
_NODE_LIST = re.compile(rf"{_NODE_ITEM.pattern}(?:,{_NODE_ITEM.pattern})*")
_NODES_ADVICE = "`scontrol show hostnames` prints the nodes of a list; set TF_CONFIG from them."


def list_addresses(variables: Variables) -> list[str]:
    """Returns "host:port" of each task of the step, by rank; an empty list outside of a step.

    A step of one task is no cluster. The ports are those that `srun --resv-ports` reserved, or
    follow from the numbers of the job and the step.

    Args:
      variables: The environment variables.

    Raises:
      ValueError: A variable is missing or wrong, or the tasks have an order that cannot be known.
    """
    if "SLURM_STEP_NUM_TASKS" not in variables:
        _warn_without_srun(variables)
        return []
    size = read_number(variables, "SLURM_STEP_NUM_TASKS")
    if size <= 1:
        return []
    nodes = _expand_nodes(require(variables, "SLURM_STEP_NODELIST"), size)
    counts = _expand_counts(require(variables, "SLURM_STEP_TASKS_PER_NODE"), size)
    if len(nodes) != len(counts):
        raise ValueError(
            f"Slurm names {len(nodes)} nodes ({', '.join(nodes)}) and counts tasks on "
            f"{len(counts)}: SLURM_STEP_NODELIST and SLURM_STEP_TASKS_PER_NODE do not agree."
        )
    hosts = _order_by_rank(nodes, counts, variables)
    _check_own_node(hosts, variables)
    ports = _choose_ports(variables, max(counts))
    seen: dict[str, int] = {}
    addresses = []
    for host in hosts:
        local = seen[host] = seen.get(host, -1) + 1
        addresses.append(f"{host}:{ports[local]}")
    return addresses


def _warn_without_srun(variables: Variables) -> None:
    tasks = read_number(variables, "SLURM_NTASKS", "1") if "SLURM_PROCID" in variables else 1
    if tasks > 1:
        warnings.warn(
            f"This process of a Slurm job of {tasks} tasks was started without srun, so it trains "
            "alone. Start it with `srun` to train in a cluster.",
            RuntimeWarning,
            stacklevel=2,
        )


def _order_by_rank(nodes: list[str], counts: list[int], variables: Variables) -> list[str]:
    """Returns the node of each task by rank: in blocks, or in turns for `srun -m cyclic`."""
    if variables.get("SLURM_DISTRIBUTION", "").partition(":")[0] == "cyclic":
        turns = itertools.zip_longest(
            *([node] * count for node, count in zip(nodes, counts, strict=True))
        )
        return [node for turn in turns for node in turn if node is not None]
    return [node for node, count in zip(nodes, counts, strict=True) for _ in range(count)]


def _check_own_node(hosts: list[str], variables: Variables) -> None:
    """Raises ValueError if this task does not run where the order of ranks places it."""
    distribution = variables.get("SLURM_DISTRIBUTION", "block").partition(":")[0]
    rank = read_number(variables, "SLURM_PROCID")
    node = variables.get("SLURMD_NODENAME", "")
    is_elsewhere = bool(node) and rank < len(hosts) and hosts[rank] != node
    # All tasks must fail alike: some may run where the wrong order places them.
    if is_elsewhere or re.match("plane|arbitrary", distribution):
        raise ValueError(
            f"Slurm distributes tasks over nodes by '{distribution}', and rank {rank} runs on "
            f"{node or 'an unknown node'}: the addresses of the other tasks are not known. Use "
            "srun --distribution=block or cyclic, or set TF_CONFIG."
        )


def _choose_ports(variables: Variables, count: int) -> list[int]:
    """Returns the ports of the tasks on one node, by their order there.

    Steps of neighbouring jobs, as those of a job array, and steps of one job have no port in
    common. A server checks that its port is free.

    Args:
      variables: The environment variables.
      count: Largest number of tasks on a node.
    """
    if reserved := variables.get("SLURM_STEP_RESV_PORTS", ""):
        if not re.fullmatch(_RANGES, reserved):
            raise ValueError(
                f"SLURM_STEP_RESV_PORTS should look like 12000-12003, given: {reserved}"
            )
        ports = [int(port) for port in _expand_ranges(reserved, _LAST_PORT)]
        if max(ports, default=0) > _LAST_PORT:
            raise ValueError(f"SLURM_STEP_RESV_PORTS={reserved}: the last port is {_LAST_PORT}.")
        if len(ports) < count:
            raise ValueError(
                f"SLURM_STEP_RESV_PORTS={reserved} reserves {len(ports)} ports for {count} tasks "
                f"on a node: give srun --resv-ports={count}."
            )
        return ports
    blocks = -(-count // _PORTS_OF_STEP)
    available = len(_PORTS) // _PORTS_OF_STEP - blocks + 1
    if available < 1:
        raise ValueError(
            f"A Slurm step has {count} tasks on a node, more than there are ports in "
            f"{_PORTS.start} to {_PORTS.stop}: start fewer, or give srun --resv-ports={count}."
        )
    job = read_number(variables, "SLURM_JOB_ID")
    step = read_number(variables, "SLURM_STEP_ID", "0")
    block = (job * blocks + step * _STEP_STRIDE) % available
    first = _PORTS.start + block * _PORTS_OF_STEP
    return list(range(first, first + count))


def _expand_nodes(nodes: str, size: int) -> list[str]:
    """Returns the node names of a Slurm list such as "a[1-2,07],b3" or "rack[1-2]node[1-2]".

    Args:
      nodes: The list.
      size: Number of tasks, and largest number of nodes.
    """
    if not _NODE_LIST.fullmatch(nodes):
        raise ValueError(
            f"SLURM_STEP_NODELIST should look like a[1-2,7],b3, given: {nodes}. {_NODES_ADVICE}"
        )
    found: list[str] = []
    for item in _NODE_ITEM.findall(nodes):
        pieces = re.split(r"\[(.*?)\]", item)  # Names at even places, ranges at odd ones.
        choices = [
            _expand_ranges(piece, size) if place % 2 else [piece]
            for place, piece in enumerate(pieces)
        ]
        names = map("".join, itertools.product(*choices))
        found += itertools.islice(names, size + 1 - len(found))
    if not 0 < len(found) <= size:
        raise ValueError(
            f"SLURM_STEP_NODELIST={nodes} names {'more' if found else 'no'} nodes for the {size} "
            f"tasks of SLURM_STEP_NUM_TASKS. {_NODES_ADVICE}"
        )
    return found


def _expand_ranges(ranges: str, limit: int) -> list[str]:
    """Returns the numbers of ranges such as "08-10,12", with their leading zeros.

    Args:
      ranges: The ranges.
      limit: At most one number more than this is returned, whatever the ranges contain.
    """
    found: list[str] = []
    for part in ranges.split(","):
        first, _, last = part.partition("-")
        numbers = range(int(first), int(last or first) + 1)
        names = (f"{number:0{len(first)}d}" for number in numbers)
        found += itertools.islice(names, limit + 1 - len(found))
    return found


def _expand_counts(counts: str, size: int) -> list[int]:
    """Returns the numbers of a Slurm list such as "2(x3),1"; their sum must be `size`."""
    found: list[int] = []
    for part in counts.split(","):
        match = re.fullmatch(r"(\d+)(?:\(x(\d+)\))?", part)
        if match is None:
            raise ValueError(f"SLURM_STEP_TASKS_PER_NODE should look like 2(x3),1, given: {counts}")
        found += [int(match[1])] * min(int(match[2] or 1), size + 1 - len(found))
    if sum(found) != size or 0 in found:
        raise ValueError(
            f"SLURM_STEP_TASKS_PER_NODE={counts} does not count the {size} tasks of "
            "SLURM_STEP_NUM_TASKS. Both are variables of srun: leave them as it sets them."
        )
    return found
