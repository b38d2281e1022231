"""Strategy: what a program does with a strategy, and StrategyExtended: what libraries do with it."""

from __future__ import annotations

import contextlib
import copy
import weakref

from stillflow import ops
from stillflow.distribute import checks
from stillflow.distribute.values import InputContext, InputReplicationMode, ReduceOp, as_reduce_op
from stillflow.graph import dtypes, nest
from stillflow.graph import replica_modes as modes
from stillflow.graph.shape import dimension_value
from stillflow.names import public
from stillflow.ops.control_flow.dependencies import group as group_of
from stillflow.variables.cast_variable import AutoCastVariable
from stillflow.variables.creators import variable_creator_scope


@public("distribute.Strategy", "contrib.distribute.DistributionStrategy")
class Strategy:
    """How a program is spread over devices.

    Args:
      extended: the StrategyExtended that does it.
    """

    _does_nothing = False  # but for the strategy outside of all scopes

    def __init__(self, extended):
        self._extended = extended

    @property
    def extended(self):
        """What libraries ask of the strategy."""
        return self._extended

    @property
    def num_replicas_in_sync(self):
        """How many replicas there are."""
        return self._extended._num_replicas_in_sync

    def scope(self):
        """A context in which the strategy is in force, and makes the variables: resource variables."""
        return self._extended._scope(self)

    def colocate_vars_with(self, colocate_with_variable):
        """See StrategyExtended."""
        return self._extended.colocate_vars_with(colocate_with_variable)

    def experimental_run_v2(self, fn, args=(), kwargs=None):
        """What `fn(*args, **kwargs)` returns, called in each replica."""
        with self.scope():
            return self._extended.call_for_each_replica(fn, args=args, kwargs=kwargs)

    def experimental_run(self, fn, input_iterator=None):
        """What `fn` returns of the next element of an iterator, or without arguments, called in each replica."""
        with self.scope():
            args = () if input_iterator is None else (input_iterator.get_next(),)
        return self.experimental_run_v2(fn, args=args)

    def make_dataset_iterator(self, dataset):
        """An iterator over a data set whose batches are shared out among replicas; run its `initializer` first."""
        return self._extended._make_dataset_iterator(dataset)

    def make_input_fn_iterator(self, input_fn, replication_mode=InputReplicationMode.PER_WORKER):
        """An iterator over the data set that `input_fn(InputContext)` returns."""
        if replication_mode != InputReplicationMode.PER_WORKER:
            raise ValueError(f"Input replication mode not supported: {replication_mode!r}")
        with self.scope():
            return self._extended._make_input_fn_iterator(input_fn, replication_mode=replication_mode)

    def experimental_distribute_dataset(self, dataset):
        """The data set, its batches shared out among replicas."""
        return self._extended._experimental_distribute_dataset(dataset)

    def experimental_distribute_datasets_from_function(self, dataset_fn):
        """The data set that `dataset_fn(InputContext)` returns, whose batches are one replica's."""
        return self._extended._experimental_distribute_datasets_from_function(dataset_fn)

    def experimental_make_numpy_dataset(self, numpy_input, session=None):
        """A data set of the rows of arrays."""
        return self._extended.experimental_make_numpy_dataset(numpy_input, session=session)

    def reduce(self, reduce_op, value, axis=None):
        """The values of all replicas as one.

        Args:
          reduce_op: a ReduceOp, or its name.
          value: what `experimental_run_v2` returned.
          axis: the dimension that is reduced as well, or None.

        Raises:
          TypeError: if `reduce_op` is none, or the axis of a mean no integer.
          ValueError: if the axis is out of range.
        """
        checks.require_cross_replica_context(self)
        reduce_op = as_reduce_op(reduce_op)
        if axis is None:
            return self._extended._reduce(reduce_op, value)
        if reduce_op == ReduceOp.SUM:
            value = self.experimental_run_v2(lambda v: ops.reduce_sum(v, axis=axis), args=(value,))
            return self._extended._reduce(reduce_op, value)
        if reduce_op != ReduceOp.MEAN:
            raise TypeError(f"Expected `reduce_op` to be a `tf.distribute.ReduceOp`, not: {reduce_op!r}")
        if not isinstance(axis, int):
            raise TypeError(f"Expected `axis` to be an integer not: {axis!r}")
        total, count = self.experimental_run_v2(lambda v: _sum_and_count(v, axis), args=(value,))
        total = self._extended._reduce(ReduceOp.SUM, total)
        count = self._extended._reduce(ReduceOp.SUM, count)
        return ops.truediv(total, ops.cast(count, total.dtype))

    def experimental_local_results(self, value):
        """The values of the replicas, a tuple."""
        return self._extended._local_results(value)

    def unwrap(self, value):
        """The values of the replicas, a tuple."""
        return self._extended._local_results(value)

    def group(self, value, name=None):
        """An operation after those of all replicas."""
        return self._extended._group(value, name)

    def configure(self, session_config=None, cluster_spec=None, task_type=None, task_id=None):
        """Sets up what a strategy of several tasks needs: nothing here."""
        return self._extended._configure(session_config, cluster_spec, task_type, task_id)

    def update_config_proto(self, config_proto):
        """The ConfigProto that sessions of the strategy should have, a copy."""
        return self._extended._update_config_proto(config_proto)

    def __deepcopy__(self, memo):
        result = type(self).__new__(type(self))
        memo[id(self)] = result
        vars(result).update(vars(self))
        result._extended = copy.copy(self._extended)
        result._extended._strategy = weakref.ref(result)
        result._extended._variables = weakref.WeakSet()
        return result

    def __copy__(self):
        raise RuntimeError("Must only deepcopy DistributionStrategy.")


