"""Sets and dictionaries by identity: tensorflow.python.util.object_identity; and modules that are loaded late."""

from __future__ import annotations

import collections.abc
import importlib
import types
import weakref

from stillflow.names import public


@public("python.util.object_identity.Reference")
class Reference:
    """A hashable reference to an object; two are equal that refer to the same one."""

    __slots__ = ("_wrapped",)

    def __init__(self, wrapped):
        self._wrapped = wrapped

    def deref(self):
        return self._wrapped

    def __hash__(self):
        return id(self._wrapped)

    def __eq__(self, other):
        return isinstance(other, Reference) and self._wrapped is other._wrapped

    def __repr__(self):
        return f"<Reference wrapping {self._wrapped!r}>"


@public("python.util.object_identity.ObjectIdentityDictionary")
class ObjectIdentityDictionary(collections.abc.MutableMapping):
    """A dictionary whose keys need not be hashable, and are compared by `is`."""

    def __init__(self, *args, **kwargs):
        self._items: dict[Reference, object] = {}
        self.update(dict(*args, **kwargs) if kwargs or not args else args[0])

    def __getitem__(self, key):
        return self._items[Reference(key)]

    def __setitem__(self, key, value):
        self._items[Reference(key)] = value

    def __delitem__(self, key):
        del self._items[Reference(key)]

    def __len__(self):
        return len(self._items)

    def __iter__(self):
        return (key.deref() for key in self._items)

    def __repr__(self):
        return f"ObjectIdentityDictionary({list(self.items())!r})"


@public("python.util.object_identity.ObjectIdentitySet")
class ObjectIdentitySet(collections.abc.MutableSet):
    """A set whose members need not be hashable, and are compared by `is`."""

    def __init__(self, *args):
        self._members = {Reference(member): None for member in (args[0] if args else ())}

    def __contains__(self, key):
        return Reference(key) in self._members

    def add(self, key):
        self._members[Reference(key)] = None

    def discard(self, key):
        self._members.pop(Reference(key), None)

    def update(self, items):
        for item in items:
            self.add(item)

    def __len__(self):
        return len(self._members)

    def __iter__(self):
        return (member.deref() for member in list(self._members))


@public("python.util.object_identity.ObjectIdentityWeakKeyDictionary")
class ObjectIdentityWeakKeyDictionary(collections.abc.MutableMapping):
    """A dictionary by identity that forgets the keys that nobody else has."""

    def __init__(self, *args):
        self._items: dict[int, tuple] = {}
        for key, value in dict(*args).items():
            self[key] = value

    def __getitem__(self, key):
        return self._items[id(key)][1]

    def __setitem__(self, key, value):
        number = id(key)
        self._items[number] = (weakref.ref(key, lambda _: self._items.pop(number, None)), value)

    def __delitem__(self, key):
        del self._items[id(key)]

    def __len__(self):
        return len(self._items)

    def __iter__(self):
        keys = [reference() for reference, _ in list(self._items.values())]
        return (key for key in keys if key is not None)


@public("python.util.object_identity.ObjectIdentityWeakSet")
class ObjectIdentityWeakSet(collections.abc.MutableSet):
    """A set by identity that forgets the members that nobody else has."""

    def __init__(self, *args):
        self._members = ObjectIdentityWeakKeyDictionary()
        for member in args[0] if args else ():
            self.add(member)

    def __contains__(self, key):
        return key in self._members

    def add(self, key):
        self._members[key] = None

    def discard(self, key):
        self._members.pop(key, None)

    def __len__(self):
        return len(self._members)

    def __iter__(self):
        return iter(self._members)


@public("python.util.lazy_loader.LazyLoader")
class LazyLoader(types.ModuleType):
    """A module that is imported when one of its names is first asked for.

    Args:
      local_name: the name that it has among the globals of its parent.
      parent_module_globals: those globals, where the module then takes this one's place.
      name: the module to import.
    """

    def __init__(self, local_name, parent_module_globals, name):
        super().__init__(name)
        self._local_name, self._globals = local_name, parent_module_globals

    def _load(self):
        module = importlib.import_module(self.__name__)
        self._globals[self._local_name] = module
        self.__dict__.update(module.__dict__)
        return module

    def __getattr__(self, name):
        return getattr(self._load(), name)

    def __dir__(self):
        return dir(self._load())
