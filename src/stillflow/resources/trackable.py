"""Resources and files that functions of a model use, and that its SavedModel keeps with it."""

from __future__ import annotations

import contextlib
from typing import Any

from stillflow.graph import dtypes
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.name_scope import init_scope
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor, register_conversion
from stillflow.tracking.base import Trackable

_trackers: list = []  # ResourceTrackers in force, innermost last


@public("python.training.tracking.tracking.ResourceTracker")
class ResourceTracker:
    """Collects the TrackableResources that are made in a `resource_tracker_scope`."""

    def __init__(self):
        self._resources: list = []

    @property
    def resources(self):
        return self._resources

    def add_resource(self, resource):
        self._resources.append(resource)


@public("python.training.tracking.tracking.resource_tracker_scope")
@contextlib.contextmanager
def resource_tracker_scope(resource_tracker):
    """A context in which `resource_tracker` collects resources, as those of scopes around it do."""
    _trackers.append(resource_tracker)
    try:
        yield
    finally:
        _trackers.remove(resource_tracker)


@public("python.training.tracking.tracking.CapturableResourceDeleter")
class CapturableResourceDeleter:
    """Calls a function when it goes, which is with the resource that it belongs to."""

    def __init__(self, destroy_resource_fn=None):
        self._destroy_resource = destroy_resource_fn
        self._graph = get_default_graph()

    def destroy_resource(self):
        """Destroys the resource, if there is a function for that."""
        return self._destroy_resource() if self._destroy_resource else None

    def __del__(self):
        if self._destroy_resource:
            with self._graph.as_default():
                self._destroy_resource()


@public("python.training.tracking.tracking.CapturableResource")
class CapturableResource(Trackable):
    """Has a handle that functions of tensors may capture.

    A SavedModel has the functions that make the resource, fill it and destroy it: `_create_resource`, which returns
    its handle, `_initialize`, and what `deleter` calls.

    Args:
      device: where it must be made, "" for anywhere.
      deleter: a CapturableResourceDeleter.
    """

    def __init__(self, device="", deleter=None):
        self._resource_handle: Any = None
        self._resource_device = device
        self._resource_deleter = deleter or CapturableResourceDeleter()

    def _create_resource(self):
        raise NotImplementedError("TrackableResource._create_resource not implemented.")

    def _initialize(self):
        """Fills the resource; by default there is nothing to do."""

    @property
    def resource_handle(self):
        """The tensor that the resource is found by; it is made when it is first asked for."""
        if self._resource_handle is None:
            with get_default_graph().device(self._resource_device):
                self._resource_handle = self._create_resource()
        return self._resource_handle

    def _list_functions_for_serialization(self, serialization_cache):
        def _creator():
            return self._create_resource()

        def _initializer():
            self._initialize()
            return 1  # something has to be returned

        def _destroyer():
            self._resource_deleter.destroy_resource()
            return 1

        return {"_create_resource": _creator, "_initialize": _initializer, "_destroy_resource": _destroyer}


@public("python.training.tracking.tracking.TrackableResource")
class TrackableResource(CapturableResource):
    """A CapturableResource that `resource_tracker_scope` collects."""

    def __init__(self, device="", deleter=None):
        for tracker in _trackers:
            tracker.add_resource(self)
        super().__init__(device, deleter)


@public("python.training.tracking.tracking.TrackableAsset")
class TrackableAsset(Trackable):
    """A file that belongs to a model: a SavedModel has a copy of it.

    Args:
      path: the file's path, a string or a scalar tensor.
    """

    def __init__(self, path):
        with init_scope(), get_default_graph().device("CPU"):
            self._path = convert_to_tensor(path, dtype=dtypes.string, name="asset_path")

    @property
    def asset_path(self):
        """The path as a tensor."""
        return self._path


register_conversion(TrackableAsset, lambda asset, **options: convert_to_tensor(asset.asset_path, **options))