def _sum_and_count(value, axis):
    """The sum along an axis, and how many there are: a number if it is known."""
    total = ops.reduce_sum(value, axis=axis)
    rank = value.shape.rank
    if rank is not None:
        if not -rank <= axis < rank:
            raise ValueError(f"`axis` = {axis!r} out of range for `value` with rank {rank}")
        axis %= rank
        size = dimension_value(value.shape[axis])
        if size is not None:
            return total, size
    elif axis < 0:
        axis = axis + ops.rank(value)
    if rank == 1:
        return total, ops.size(value, out_type=dtypes.int64)
    return total, ops.shape(value, out_type=dtypes.int64)[axis]


class _Scope:
    """`with strategy.scope()`: the strategy is in force and makes the variables. It may be entered again inside."""

    def __init__(self, strategy, creator):
        self._strategy = strategy
        self._creator = creator
        self._entered: list = []

    def __enter__(self):
        if modes.is_distributed():
            checks.require_cross_replica_context(self._strategy)
            self._entered.append(None)
            return self._strategy
        modes.push(modes.Mode(self._strategy, None))
        context = variable_creator_scope(self._creator)
        context.__enter__()
        self._entered.append(context)
        return self._strategy

    def __exit__(self, *exception):
        context = self._entered.pop()
        if context is not None:
            context.__exit__(*exception)
            modes.pop()


