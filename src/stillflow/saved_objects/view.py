"""What a SavedModel of objects consists of: the objects that a root depends on, and their functions."""

from __future__ import annotations

from stillflow.saved_objects.signatures import SIGNATURES_ATTRIBUTE
from stillflow.saver.objects.object_graph import ObjectGraph
from stillflow.traced_functions.function import Function, function
from stillflow.tracking.base import TracedFunction, TrackableReference


class Listing:
    """Asks objects, each once, which functions they have, and what they depend on in a SavedModel.

    What is added to an object here is saved with it, although the object itself does not change.
    """

    def __init__(self, root):
        self.root = root
        self._added: dict = {}  # id of an object -> {name: object}
        self._functions: dict = {}  # id of an object -> (the object, {name: TracedFunction})
        self._cache: dict = {}  # which the objects share

    def add_object(self, parent, name, value):
        """Makes an object depend on another one; what it had by that name does not count."""
        self._added.setdefault(id(parent), {})[name] = value

    def dependencies(self, value):
        """[(name, object)]. Raises ValueError if one has a name that the object's kind reserves."""
        extra = dict(value._list_extra_dependencies_for_serialization(self._cache))
        extra.update(self._added.get(id(value), {}))
        found: dict = {}
        for name, child in value._checkpoint_dependencies:
            if name in extra and name != SIGNATURES_ATTRIBUTE:
                raise ValueError(
                    f"Error when exporting object {value} of with identifier={value._object_identifier}. The object "
                    f"has an attribute named {name}, which is reserved. List of all reserved attributes: "
                    f"{extra.keys()}"
                )
            found[name] = child
        return [TrackableReference(*item) for item in (found | extra).items()]

    def functions(self, value):
        """{name: TracedFunction} of an object."""
        if id(value) not in self._functions:
            listed = value._list_functions_for_serialization(self._cache)
            traced = {
                name: item
                if isinstance(item, TracedFunction)
                else function(item, input_signature=[], autograph=False)
                for name, item in listed.items()
            }
            self._functions[id(value)] = value, traced
        return self._functions[id(value)][1]


class SavedView:
    """The objects, functions and captured constants of a SavedModel, numbered.

    Args:
      listing: a Listing, to which nothing is added afterwards.
    """

    def __init__(self, listing):
        self.listing = listing
        self.objects = ObjectGraph(listing.root, listing.dependencies)
        self.nodes: list = list(self.objects.objects)
        self.concrete_functions: list = []
        self._numbers: dict = dict(self.objects.ids)  # id -> number
        self.captured: dict = {}  # tensor that functions capture -> number of the object that it belongs to
        names = set()
        for value in self.objects.objects:
            for traced in listing.functions(value).values():
                self.add_node(traced)
                for concrete in concrete_functions_of(traced):
                    if concrete.name not in names:
                        names.add(concrete.name)
                        self.concrete_functions.append(concrete)

    def add_node(self, value):
        """Gives something a number, if it has none, and returns it."""
        number = self._numbers.setdefault(id(value), len(self.nodes))
        if number == len(self.nodes):
            self.nodes.append(value)
        return number

    def fill(self, proto):
        """Adds the nodes and what they depend on to a SavedObjectGraph message."""
        for number, value in enumerate(self.nodes):
            node = proto.nodes.add()
            if number >= len(self.objects.objects):
                continue
            self.objects.fill_node(number, node)
            for name, traced in self.listing.functions(value).items():
                node.children.add(node_id=self._numbers[id(traced)], local_name=name)


def concrete_functions_of(traced):
    """The ConcreteFunctions that are saved of a function. Those of a signature are traced for that."""
    if isinstance(traced, Function):
        return traced._list_all_concrete_functions_for_serialization()
    return [traced]
