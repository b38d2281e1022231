"""The names that Python's own modules have dropped since TensorFlow 1 and that old programs use."""

from __future__ import annotations

import base64
import collections
import collections.abc
import fractions
import html
import importlib
import importlib.util
import inspect
import math
import shlex
import sys
import threading
import time
import types

from stillflow.runner.old_modules import OldModule, OldModules, after_import, answer

ArgSpec = collections.namedtuple("ArgSpec", "args varargs keywords defaults")


def _getargspec(func):
    """inspect.getargspec of Python 3.10. Raises ValueError for what it cannot express."""
    spec = inspect.getfullargspec(func)
    if spec.kwonlyargs or spec.annotations:
        raise ValueError(
            "Function has keyword-only parameters or annotations, use inspect.signature() API which can support them"
        )
    return ArgSpec(spec.args, spec.varargs, spec.varkw, spec.defaults)


def _formatargspec(args, varargs=None, varkw=None, defaults=None, *_, **__):
    """inspect.formatargspec of Python 3.10, for functions without annotations and keyword-only arguments."""
    first_default = len(args) - len(defaults or ())
    parts = [
        name if index < first_default else f"{name}={defaults[index - first_default]!r}"
        for index, name in enumerate(args)
    ]
    parts += [f"*{varargs}"] if varargs else []
    parts += [f"**{varkw}"] if varkw else []
    return f"({', '.join(parts)})"


def _load_source(name, path, file=None):
    """imp.load_source."""
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)  # type: ignore[arg-type]
    sys.modules[name] = module
    spec.loader.exec_module(module)  # type: ignore[union-attr]
    return module


def _escape(s, quote=None):
    """cgi.escape, which leaves quotes unless it is asked for them."""
    return html.escape(s, quote=bool(quote)).replace("&#x27;", "'")


_DROPPED: dict[types.ModuleType, dict[str, object]] = {
    collections: {name: getattr(collections.abc, name) for name in (
        "Awaitable", "Callable", "Container", "Coroutine", "Generator", "Hashable", "ItemsView", "Iterable",
        "Iterator", "KeysView", "Mapping", "MappingView", "MutableMapping", "MutableSequence", "MutableSet",
        "Reversible", "Sequence", "Set", "Sized", "ValuesView",
    )},
    inspect: {"ArgSpec": ArgSpec, "getargspec": _getargspec, "formatargspec": _formatargspec},
    time: {"clock": time.process_time},
    fractions: {"gcd": math.gcd},
    base64: {"encodestring": base64.encodebytes, "decodestring": base64.decodebytes},
}  # fmt: skip
_DROPPED_METHODS = {threading.Thread: {"isAlive": threading.Thread.is_alive}}
_DROPPED_MODULES: dict[str, OldModule] = {
    "imp": {"load_source": _load_source, "reload": importlib.reload, "new_module": types.ModuleType},
    "cgi": {"escape": _escape},
    "pipes": {"quote": shlex.quote},
    "xml.etree.cElementTree": "xml.etree.ElementTree",
}  # fmt: skip
_RENAMED_ASSERTIONS = {
    "assertEquals": "assertEqual", "assertNotEquals": "assertNotEqual", "assert_": "assertTrue",
    "assertAlmostEquals": "assertAlmostEqual", "assertNotAlmostEquals": "assertNotAlmostEqual",
    "assertRegexpMatches": "assertRegex", "assertNotRegexpMatches": "assertNotRegex",
    "assertRaisesRegexp": "assertRaisesRegex", "failUnless": "assertTrue", "failIf": "assertFalse",
    "failUnlessEqual": "assertEqual",
}  # fmt: skip


def _give_unittest_its_names(unittest):
    for old, name in _RENAMED_ASSERTIONS.items():
        if not hasattr(unittest.TestCase, old):
            setattr(unittest.TestCase, old, getattr(unittest.TestCase, name))


def _give_configparser_its_names(configparser):
    if not hasattr(configparser, "SafeConfigParser"):
        configparser.SafeConfigParser = configparser.ConfigParser
        configparser.RawConfigParser.readfp = configparser.RawConfigParser.read_file


# What is changed when a program imports it, for these are modules that a start need not wait for.
_CHANGED = {
    "cgi": lambda cgi: setattr(cgi, "escape", _escape),
    "configparser": _give_configparser_its_names,
    "html.parser": lambda parser: setattr(parser.HTMLParser, "unescape", staticmethod(html.unescape)),
    "unittest": _give_unittest_its_names,
}


def install():
    """Makes Python's modules answer to the names that they have dropped."""
    for module, names in _DROPPED.items():
        answer(module, {name: value for name, value in names.items() if not hasattr(module, name)})
    for owner, methods in _DROPPED_METHODS.items():
        for name, method in methods.items():
            if not hasattr(owner, name):
                setattr(owner, name, method)
    sys.meta_path.append(OldModules(_DROPPED_MODULES))
    after_import(_CHANGED)
