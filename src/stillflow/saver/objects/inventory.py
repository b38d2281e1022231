"""What a checkpoint of an object would have: the objects that it depends on, and their initializers."""

from __future__ import annotations

from stillflow.graph import dtypes
from stillflow.graph.name_scope import init_scope
from stillflow.graph.shape import as_shape
from stillflow.names import public
from stillflow.saver.checkpoint_reader import open_checkpoint
from stillflow.saver.objects.object_graph import OBJECT_GRAPH_KEY, ObjectGraph, read_object_graph
from stillflow.variables.store import default_initializer
from stillflow.variables.variable import Variable


@public("contrib.checkpoint.list_objects", "python.training.tracking.util.list_objects")
def list_objects(root_trackable):
    """The objects that a root depends on, itself first, and the slots that optimizers among them have for others."""
    return ObjectGraph(root_trackable).objects


@public("contrib.checkpoint.object_metadata", "python.training.tracking.util.object_metadata")
def object_metadata(save_path):
    """The message that says which objects a checkpoint has. Raises ValueError if it is not one of objects."""
    reader = open_checkpoint(save_path)
    if OBJECT_GRAPH_KEY.encode() not in reader.tensors:
        raise ValueError(
            f'The specified checkpoint "{save_path}" does not appear to be object-based (it is missing the key '
            f'"{OBJECT_GRAPH_KEY}"). Likely it was created with a name-based saver and does not contain an object '
            "dependency graph."
        )
    return read_object_graph(reader, save_path)


@public("python.training.tracking.util.gather_initializers")
def gather_initializers(root_trackable):
    """The initializers of the objects that a root depends on."""
    found = [getattr(item, "initializer", None) for item in list_objects(root_trackable)]
    return [initializer for initializer in found if initializer is not None]


@public("python.training.tracking.util.add_variable")
def add_variable(trackable, name, shape=None, dtype=dtypes.float32, initializer=None, trainable=True):
    """A resource variable on which an object depends from then on.

    Raises ValueError for a name that a dependency has, and for a shape beside an initial value.
    """
    if trackable._lookup_dependency(name) is not None:
        raise ValueError(
            f"A variable named '{name}' already exists in this Trackable, but Trackable._add_variable called to "
            "create another with that name. Variable names must be unique within a Trackable object."
        )
    dtype = dtypes.as_dtype(dtype).base_dtype
    initializer = default_initializer(name, dtype) if initializer is None else initializer
    with init_scope():
        initial_value = initializer
        if callable(initializer):
            made = initializer(dtype=dtype) if isinstance(initializer, type) else initializer

            def initial_value():
                return made(as_shape(shape).as_list(), dtype=dtype)

        elif shape is not None:
            raise ValueError("If initializer is a constant, do not specify shape.")
        variable = Variable(initial_value, name=name, dtype=dtype, use_resource=True, trainable=trainable)
    return trackable._track_trackable(variable, name)
