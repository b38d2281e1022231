"""Ops on resources of the same device that are run as one, so that a parameter server is asked once."""

from __future__ import annotations

import abc
import collections

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.graph.contexts import device
from stillflow.graph.operation import Operation
from stillflow.names import public
from stillflow.ops.array.constant import constant


@public("contrib.boosted_trees.python.ops.batch_ops_utils.ScheduledOp")
class ScheduledOp(abc.ABC):
    """An operation that runs together with others of the same key."""

    @abc.abstractmethod
    def batching_key(self):
        """What it shares with those that it may run with."""

    @abc.abstractmethod
    def batch_runner_fn(self):
        """A function of a list of them and a stamp that runs them."""


@public("contrib.boosted_trees.python.ops.batch_ops_utils.ScheduledStampedResourceOp")
class ScheduledStampedResourceOp(ScheduledOp):
    """An op on one resource that can be called with several.

    Args:
      resource_handle: the resource.
      op: a function of a list of handles, a stamp, and a list for each argument.
      **kwargs: the arguments.
    """

    def __init__(self, resource_handle, op, **kwargs):
        self.resource_handle = resource_handle
        self.op = op
        self.args = kwargs

    def batching_key(self):
        return self.resource_handle.device, self.op

    def batch_runner_fn(self):
        return _run_stamped


@public("contrib.boosted_trees.python.ops.batch_ops_utils._move_tensors")
def move_tensors(tensors, target):
    """Tensors on another device, where they go as one."""
    zero = constant(0, dtype=dtypes.int32)
    with device(None):
        if all(tensor.shape.rank == 0 for tensor in tensors):
            with device(tensors[0].device):
                values = ops.stack(tensors)
            with device(target):
                return ops.unstack(values)
        with device(tensors[0].device):
            sizes = ops.stack(ops.shape_n(tensors))[:, 0]
            values = ops.concat(tensors, axis=zero)
        with device(target):
            sizes = ops.unstack(sizes)
            return list(ops.split(values, sizes, axis=zero))


def _run_stamped(batch, stamp):
    """Runs ScheduledStampedResourceOps that have the same op. Raises ValueError for different arguments."""
    names = set(batch[0].args)
    for each in batch:
        if set(each.args) != names:
            raise ValueError("Mismatching arguments: %s, %s.", each.args, names)
    handles = [each.resource_handle for each in batch]
    arguments = {name: move_tensors([each.args[name] for each in batch], handles[0].device) for name in sorted(names)}
    with device(handles[0].device):
        return batch[0].op(handles, stamp, **arguments)


@public("contrib.boosted_trees.python.ops.batch_ops_utils.run_handler_scheduled_ops")
def run_handler_scheduled_ops(per_handler_ops, stamp, worker_device):
    """Runs what handlers have scheduled, together what can be.

    Args:
      per_handler_ops: {handler: [ScheduledOp]}.
      stamp: int64.
      worker_device: where results go.

    Returns:
      {handler: [result]}, a tuple of tensors or an operation for each.
    """
    batches: dict = {}
    for scheduled in per_handler_ops.values():
        for each in scheduled:
            batches.setdefault((each.batching_key(), each.batch_runner_fn()), []).append(each)
    results: dict = {}
    for (_, run), batch in batches.items():
        found = run(batch, stamp)
        if isinstance(found, Operation):
            results.update(dict.fromkeys(batch, found))
        elif isinstance(found, tuple):
            moved = tuple(move_tensors(tensors, worker_device) for tensors in found)
            results.update((each, tuple(tensors[i] for tensors in moved)) for i, each in enumerate(batch))
        else:
            raise ValueError("Unknown type of result %s.", found)
    by_handler: dict = collections.defaultdict(list)
    for handler, scheduled in per_handler_ops.items():
        by_handler[handler] += [results[each] for each in scheduled]
    return by_handler
