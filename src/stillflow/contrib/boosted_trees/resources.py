"""What trees are grown by, as what a session initializes and a Saver saves: ensembles, sums and quantiles."""

from __future__ import annotations

import functools
import re

from stillflow import ops
from stillflow.canned.boosted_trees.resources import ResourceSaveable
from stillflow.contrib.boosted_trees.scheduling import ScheduledStampedResourceOp
from stillflow.graph.collections import GraphKeys
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.name_scope import name_scope
from stillflow.names import public
from stillflow.ops.sparse_tensor import is_sparse
from stillflow.resources.trackable import TrackableResource
from stillflow.variables.readiness import register_resource

# What names of accumulators leave out.
_NO_LETTERS = re.compile(r"[\W_]+")


# ---- Ensembles ---------------------------------------------------------------------------------------------------


@public("contrib.boosted_trees.python.ops.model_ops.TreeEnsembleVariableSavable")
class TreeEnsembleVariableSavable(ResourceSaveable):
    """An ensemble that a Saver saves as its stamp and its bytes.

    Args:
      tree_ensemble_handle: the resource.
      create_op: the operation that makes it.
      name: what its keys in a checkpoint begin with.
    """

    def __init__(self, tree_ensemble_handle, create_op, name):
        stamp, config = ops.tree_ensemble_serialize(tree_ensemble_handle)
        super().__init__(
            tree_ensemble_handle,
            [(f"{name}_stamp", stamp), (f"{name}_config", config)],
            create_op,
            lambda tensors: ops.tree_ensemble_deserialize(tree_ensemble_handle, *tensors),
            name,
        )


@public("contrib.boosted_trees.python.ops.model_ops.TreeEnsembleVariable")
class TreeEnsembleVariable(TrackableResource):
    """An ensemble of trees.

    Args:
      stamp_token: what changes are counted from, int64.
      tree_ensemble_config: the bytes of a DecisionTreeEnsembleConfig to begin with.
      name: of the handle, also the name that sessions share it by.
      container: where they do.
    """

    def __init__(self, stamp_token, tree_ensemble_config, name, container=None):
        self._stamp_token = stamp_token
        self._tree_ensemble_config = tree_ensemble_config
        self._name = name
        self._container = container or ""
        self._init_op = None
        super().__init__()

    def _create_resource(self):
        return ops.decision_tree_ensemble_resource_handle_op(self._container, shared_name=self._name, name=self._name)

    def _initialize(self):
        return ops.create_tree_ensemble_variable(self.resource_handle, self._stamp_token, self._tree_ensemble_config)

    @property
    def initializer(self):
        """The operation that makes it."""
        if self._init_op is None:
            self._init_op = self._initialize()
        return self._init_op

    def is_initialized(self):
        """A bool scalar: whether it has been made."""
        return ops.tree_ensemble_is_initialized_op(self.resource_handle)

    def _gather_saveables_for_checkpoint(self):
        make = functools.partial(
            TreeEnsembleVariableSavable, tree_ensemble_handle=self.resource_handle, create_op=self.initializer
        )
        return {f"{self.resource_handle.op.name}/tree_ensemble_variable": make}


@public("contrib.boosted_trees.python.ops.model_ops.tree_ensemble_variable")
def tree_ensemble_variable(stamp_token, tree_ensemble_config, name, container=None):
    """The handle of an ensemble that is saved with the graph's variables. Args: see TreeEnsembleVariable."""
    with name_scope(name, "TreeEnsembleVariable") as scope:
        variable = TreeEnsembleVariable(stamp_token, tree_ensemble_config, scope, container)
        handle, create_op = variable.resource_handle, variable.initializer
        is_initialized = variable.is_initialized()
        saveable = TreeEnsembleVariableSavable(handle, create_op, handle.name)
        get_default_graph().add_to_collection(GraphKeys.SAVEABLE_OBJECTS, saveable)
        register_resource(handle, create_op, is_initialized)
        return handle


# ---- Sums of gradients and hessians ------------------------------------------------------------------------------


class _StatsOps:
    """The ops of accumulators of numbers, or of tensors."""

    def __init__(self, kind):
        self._prefix = f"stats_accumulator_{kind}"
        self.create = getattr(ops, f"create_stats_accumulator_{kind}")

    def __getattr__(self, name):
        return getattr(ops, f"{self._prefix}_{name}")


_SCALAR, _TENSOR = _StatsOps("scalar"), _StatsOps("tensor")
_STATE = ("_stamp", "_num_updates", "_partition_ids", "_feature_ids", "_gradients", "hessians")


