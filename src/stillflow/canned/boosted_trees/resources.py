"""Ensembles of boosted trees and quantiles of features as what a session initializes and a Saver saves."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph.collections import GraphKeys
from stillflow.graph.contexts import control_dependencies
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.name_scope import name_scope
from stillflow.names import public
from stillflow.saver.saveable import SaveableObject, SaveSpec
from stillflow.variables.readiness import register_resource


@public("python.ops.boosted_trees_ops.PruningMode")
class PruningMode:
    """When splits that gain less than they cost are left out."""

    NO_PRUNING, PRE_PRUNING, POST_PRUNING = range(3)

    _map = {"none": NO_PRUNING, "pre": PRE_PRUNING, "post": POST_PRUNING}

    @classmethod
    def from_str(cls, mode):
        """The mode of a name. Raises ValueError for an unknown one."""
        if mode not in cls._map:
            raise ValueError("pruning_mode mode must be one of: {}".format(", ".join(sorted(cls._map))))
        return cls._map[mode]


class ResourceSaveable(SaveableObject):
    """Tensors that are saved, and an op that restores a resource from them after it has been created.

    Args:
      handle: the resource.
      tensors: [(key in a checkpoint, tensor)].
      create_op: the operation that makes the resource.
      restore: a function of the tensors that makes the operation.
      name: of the saveable.
    """

    def __init__(self, handle, tensors, create_op, restore, name):
        super().__init__(handle, [SaveSpec(tensor, "", key) for key, tensor in tensors], name)
        self._create_op = create_op
        self._restore = restore

    def restore(self, restored_tensors, restored_shapes):
        with control_dependencies([self._create_op]):
            return self._restore(restored_tensors)


@public("python.ops.boosted_trees_ops.QuantileAccumulator")
class QuantileAccumulator:
    """Streams of quantiles, whose boundaries are saved with the graph's variables.

    Args:
      epsilon: how far the rank of a boundary may be from the one that is meant, as a share of all weight.
      num_streams: how many features there are.
      num_quantiles: how many buckets the values of each are put into.
      name: of the handle, also the name that sessions share it by.
      max_elements: not used.
    """

    def __init__(self, epsilon, num_streams, num_quantiles, name=None, max_elements=None):
        self._eps = epsilon
        self._num_streams = num_streams
        self._num_quantiles = num_quantiles
        with name_scope(name, "QuantileAccumulator") as scope:
            handle = ops.boosted_trees_quantile_stream_resource_handle_op(container="", shared_name=scope, name=scope)
            self._resource_handle = handle
            self._init_op = ops.boosted_trees_create_quantile_stream_resource(handle, epsilon, num_streams)
            is_initialized = self.is_initialized()
        register_resource(handle, self._init_op, is_initialized)
        boundaries = ops.boosted_trees_quantile_stream_resource_get_bucket_boundaries(
            handle, num_features=num_streams
        )
        self._saveable = ResourceSaveable(
            handle,
            [(f"{handle.name}_bucket_boundaries_{i}", each) for i, each in enumerate(boundaries)],
            self._init_op,
            lambda tensors: ops.boosted_trees_quantile_stream_resource_deserialize(handle, bucket_boundaries=tensors),
            handle.name,
        )
        get_default_graph().add_to_collection(GraphKeys.SAVEABLE_OBJECTS, self._saveable)

    @property
    def resource_handle(self):
        return self._resource_handle

    @property
    def initializer(self):
        return self._init_op

    @property
    def saveable(self):
        return self._saveable

    def is_initialized(self):
        """A bool scalar: whether the streams have been created."""
        return ops.is_boosted_trees_quantile_stream_resource_initialized(self._resource_handle)

    def add_summaries(self, float_columns, example_weights):
        """An operation that adds values of each feature, vectors, with weights of examples, a vector or one."""
        summaries = ops.boosted_trees_make_quantile_summaries(float_columns, example_weights, self._eps)
        return ops.boosted_trees_quantile_stream_resource_add_summaries(self._resource_handle, summaries)

    def flush(self):
        """An operation that makes boundaries of what has been added, after which the streams are empty."""
        return ops.boosted_trees_quantile_stream_resource_flush(self._resource_handle, self._num_quantiles)

    def get_bucket_boundaries(self):
        """The boundaries of each feature, vectors."""
        return ops.boosted_trees_quantile_stream_resource_get_bucket_boundaries(
            self._resource_handle, num_features=self._num_streams
        )


@public("python.ops.boosted_trees_ops.TreeEnsemble")
class TreeEnsemble:
    """An ensemble of boosted trees, which is saved with the graph's variables.

    Args:
      name: of the handle, also the name that sessions share it by.
      stamp_token: the number to begin counting changes with.
      is_local: whether it is a copy for one session, which is not saved.
      serialized_proto: the bytes of a boosted_trees.TreeEnsemble to begin with.
    """

    def __init__(self, name, stamp_token=0, is_local=False, serialized_proto=""):
        with name_scope(name, "TreeEnsemble") as scope:
            handle = ops.boosted_trees_ensemble_resource_handle_op(container="", shared_name=scope, name=scope)
            self._resource_handle = handle
            self._init_op = ops.boosted_trees_create_ensemble(
                handle, stamp_token, tree_ensemble_serialized=serialized_proto
            )
            is_initialized = self.is_initialized()
            if not is_local:
                stamp, serialized = self.serialize()
                self._saveable = ResourceSaveable(
                    handle,
                    [(f"{handle.name}_stamp", stamp), (f"{handle.name}_serialized", serialized)],
                    self._init_op,
                    lambda tensors: self.deserialize(*tensors),
                    handle.name,
                )
                get_default_graph().add_to_collection(GraphKeys.SAVEABLE_OBJECTS, self._saveable)
            register_resource(handle, self._init_op, is_initialized, is_shared=not is_local)

    @property
    def resource_handle(self):
        return self._resource_handle

    @property
    def initializer(self):
        return self._init_op

    def is_initialized(self):
        """A bool scalar: whether the ensemble has been created."""
        return ops.is_boosted_trees_ensemble_initialized(self._resource_handle)

    def get_stamp_token(self):
        """How often the ensemble has been changed, int64."""
        return ops.boosted_trees_get_ensemble_states(self._resource_handle)[0]

    def get_states(self):
        """(stamp, trees, finished trees, layers that were tried, the nodes of the last layer: [first, end))."""
        states = ops.boosted_trees_get_ensemble_states(self._resource_handle)
        names = ("stamp_token", "num_trees", "num_finalized_trees", "num_attempted_layers", "last_layer_nodes_range")
        return tuple(ops.identity(state, name=name) for state, name in zip(states, names, strict=True))

    def serialize(self):
        """(stamp, the bytes of a boosted_trees.TreeEnsemble)."""
        return ops.boosted_trees_serialize_ensemble(self._resource_handle)

    def deserialize(self, stamp_token, serialized_proto):
        """An operation that replaces the ensemble by what the bytes say."""
        return ops.boosted_trees_deserialize_ensemble(self._resource_handle, stamp_token, serialized_proto)
