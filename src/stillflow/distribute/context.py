"""What is in force: tf.distribute.get_strategy and its kin."""

from __future__ import annotations

import contextlib
import weakref

from stillflow.distribute import checks
from stillflow.distribute.undistributed import REPLICA_CONTEXT, STRATEGY
from stillflow.distribute.values import ReduceOp
from stillflow.graph import replica_modes as modes
from stillflow.graph.default_graph import get_default_graph
from stillflow.names import public

# The scopes that were entered for good, of each graph.
_lasting: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()


@public("distribute.get_strategy", "contrib.distribute.get_strategy", "contrib.distribute.get_distribution_strategy")
def get_strategy():
    """The strategy in force; outside of all scopes one that does nothing."""
    mode = modes.current()
    return STRATEGY if mode is modes.OUTSIDE else mode.strategy


@public("distribute.has_strategy", "contrib.distribute.has_strategy", "contrib.distribute.has_distribution_strategy")
def has_strategy():
    """Whether a strategy is in force, other than that which does nothing."""
    return modes.is_distributed()


@public("distribute.get_replica_context", "contrib.distribute.get_replica_context")
def get_replica_context():
    """The ReplicaContext of the replica whose program is being built; None where it is that of all replicas."""
    mode = modes.current()
    return REPLICA_CONTEXT if mode is modes.OUTSIDE else mode.replica_context


@public("contrib.distribute.get_cross_replica_context")
def get_cross_replica_context():
    """The strategy, where a program of all its replicas is being built; else None."""
    mode = modes.current()
    return mode.strategy if mode.replica_context is None else None


@public("distribute.in_cross_replica_context", "contrib.distribute.in_cross_replica_context")
def in_cross_replica_context():
    """Whether a program of all replicas is being built."""
    return get_cross_replica_context() is not None


@public("distribute.experimental_set_strategy")
def experimental_set_strategy(strategy):
    """Enters the scope of a strategy for good, in the default graph; None leaves it again.

    Raises RuntimeError inside of a strategy's scope.
    """
    graph = get_default_graph()
    old = _lasting.pop(graph, None)
    if old is not None:
        old.__exit__(None, None, None)
    if has_strategy():
        raise RuntimeError("Must not be called inside a `tf.distribute.Strategy` scope.")
    if strategy is not None:
        scope = strategy.scope()
        scope.__enter__()
        _lasting[graph] = scope


def scope_of(strategy):
    """The scope of a strategy, or for None a context that does nothing."""
    return contextlib.nullcontext() if strategy is None else strategy.scope()


@public("distribute.get_loss_reduction", "contrib.distribute.get_loss_reduction")
def get_loss_reduction():
    """How the losses of replicas become one: a sum. An Estimator's mean is that of one replica."""
    return ReduceOp.SUM


@public("contrib.distribute.require_replica_context")
def require_replica_context(replica_ctx):
    """Raises RuntimeError if it is another replica's program that is being built, or that of all."""
    checks.require_replica_context(replica_ctx)