@public("contrib.boosted_trees.python.ops.stats_accumulator_ops.StatsAccumulatorSaveable")
class StatsAccumulatorSaveable(ResourceSaveable):
    """Sums that a Saver saves.

    Args:
      resource_handle: the resource.
      create_op: the operation that makes it.
      is_scalar: whether gradients and hessians are numbers.
      name: of the saveable.
    """

    def __init__(self, resource_handle, create_op, is_scalar, name):
        self._ops = _SCALAR if is_scalar else _TENSOR
        self._resource_handle = resource_handle
        keys = [resource_handle.name + suffix for suffix in _STATE]
        tensors = list(zip(keys, self.serialize(), strict=True))
        super().__init__(resource_handle, tensors, create_op, lambda found: self.deserialize(*found), name)

    def serialize(self):
        """(stamp, number of updates, partitions, features, gradients, hessians)."""
        return self._ops.serialize(self._resource_handle)

    def deserialize(self, stamp_token, num_updates, partition_ids, feature_ids, gradients, hessians):
        """An operation that replaces the sums by these."""
        return self._ops.deserialize(
            self._resource_handle, stamp_token, num_updates, partition_ids, feature_ids, gradients, hessians
        )


@public("contrib.boosted_trees.python.ops.stats_accumulator_ops.StatsAccumulator")
class StatsAccumulator(TrackableResource):
    """Sums gradients and hessians by partition and feature. An update with an older stamp is left out.

    Args:
      stamp_token: the first stamp, int64.
      gradient_shape, hessian_shape: the TensorShapes of one gradient and of one hessian.
      name: of the handle, of which the letters and digits count.
      container: where sessions share it.
    """

    def __init__(self, stamp_token, gradient_shape, hessian_shape, name=None, container=None):
        super().__init__()
        self._stamp_token = stamp_token
        self._gradient_shape = gradient_shape
        self._hessian_shape = hessian_shape
        self._container = container or ""
        is_scalar = gradient_shape.rank == 0 and hessian_shape.rank == 0
        self._ops = _SCALAR if is_scalar else _TENSOR
        if name is not None:
            name = _NO_LETTERS.sub("", name)
        with name_scope(name, "StatsAccumulator") as scope:
            self._name = scope
            self._resource_handle = self._create_resource()
            self._init_op = self._initialize()
            is_initialized = self.is_initialized()
        register_resource(self.resource_handle, self.initializer, is_initialized)
        self._saveable = StatsAccumulatorSaveable(self.resource_handle, self.initializer, is_scalar, scope)
        get_default_graph().add_to_collection(GraphKeys.SAVEABLE_OBJECTS, self._saveable)

    def _create_resource(self):
        return self._ops.resource_handle_op(self._container, self._name, name=self._name)

    def _initialize(self):
        if self._ops is _SCALAR:
            return self._ops.create(self.resource_handle, self._stamp_token)
        shapes = self._gradient_shape.as_list(), self._hessian_shape.as_list()
        return self._ops.create(self.resource_handle, self._stamp_token, *shapes)

    @property
    def initializer(self):
        """The operation that makes it."""
        return self._init_op

    def is_initialized(self):
        """A bool scalar: whether it has been made."""
        return self._ops.is_initialized(self.resource_handle)

    @property
    def saveable(self):
        """The StatsAccumulatorSaveable."""
        return self._saveable

    def _gather_saveables_for_checkpoint(self):
        return {"stats_accumulator": self.saveable}

    def _make_summary(self, partition_ids, feature_ids, gradients, hessians):
        """The sums of one update, which are fewer than its rows."""
        return self._ops.make_summary(partition_ids, feature_ids, gradients, hessians)

    def add(self, stamp_token, partition_ids, feature_ids, gradients, hessians):
        """An operation that adds an update.

        Args:
          stamp_token: int64.
          partition_ids: int32 [n], the leaves where examples are.
          feature_ids: int64 [n, 2], features and their dimensions.
          gradients, hessians: float32 [n, ...].
        """
        summary = self._make_summary(partition_ids, feature_ids, gradients, hessians)
        return self._ops.add([self.resource_handle], stamp_token, *([each] for each in summary))

    def schedule_add(self, partition_ids, feature_ids, gradients, hessians):
        """The same as a ScheduledStampedResourceOp."""
        partitions, features, gradients, hessians = self._make_summary(
            partition_ids, feature_ids, gradients, hessians
        )
        return ScheduledStampedResourceOp(
            op=self._ops.add,
            resource_handle=self.resource_handle,
            partition_ids=partitions,
            feature_ids=features,
            gradients=gradients,
            hessians=hessians,
        )

    def flush(self, stamp_token, next_stamp_token):
        """(number of updates, partitions, features, gradients, hessians), after which there are none."""
        return self._ops.flush(self.resource_handle, stamp_token, next_stamp_token)


# ---- Quantiles ---------------------------------------------------------------------------------------------------


@public("contrib.boosted_trees.python.ops.quantile_ops.QuantileAccumulatorSaveable")
class QuantileAccumulatorSaveable(ResourceSaveable):
    """A stream of quantiles that a Saver saves.

    Args:
      resource_handle: the resource.
      create_op: the operation that makes it.
      name: what its keys in a checkpoint begin with.
    """

    def __init__(self, resource_handle, create_op, name):
        suffixes = ("_stamp", "_state", "_are_buckets_ready", "buckets")
        state = ops.quantile_accumulator_serialize(resource_handle)
        super().__init__(
            resource_handle,
            [(name + suffix, tensor) for suffix, tensor in zip(suffixes, state, strict=True)],
            create_op,
            lambda tensors: ops.quantile_accumulator_deserialize(resource_handle, *tensors),
            name,
        )


