"""RestoredResource: a table, or another resource, that was loaded with the functions that make it and fill it."""

from __future__ import annotations

from typing import Any

from stillflow import ops
from stillflow.names import public
from stillflow.resources.trackable import CapturableResourceDeleter, TrackableResource
from stillflow.traced_functions.lifting import lift
from stillflow.tracking.base import Trackable


@public("python.saved_model.load._RestoredResource")
class RestoredResource(TrackableResource):
    """What `_create_resource`, `_initialize` and `_destroy_resource` are, its SavedModel's functions say."""

    def __init__(self, device=""):
        super().__init__(device=device)
        self._functions: dict = {}

    def add_function(self, name, function):
        """Sets one of the functions, or another attribute, such as what has the file that a table is filled from."""
        if name not in ("_create_resource", "_initialize", "_destroy_resource"):
            # TensorFlow does not track it, and loses the file where the loaded object is saved again.
            if isinstance(function, Trackable):
                self._track_trackable(function, name)
            setattr(self, name, function)
            return
        self._functions[name] = function
        if name == "_destroy_resource" and any(each.is_stateful for each in function.concrete_functions):
            self._resource_deleter = CapturableResourceDeleter(function)

    def _create_resource(self) -> Any:
        # A copy of the node: what a call returns would be a handle of a node that no graph has.
        (concrete,) = self._functions["_create_resource"].concrete_functions
        (output,) = concrete.outputs
        source = output.op
        while source.type == "Identity":
            source = source.inputs[0].op
        if source.type == "Placeholder":  # of an object without a resource, which only initializes others
            return ops.placeholder(output.dtype, output.shape, name=source.name)
        return lift(output)

    def _initialize(self):
        return self._functions["_initialize"]()

    def _list_functions_for_serialization(self, serialization_cache):
        return dict(self._functions)
