"""Whether functions are called in the scope of the strategy that they are meant for."""

from __future__ import annotations

from stillflow.graph import replica_modes as modes


def wrong_scope(strategy, mode):
    """The error of a function that is called in another scope than its strategy's."""
    if not modes.is_distributed():
        return RuntimeError(f'Need to be inside "with strategy.scope()" for {strategy}')
    return RuntimeError(f"Mixing different tf.distribute.Strategy objects: {mode.strategy} is not {strategy}")


def require_scope(strategy):
    """Raises RuntimeError outside of the strategy's scope."""
    mode = modes.current()
    if mode.strategy is not strategy:
        raise wrong_scope(strategy, mode)


def require_cross_replica_context(strategy):
    """Raises RuntimeError inside of another strategy's scope, and in a replica."""
    mode = modes.current()
    if mode is modes.OUTSIDE or (mode.strategy is strategy and mode.replica_context is None):
        return
    if mode.strategy is not strategy:
        raise wrong_scope(strategy, mode)
    raise RuntimeError("Method requires being in cross-replica context, use get_replica_context().merge_call()")


def require_replica_context(context):
    """Raises RuntimeError if it is another replica's program that is being built, or that of all."""
    mode = modes.current()
    if mode.replica_context is context or (mode is modes.OUTSIDE and context.strategy._does_nothing):
        return
    if mode.replica_context is None:
        raise RuntimeError("Need to be inside `call_for_each_replica()`")
    if mode.strategy is context.strategy:
        raise RuntimeError("Mismatching ReplicaContext.")
    raise RuntimeError(f"Mismatching tf.distribute.Strategy objects: {mode.strategy} is not {context.strategy}.")