@public("distribute.StrategyExtended")
class StrategyExtended:
    """What libraries ask of a strategy: where variables are, how functions run and values are reduced.

    This is also how strategies of one device do it.

    Args:
      container_strategy: the Strategy.
    """

    def __init__(self, container_strategy):
        self._strategy = weakref.ref(container_strategy)
        self._variables: weakref.WeakSet = weakref.WeakSet()

    def _container_strategy(self):
        return self._strategy()

    def _scope(self, strategy):
        def creator(next_creator, **options):
            checks.require_scope(strategy)
            options["use_resource"] = True
            variable = self._create_variable(next_creator, **options)
            self._variables.add(variable)
            return variable

        return _Scope(strategy, creator)

    def _create_variable(self, next_creator, **options):
        raise NotImplementedError("must be implemented in descendants")

    def variable_created_in_scope(self, v):
        """Whether the variable was made in a scope of the strategy."""
        return (v._variable if isinstance(v, AutoCastVariable) else v) in self._variables

    def colocate_vars_with(self, colocate_with_variable):
        """A context in which variables are where another one is."""
        checks.require_scope(self._container_strategy())

        def creator(next_creator, **options):
            checks.require_scope(self._container_strategy())
            return next_creator(**{**options, "use_resource": True, "colocate_with": colocate_with_variable})

        return variable_creator_scope(creator)

    def call_for_each_replica(self, fn, args=(), kwargs=None):
        """What `fn(*args, **kwargs)` returns in each replica. Raises RuntimeError in a replica."""
        strategy = self._container_strategy()
        checks.require_cross_replica_context(strategy)
        with strategy.scope():
            return self._call_for_each_replica(fn, args, kwargs or {})

    def _call_for_each_replica(self, fn, args, kwargs):
        raise NotImplementedError("must be implemented in descendants")

    def reduce_to(self, reduce_op, value, destinations):
        """The sum or mean of the replicas' values, where `destinations` are. Raises RuntimeError in a replica."""
        checks.require_cross_replica_context(self._container_strategy())
        return self._reduce_to(as_reduce_op(reduce_op), value, destinations)

    def batch_reduce_to(self, reduce_op, value_destination_pairs):
        """`reduce_to` of several (value, destinations)."""
        return [self.reduce_to(reduce_op, value, place) for value, place in value_destination_pairs]

    def broadcast_to(self, tensor, destinations):
        """The tensor, on all devices of `destinations`."""
        checks.require_cross_replica_context(self._container_strategy())
        return tensor

    def update(self, var, fn, args=(), kwargs=None, group=True):
        """What `fn(var, *args, **kwargs)` returns, called where the variable is; grouped, or as local results."""
        return self._run_update(fn, (var, *args), kwargs, group)

    def update_non_slot(self, colocate_with, fn, args=(), kwargs=None, group=True):
        """What `fn(*args, **kwargs)` returns, called where `colocate_with` says; see `update`."""
        return self._run_update(fn, args, kwargs, group)

    def _run_update(self, fn, args, kwargs, group):
        strategy = self._container_strategy()
        checks.require_cross_replica_context(strategy)
        with strategy.scope(), self._on_device():
            result = fn(*args, **(kwargs or {}))
            return result if group else nest.map_structure(self._local_results, result)

    def _on_device(self):
        return contextlib.nullcontext()

    def _reduce(self, reduce_op, value):
        return self._local_results(self._reduce_to(reduce_op, value, None))[0]

    def _reduce_to(self, reduce_op, value, destinations):
        return value

    def read_var(self, v):
        """The value of a variable."""
        return ops.identity(v)

    def value_container(self, value):
        """What holds a replica's value: of one device the value itself."""
        return value

    def _local_results(self, value):
        return (value,)

    def _group(self, value, name=None):
        values = nest.flatten(self._local_results(value))
        if len(values) != 1 or name is not None:
            return group_of(values, name=name)
        return getattr(values[0], "op", values[0])

    def _make_dataset_iterator(self, dataset):
        from stillflow.distribute.iterators import DatasetIterator

        return DatasetIterator(dataset)

    def _make_input_fn_iterator(self, input_fn, replication_mode=InputReplicationMode.PER_WORKER):
        return self._make_dataset_iterator(input_fn(InputContext()))

    def _experimental_distribute_dataset(self, dataset):
        return dataset

    def _experimental_distribute_datasets_from_function(self, dataset_fn):
        return dataset_fn(InputContext())

    def experimental_make_numpy_dataset(self, numpy_input, session=None):
        """A data set of the rows of arrays, in a structure."""
        from stillflow.datasets.dataset import DatasetV1

        checks.require_cross_replica_context(self._container_strategy())
        return DatasetV1.from_tensor_slices(numpy_input)

    def _configure(self, session_config=None, cluster_spec=None, task_type=None, task_id=None):
        pass

    def _update_config_proto(self, config_proto):
        return copy.deepcopy(config_proto)

    @property
    def experimental_require_static_shapes(self):
        """Whether the shapes of all tensors must be known."""
        return False

    @property
    def _num_replicas_in_sync(self):
        return 1

    @property
    def worker_devices(self):
        """The devices of the replicas."""
        raise NotImplementedError("must be implemented in descendants")

    @property
    def parameter_devices(self):
        """The devices of the variables."""
        raise NotImplementedError("must be implemented in descendants")

    def non_slot_devices(self, var_list):
        """The devices of an optimizer's variables that belong to no other variable."""
        raise NotImplementedError("must be implemented in descendants")

    experimental_between_graph = property(lambda self: False, doc="Whether each worker has a graph of its own.")
    experimental_should_init = property(lambda self: True, doc="Whether this task initializes variables.")
    should_checkpoint = property(lambda self: True, doc="Whether this task writes checkpoints.")
    should_save_summary = property(lambda self: True, doc="Whether this task writes summaries.")
