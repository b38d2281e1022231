"""How the values of replicas are put together, and what an input function is told."""

from __future__ import annotations

import enum

from stillflow.names import public


@public("distribute.ReduceOp")
class ReduceOp(enum.Enum):
    """How the values of replicas become one."""

    SUM = "SUM"
    MEAN = "MEAN"


def as_reduce_op(reduce_op):
    """A ReduceOp, which may be given by its name. Raises ValueError for other names."""
    return ReduceOp(reduce_op.upper()) if isinstance(reduce_op, str) else reduce_op


@public("distribute.InputReplicationMode")
class InputReplicationMode(enum.Enum):
    """How often an input function is called: once for each worker."""

    PER_WORKER = "PER_WORKER"


@public("distribute.InputContext")
class InputContext:
    """What an input function is told: which of how many input pipelines it makes, for how many replicas."""

    def __init__(self, num_input_pipelines=1, input_pipeline_id=0, num_replicas_in_sync=1):
        self._num_input_pipelines = num_input_pipelines
        self._input_pipeline_id = input_pipeline_id
        self._num_replicas_in_sync = num_replicas_in_sync

    @property
    def num_input_pipelines(self):
        """How many pipelines there are."""
        return self._num_input_pipelines

    @property
    def input_pipeline_id(self):
        """Which one this is."""
        return self._input_pipeline_id

    @property
    def num_replicas_in_sync(self):
        """How many replicas train together."""
        return self._num_replicas_in_sync

    def get_per_replica_batch_size(self, global_batch_size):
        """A replica's share of a batch. Raises ValueError if there is a remainder."""
        if global_batch_size % self._num_replicas_in_sync != 0:
            raise ValueError(
                f"The `global_batch_size` {global_batch_size!r} is not divisible by "
                f"`num_replicas_in_sync` {self._num_replicas_in_sync!r} "
            )
        return global_batch_size // self._num_replicas_in_sync
