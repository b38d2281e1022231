"""tf.train.replica_device_setter: variables go to the parameter servers in turn, all else to the worker."""

from __future__ import annotations

from stillflow.graph.device import DeviceSpec
from stillflow.names import public
from stillflow.training.cluster import ClusterSpec

# What goes to parameter servers unless a program says otherwise.
STANDARD_PS_OPS = public("python.training.device_setter.STANDARD_PS_OPS")((
    "Variable", "VariableV2", "AutoReloadVariable", "MutableHashTable", "MutableHashTableV2",
    "MutableHashTableOfTensors", "MutableHashTableOfTensorsV2", "MutableDenseHashTable", "MutableDenseHashTableV2",
    "VarHandleOp", "BoostedTreesEnsembleResourceHandleOp", "BoostedTreesQuantileStreamResourceHandleOp",
    "ResourceConditionalAccumulator",
))  # fmt: skip


@public("python.training.device_setter._RoundRobinStrategy")
class RoundRobinStrategy:
    """The tasks 0 to `num_tasks` - 1 in turn, whatever the node."""

    def __init__(self, num_tasks):
        self._num_tasks = num_tasks
        self._next_task = 0

    def __call__(self, unused_op):
        task = self._next_task
        self._next_task = (task + 1) % self._num_tasks
        return task


@public("train.replica_device_setter")
def replica_device_setter(
    ps_tasks=0, ps_device="/job:ps", worker_device="/job:worker", merge_devices=True, cluster=None, ps_ops=None,
    ps_strategy=None,
):  # fmt: skip
    """A function for `tf.device` that assigns variables to parameter servers; None if there are none.

    Args:
      ps_tasks: how many tasks the parameter servers' job has; `cluster` says it better.
      ps_device: the device of the parameter servers.
      worker_device: the device of everything else.
      merge_devices: whether what a node says of its device is kept and completed; otherwise it is just kept.
      cluster: a ClusterSpec, or what one is made of.
      ps_ops: the types of the nodes that go to parameter servers; by default variables and tables.
      ps_strategy: a function from such a node to the number of a task; by default the tasks take turns.

    Raises TypeError for a cluster that is none, and a strategy that is no function.
    """
    if cluster is not None:
        jobs = (cluster if isinstance(cluster, ClusterSpec) else ClusterSpec(cluster)).as_dict()
        ps_job = DeviceSpec.from_string(ps_device).job
        if jobs.get(ps_job) is None:
            return None
        ps_tasks = len(jobs[ps_job])
    if ps_tasks == 0:
        return None
    if not merge_devices:
        from stillflow.platform import logging

        logging.warning("DEPRECATION: It is recommended to set merge_devices=true in replica_device_setter")
    if ps_strategy is None:
        ps_strategy = RoundRobinStrategy(ps_tasks)
    if not callable(ps_strategy):
        raise TypeError("ps_strategy must be callable")
    ps_ops = frozenset(STANDARD_PS_OPS if ps_ops is None else ps_ops)

    def device_function(op):
        """The device of an Operation or NodeDef."""
        if not merge_devices and op.device:
            return op.device
        current = DeviceSpec.from_string(op.device or "")
        kind = op.type if hasattr(op, "type") else op.op
        if not ps_device or kind not in ps_ops:
            return current.merged_under(DeviceSpec.from_string(worker_device or "")).to_string()
        ps = DeviceSpec.from_string(ps_device)
        if ps.job and current.job in (None, ps.job):
            ps = ps._replace(task=ps_strategy(op))
        return current.merged_under(ps).to_string()

    return device_function
