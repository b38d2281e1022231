"""ReplicaContext: one replica's part of a strategy's program."""

from __future__ import annotations

from stillflow.distribute import checks
from stillflow.graph import replica_modes as modes
from stillflow.names import public


@public("distribute.ReplicaContext", "contrib.distribute.ReplicaContext")
class ReplicaContext:
    """One replica's part of a program; `with context:` builds it.

    Args:
      strategy: the Strategy.
      replica_id_in_sync_group: the replica's number, an int32 scalar.
    """

    def __init__(self, strategy, replica_id_in_sync_group):
        self._strategy = strategy
        self._replica_id_in_sync_group = replica_id_in_sync_group
        self._mode = modes.Mode(strategy, self)

    def __enter__(self):
        modes.push(self._mode)

    def __exit__(self, *exception):
        modes.pop()

    @property
    def strategy(self):
        """The Strategy."""
        return self._strategy

    @property
    def num_replicas_in_sync(self):
        """How many replicas there are."""
        return self._strategy.num_replicas_in_sync

    @property
    def replica_id_in_sync_group(self):
        """The replica's number. Raises RuntimeError where another's program is being built."""
        checks.require_replica_context(self)
        return self._replica_id_in_sync_group

    @property
    def devices(self):
        """The devices of the replica."""
        checks.require_replica_context(self)
        return self._strategy.extended.worker_devices

    def merge_call(self, merge_fn, args=(), kwargs=None):
        """What `merge_fn(strategy, *args, **kwargs)` returns, called for all replicas together.

        Raises RuntimeError where another replica's program is being built.
        """
        checks.require_replica_context(self)
        modes.push(modes.Mode(self._strategy, None))
        try:
            return merge_fn(self._strategy, *args, **(kwargs or {}))
        finally:
            modes.pop()

    def all_reduce(self, reduce_op, value):
        """The sum or mean of all replicas' values, of a tensor or a structure of them: of one replica its own."""
        return self.merge_call(lambda strategy: strategy.extended.reduce_to(reduce_op, value, None))