@public("contrib.boosted_trees.python.ops.quantile_ops.QuantileAccumulator")
class QuantileAccumulator(TrackableResource):
    """Quantiles of a feature, of summaries that several workers may add.

    Args:
      init_stamp_token: the first stamp, int64.
      epsilon: how far the rank of a boundary may be from the one that is meant, as a share of all weight.
      num_quantiles: how many buckets there are.
      max_elements: how many values there may be.
      name: of the handle, of which the letters and digits count.
      container: where sessions share it.
      generate_quantiles: whether there are as many quantiles as that, not boundaries near them.
    """

    def __init__(
        self, init_stamp_token, epsilon, num_quantiles, max_elements=None, name=None, container=None,
        generate_quantiles=False,
    ):  # fmt: skip
        super().__init__()
        self._init_stamp_token = init_stamp_token
        self._epsilon = epsilon
        self._settings = {"num_quantiles": num_quantiles, "generate_quantiles": generate_quantiles}
        if max_elements is not None:
            self._settings["max_elements"] = max_elements
        self._container = container or ""
        with name_scope(_NO_LETTERS.sub("", name), "QuantileAccumulator") as scope:
            self._name = scope
            self._resource_handle = self._create_resource()
            self._init_op = self._initialize()
            is_initialized = self.is_initialized()
        register_resource(self.resource_handle, self._init_op, is_initialized)
        self._saveable = QuantileAccumulatorSaveable(self.resource_handle, self._init_op, scope)
        get_default_graph().add_to_collection(GraphKeys.SAVEABLE_OBJECTS, self._saveable)

    def _create_resource(self):
        return ops.quantile_stream_resource_handle_op(
            container=self._container, shared_name=self._name, name=self._name
        )

    def _initialize(self):
        return ops.create_quantile_accumulator(
            self.resource_handle, self._init_stamp_token, epsilon=self._epsilon, **self._settings
        )

    @property
    def initializer(self):
        """The operation that makes it."""
        return self._init_op

    def is_initialized(self):
        """A bool scalar: whether it has been made."""
        return ops.quantile_accumulator_is_initialized(self.resource_handle)

    @property
    def saveable(self):
        """The QuantileAccumulatorSaveable."""
        return self._saveable

    def _gather_saveables_for_checkpoint(self):
        return {"quantile_accumulator": self.saveable}

    def get_buckets(self, stamp_token):
        """(whether there are boundaries, the boundaries) that the last flush made."""
        ready, buckets = ops.quantile_accumulator_get_buckets([self.resource_handle], stamp_token)
        return ready[0], buckets[0]

    def schedule_get_buckets(self):
        """The same as a ScheduledStampedResourceOp."""
        return ScheduledStampedResourceOp(
            resource_handle=self.resource_handle, op=ops.quantile_accumulator_get_buckets
        )

    def _summary_of(self, column, example_weights):
        """The summary of a batch: a float32 [n, 1] or a SparseTensor, and weights [n, 1] of the examples."""
        settings = {"example_weights": example_weights, "epsilon": self._epsilon / 2}
        if is_sparse(column):
            parts = [column.indices], [column.values], [column.dense_shape]
            return ops.make_quantile_summaries([], *parts, **settings).sparse_summaries[0]
        return ops.make_quantile_summaries([column], [], [], [], **settings).dense_summaries[0]

    def add_summary(self, stamp_token, column, example_weights):
        """An operation that adds a batch: float32 [n, 1] or a SparseTensor, and weights of the examples."""
        return self.add_prebuilt_summary(stamp_token, self._summary_of(column, example_weights))

    def add_prebuilt_summary(self, stamp_token, summary):
        """An operation that adds the bytes of a QuantileSummaryState."""
        return ops.quantile_accumulator_add_summaries([self.resource_handle], stamp_token, [summary])

    def schedule_add_summary(self, stamp_token, column, example_weights):
        """What add_summary does as a ScheduledStampedResourceOp."""
        return ScheduledStampedResourceOp(
            op=ops.quantile_accumulator_add_summaries,
            resource_handle=self.resource_handle,
            summaries=self._summary_of(column, example_weights),
        )

    def flush(self, stamp_token, next_stamp_token):
        """An operation that makes boundaries of what was added, after which there is nothing."""
        return ops.quantile_accumulator_flush(self.resource_handle, stamp_token, next_stamp_token)

    def flush_summary(self, stamp_token, next_stamp_token):
        """The bytes of a QuantileSummaryState of what was added, after which there is nothing."""
        return ops.quantile_accumulator_flush_summary(self.resource_handle, stamp_token, next_stamp_token)
