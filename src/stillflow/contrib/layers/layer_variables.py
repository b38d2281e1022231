"""The variables of tf.layers under the names of tf.contrib.layers, and in its collections."""

from __future__ import annotations

from stillflow.contrib.framework.model_variables import model_variable
from stillflow.contrib.layers.named_outputs import get_variable_collections
from stillflow.graph.default_graph import get_default_graph
from stillflow.variables.copies import VariableAggregation, VariableSynchronization
from stillflow.variables.partitioned_variables import PartitionedVariable


def _model_variable_getter(
    getter, name, shape=None, dtype=None, initializer=None, regularizer=None, trainable=True, collections=None,
    caching_device=None, partitioner=None, rename=None, use_resource=None,
    synchronization=VariableSynchronization.AUTO, aggregation=VariableAggregation.NONE, **_,
):  # fmt: skip
    scope, slash, short_name = name.rpartition("/")
    if rename and short_name in rename:
        name = f"{scope}{slash}{rename[short_name]}"
    return model_variable(
        name, shape=shape, dtype=dtype, initializer=initializer, regularizer=regularizer, collections=collections,
        trainable=trainable, caching_device=caching_device, partitioner=partitioner, custom_getter=getter,
        use_resource=use_resource, synchronization=synchronization, aggregation=aggregation,
    )  # fmt: skip


def variable_getter(rename=None):
    """A custom getter that makes model variables, under other names: {a layer's name: ours}."""

    def getter_of_layer(getter, *args, **kwargs):
        return _model_variable_getter(getter, *args, **{**kwargs, "rename": rename})

    return getter_of_layer


def collect_variable(variable, collections_set, name):
    """Adds a layer's variable, or its parts, to the collections for that name."""
    graph = get_default_graph()
    parts = list(variable) if isinstance(variable, PartitionedVariable) else [variable]
    for collection in get_variable_collections(collections_set, name) or []:
        found = graph.get_collection_ref(collection)
        found.extend(part for part in parts if not any(part is each for each in found))
