"""tf.Module: an object that finds the variables and modules among its attributes."""

from __future__ import annotations

import functools
import re

from stillflow.graph import nest_paths
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

    # Attributes that `_flatten` leaves out: subclasses add to it.
    _TF_MODULE_IGNORED_PROPERTIES = frozenset(
        {"_self_unconditional_checkpoint_dependencies", "_self_unconditional_dependency_names"}
    )

    def _flatten(self, recursive=True, predicate=None, attribute_traversal_key=None, with_path=False):
        """What is among the attributes, each once, then what is in modules among them.

        Args:
          recursive: whether to look into modules, too.
          predicate: a function that says of a value whether it is wanted; by default all are.
          attribute_traversal_key: the order of attributes, as a key of sorted().
          with_path: whether to give (path, value) instead of a value, and values as often as they are found.
        """
        return _flattened(
            self, recursive, predicate or (lambda value: True), attribute_traversal_key, with_path, (), {id(self)}
        )

    def _found(self, is_wanted):
        return tuple(self._flatten(predicate=is_wanted))

    @classmethod
    def with_name_scope(cls, method):
        """Decorates a method: its nodes are named after the module."""

        @functools.wraps(method)
        def in_scope(self, *args, **kwargs):
            with self.name_scope:
                return method(self, *args, **kwargs)

        return in_scope


def _flattened(module, recursive, is_wanted, order, with_path, path, seen):
    """What `_flatten` says. `seen` has the ids of all that was found; with paths those of the modules on the way."""
    inner = []
    for name, attribute in sorted(vars(module).items(), key=lambda item: (order or str)(item[0])):
        if name in module._TF_MODULE_IGNORED_PROPERTIES:
            continue
        for place, value in nest_paths.flatten_with_tuple_paths(attribute):
            if not with_path and id(value) in seen:
                continue
            full = (*path, name, *place)
            if is_wanted(value):
                yield (full, value) if with_path else value
            if recursive and isinstance(value, Module) and id(value) not in seen:
                inner.append((full, value))
            if not with_path:
                seen.add(id(value))
    for full, value in inner:
        below = seen | {id(value)} if with_path else seen
        yield from _flattened(value, recursive, is_wanted, order, with_path, full, below)
