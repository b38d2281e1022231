"""The strategy in force outside of all scopes: it leaves everything as it is."""

from __future__ import annotations

from stillflow.distribute.replica import ReplicaContext
from stillflow.distribute.strategy import Strategy, StrategyExtended
from stillflow.graph import replica_modes as modes
from stillflow.graph.contexts import colocate_with
from stillflow.names import public


@public("python.distribute.distribute_lib._DefaultDistributionStrategy")
class _Undistributed(Strategy):
    """What get_strategy() returns outside of all scopes. There is but one, which is not copied."""

    _does_nothing = True

    def __init__(self):
        super().__init__(_UndistributedExtended(self))

    def __deepcopy__(self, memo):
        raise RuntimeError("Should only create a single instance of _DefaultDistributionStrategy")


class _UndistributedExtended(StrategyExtended):
    def _scope(self, strategy):
        return _NoScope(strategy)

    def _call_for_each_replica(self, fn, args, kwargs):
        with ReplicaContext(self._container_strategy(), 0):
            return fn(*args, **kwargs)

    def colocate_vars_with(self, colocate_with_variable):
        return colocate_with(colocate_with_variable)

    def variable_created_in_scope(self, v):
        return True

    @property
    def worker_devices(self):
        raise RuntimeError("worker_devices() method unsupported by default tf.distribute.Strategy.")

    @property
    def parameter_devices(self):
        raise RuntimeError("parameter_devices() method unsupported by default tf.distribute.Strategy.")

    def non_slot_devices(self, var_list):
        return min(var_list, key=lambda variable: variable.name)


class _NoScope:
    def __init__(self, strategy):
        self._strategy = strategy

    def __enter__(self):
        if modes.is_distributed():
            raise RuntimeError("Must not nest tf.distribute.Strategy scopes.")
        return self._strategy

    def __exit__(self, *exception):
        pass


STRATEGY = _Undistributed()
REPLICA_CONTEXT = ReplicaContext(STRATEGY, 0)


@public("python.distribute.distribution_strategy_context._get_default_strategy")
def get_default_strategy():
    """The strategy in force outside of all scopes."""
    return STRATEGY
