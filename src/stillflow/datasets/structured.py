"""Structured: what iterators say of the elements that they give."""

from __future__ import annotations

from stillflow.datasets import structure


class Structured:
    """Has elements of the structure `_element_spec`."""

    _element_spec: object

    @property
    def output_classes(self):
        """The classes of the components."""
        return structure.output_classes(self._element_spec)

    @property
    def output_shapes(self):
        """The shapes of the components, as far as they are known."""
        return structure.output_shapes(self._element_spec)

    @property
    def output_types(self):
        """The types of the components."""
        return structure.output_types(self._element_spec)

    @property
    def element_spec(self):
        """What elements are: specifications in tuples and dictionaries."""
        return self._element_spec
