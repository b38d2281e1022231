"""CompositeTensor: an object that stands for several tensors, such as a SparseTensor."""

from __future__ import annotations

from stillflow.graph import nest
from stillflow.graph.composite import Composite
from stillflow.names import public


@public("python.framework.composite_tensor.CompositeTensor")
class CompositeTensor(Composite):
    """Base of classes whose objects stand for several tensors; nest takes them apart with `expand_composites`.

    A class has a TypeSpec, which says what the components are, and makes an object of them.
    """

    @property
    def _type_spec(self):
        """The TypeSpec of this value."""
        raise NotImplementedError(f"{type(self).__name__}._type_spec()")

    def _to_components(self):
        """The tensors that it stands for, in a nested structure."""
        return self._type_spec._to_components(self)

    def _component_metadata(self):
        """What else there has to be to make it of its components."""
        return self._type_spec

    @staticmethod
    def _from_components(components, metadata):
        return metadata._from_components(components)

    def _shape_invariant_to_type_spec(self, shape):
        """The TypeSpec of a variable of tf.while_loop that begins with this value and whose shape stays `shape`."""
        raise NotImplementedError(f"{type(self).__name__}._shape_invariant_to_type_spec")

    @property
    def _is_graph_tensor(self):
        """Whether it lies in a graph."""
        return any(hasattr(tensor, "graph") for tensor in nest.flatten(self._to_components(), expand_composites=True))

    def _consumers(self):
        """The operations that take one of its tensors."""
        parts = nest.flatten(self._to_components(), expand_composites=True)
        tensors = [part for part in parts if getattr(part, "graph", None) is not None]
        return list(dict.fromkeys(op for tensor in tensors for op in tensor.consumers()))

    def _parts(self):
        return self._to_components()

    def _with_parts(self, parts):
        return self._type_spec._from_components(parts)

    def _spec(self):
        return self._type_spec


@public("python.framework.composite_tensor.replace_composites_with_components")
def replace_composites_with_components(structure):
    """The structure with the components of composite tensors in their places."""
    if isinstance(structure, CompositeTensor):
        return replace_composites_with_components(structure._to_components())
    if not nest.is_nested(structure):
        return structure
    return nest.map_structure(replace_composites_with_components, structure)
