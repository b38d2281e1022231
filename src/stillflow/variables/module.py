"""tf.Module: an object that finds the variables and modules among its attributes."""

from __future__ import annotations

import functools
import re

from stillflow.graph import nest
from stillflow.graph.name_scope import name_scope
from stillflow.names import public
from stillflow.tracking.structures import AutoTrackable
from stillflow.variables.variable import Variable

_WORD_START = re.compile(r"(?<=[a-z0-9])[A-Z]|(?!^)[A-Z](?=[a-z])")
_IDENTIFIER = re.compile(r"[a-zA-Z_]\w*\Z", re.ASCII)


@public("Module")
class Module(AutoTrackable):
    """A named object whose variables and modules are those among its attributes, in lists and dicts too, and theirs.

    Raises ValueError for a name that is no Python identifier.
    """

    def __init__(self, name=None):
        if name is None:
            name = _WORD_START.sub(r"_\g<0>", type(self).__name__).lower()
        elif not _IDENTIFIER.match(name):
            raise ValueError(
                f"{name!r} is not a valid module name. Module names must be valid Python identifiers "
                "(e.g. a valid class name)."
            )
        self._name = name
        with name_scope(name) as scope:
            self._scope_name = scope

    @property
    def name(self):
        return self._name

    @property
    def name_scope(self):
        """A context in which new nodes are named after the module."""
        return name_scope(self._scope_name)

    @property
    def variables(self):
        """A tuple of the variables: those of attributes in alphabetical order, then those of modules among them."""
        return self._found(lambda value: isinstance(value, Variable))

    @property
    def trainable_variables(self):
        """Those of `variables` that are trainable."""
        return self._found(lambda value: isinstance(value, Variable) and value.trainable)

    @property
    def submodules(self):
        """A tuple of the modules that this one has, and of those that they have."""
        return self._found(lambda value: isinstance(value, Module))

    def _found(self, is_wanted):
        return tuple(_values(self, is_wanted, {id(self)}))

    @classmethod
    def with_name_scope(cls, method):
        """Decorates a method: its nodes are named after the module."""

        @functools.wraps(method)
        def in_scope(self, *args, **kwargs):
            with self.name_scope:
                return method(self, *args, **kwargs)

        return in_scope


def _values(module, is_wanted, seen):
    """What is wanted among a module's attributes, then in its modules; nothing comes twice."""
    modules = []
    for _, attribute in sorted(vars(module).items(), key=lambda item: item[0]):
        for value in nest.flatten(attribute):
            if id(value) in seen:
                continue
            seen.add(id(value))
            if is_wanted(value):
                yield value
            if isinstance(value, Module):
                modules.append(value)
    for inner in modules:
        yield from _values(inner, is_wanted, seen)
