"""Namespaces: modules that are made of public names, tf.nn and its kin, and how a name is found."""

from __future__ import annotations

import functools
import importlib
import importlib.abc
import importlib.machinery
import sys
import types

from stillflow.names import Setting, compat_v2, inner

ROOT = "stillflow"


@functools.cache
def _table() -> dict[str, str]:
    return importlib.import_module("stillflow.names.table").NAMES


@functools.cache
def _members() -> dict[str, list[str]]:
    """{namespace: the last parts of the names in it}; "" is tf itself."""
    found: dict[str, set[str]] = {"": set()}
    for name in _table():
        parts = name.split(".")
        for i in range(len(parts)):
            found.setdefault(".".join(parts[:i]), set()).add(parts[i])
    return {namespace: sorted(names) for namespace, names in found.items()}


def is_namespace(name: str) -> bool:
    """Whether there is a module of that name below tf: one of public names, or one of TensorFlow's inner modules."""
    if name.startswith("names."):  # which the tables themselves are in
        return False
    is_public_module = _table().get(name, ":?").endswith(":")  # not a class or a function
    return name in _members() or is_public_module or inner.is_module(name) or compat_v2.is_namespace(name)


def find(name: str):
    """What a public name means, what a setting is now. Raises KeyError for one that there is not."""
    found = _find(name)
    return found.get() if isinstance(found, Setting) else found


def _find(name):
    if name not in _table():
        first = compat_v2.original(name)
        if first is not None:
            return _find(first)
        module, _, attribute = name.rpartition(".")
        if module not in _table():  # where a module is public, all of its names are
            raise KeyError(name)
        return getattr(find(module), attribute)
    module, _, attribute = _table()[name].partition(":")
    found = importlib.import_module(f"{ROOT}.{module}" if module else ROOT)
    return getattr(found, attribute) if attribute else found


def setting(name: str) -> Setting | None:
    """The setting that a public name stands for; None for other names."""
    found = _find(name) if name in _table() else None
    return found if isinstance(found, Setting) else None


def module_of(name: str) -> str:
    """The module that a public module is. Raises KeyError for a name that is none."""
    module, _, attribute = _table()[name].partition(":")
    if attribute:
        raise KeyError(name)
    return f"{ROOT}.{module}" if module else ROOT


def find_module(name: str) -> types.ModuleType:
    """The module of a name below tensorflow, also one of its inner modules. Raises ModuleNotFoundError for none."""
    return importlib.import_module(f"{ROOT}.{name}")


def _is_here(name):
    """Whether there is a public name: by itself, or of a module all of whose names are public."""
    return name in _table() or name.rpartition(".")[0] in _table()


def _names_of_compat_v2(namespace):
    """What a namespace of compat.v2 has, of what is here."""
    here = [last for last, name in compat_v2.members(namespace).items() if _is_here(name)]
    return here + compat_v2.inner_namespaces(namespace)


def _inner(module, name):
    try:
        return inner.find(module, name, find)
    except KeyError:
        other = inner.imported(module, name)
        if other is None:
            raise
        return importlib.import_module(f"{ROOT}.{other}")


_loaded = vars(types.ModuleType)["__dict__"].__get__  # the __dict__ of a module as it is


class _Namespace(types.ModuleType):
    """A module that is a namespace. Where programs look for classes in its __dict__, that has all of its names."""

    @property
    def __dict__(self):  # type: ignore[override]
        found = _loaded(self)
        names = found.get("__dir__")  # a module with names of its own lists these alone
        missing = [name for name in (() if names is None else names()) if name not in found and name[0] != "_"]
        values = {name: found["__getattr__"](name) for name in missing}
        settings = {name: value for name, value in values.items() if name not in found}  # which are not kept
        return {**found, **settings} if settings else found

    def __setattr__(self, name, value):
        full = f"{self.__name__}.{name}".partition(".")[2]
        found = None if isinstance(value, types.ModuleType) else setting(full)  # import sets submodules
        if found is None:
            super().__setattr__(name, value)
        else:
            found.put(value)


def serve(namespace: str, module: str):
    """The __getattr__ and __dir__ of a module that is a namespace, "" for tf itself."""
    sys.modules[module].__class__ = _Namespace
    prefix = f"{namespace}." if namespace else ""

    def get(name):
        full = prefix + name
        if name == "__all__":  # for `from tensorflow import *`
            return [each for each in names() if not each.startswith("_")]
        try:
            if full in _table() or compat_v2.original(full) is not None:
                value = _find(full)
            elif is_namespace(full) and name not in inner.members(namespace):  # which a function may hide
                value = importlib.import_module(f"{ROOT}.{full}")
            else:
                value = _inner(namespace, name)
        except KeyError:
            raise AttributeError(f"module {module!r} has no attribute {name!r}") from None
        if isinstance(value, Setting):
            return value.get()
        _loaded(sys.modules[module])[name] = value
        return value

    def names():
        own = [name for name in _loaded(sys.modules[module]) if name.startswith("__")]
        return sorted(
            {*_members().get(namespace, ()), *inner.names(namespace, _is_here), *_names_of_compat_v2(namespace), *own}
        )

    return get, names


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds `stillflow.nn`: the namespaces that are no packages of their own."""

    def find_spec(self, fullname, path=None, target=None):
        top, _, name = fullname.partition(".")
        if top != ROOT or not is_namespace(name):
            return None
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec):
        return types.ModuleType(spec.name, f"The names of tf.{spec.name.partition('.')[2]}.")

    def exec_module(self, module):
        name = module.__name__.partition(".")[2]
        if name in _table():  # a module of ours under another name
            sys.modules[module.__name__] = find(name)
            return
        module.__getattr__, module.__dir__ = serve(name, module.__name__)


def install():
    """Makes namespaces importable: `from stillflow.nn import relu`."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.append(_Finder())
