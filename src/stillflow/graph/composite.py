"""Composite: what nest takes apart with `expand_composites`, which is below both."""

from __future__ import annotations


class Composite:
    """What nest takes apart with `expand_composites`: composite tensors, and what specifies them."""

    __slots__ = ()

    def _parts(self):
        """The nested structure that stands in its place; itself for what is not taken apart."""
        raise NotImplementedError

    def _with_parts(self, parts):
        """The same of other parts, in a structure of the same form."""
        raise NotImplementedError

    def _spec(self):
        """The TypeSpec of all that is like it."""
        raise NotImplementedError
