"""tf.flags: absl's flags, with the argument names of older programs, parsed when one is first read."""

# TensorFlow's tf.flags has the names of these features, too.
from __future__ import absolute_import, annotations, division, print_function  # noqa: UP010

import functools
import inspect
import sys

import numpy as _np
from absl import flags as _absl
from absl.flags import *

from stillflow.names import public_module
from stillflow.platform import old_flags

public_module("flags", "app.flags", "python.platform.flags")

_OLD_NAMES = {"flag_name": "name", "default_value": "default", "docstring": "help"}

_absl.disclaim_key_flags()  # flags belong to the modules that define them, not to this one


class _FlagValues:
    """absl's flags, parsed from the arguments of the process when one is read before.

    A notebook's kernel has arguments of its own: there, unknown ones are no errors.
    """

    def __init__(self, values):
        object.__setattr__(self, "_values", values)

    def __getattr__(self, name):
        values = object.__getattribute__(self, "_values")
        if name in dir(type(values)):
            return getattr(values, name)
        if name.startswith("__") and name.endswith("__"):  # which tools ask of any object
            raise AttributeError(name)
        self._parse_flags()
        return getattr(values, name)

    def _parse_flags(self):
        """Parses the arguments of the process if that is not done: programs of before TensorFlow 1.5 call it."""
        if not self._values.is_parsed():
            self._values(sys.argv, known_only=_is_in_kernel())

    def __setattr__(self, name, value):
        old_flags.define_set(self._values, name, value)
        setattr(self._values, name, value)

    def __delattr__(self, name):
        delattr(self._values, name)

    def __dir__(self):
        return dir(self._values)

    def __getitem__(self, name):
        return self._values[name]

    def __setitem__(self, name, flag):
        self._values[name] = flag

    def __contains__(self, name):
        return name in self._values

    def __len__(self):
        return len(self._values)

    def __iter__(self):
        return iter(self._values)

    def __str__(self):
        return str(self._values)

    def __call__(self, *args, **kwargs):
        return self._values(*args, **kwargs)


def _is_in_kernel():
    return "ipykernel" in sys.modules and "-f" in sys.argv


def _plain(value):
    """The number that one of numpy's stands for, which absl refuses as a default and flags of before it took."""
    return value.item() if isinstance(value, _np.number) else value


def _with_old_names(define):
    parameters = inspect.signature(define)

    @functools.wraps(define)
    def wrapper(*args, **kwargs):
        given = {_OLD_NAMES.get(name, name): _plain(value) for name, value in kwargs.items()}
        arguments = parameters.bind(*map(_plain, args), **given).arguments
        others = arguments.pop("args", {})
        given = {**arguments, **others}
        old_flags.make_way(given["name"])
        try:
            return define(**given)
        except _absl.IllegalFlagValueError:
            if not old_flags.may_default():
                raise
        holder = define(**{**given, "default": None})
        old_flags.set_default(_absl.FLAGS[given["name"]], given["default"])
        return holder

    return wrapper


DEFINE_string = _with_old_names(_absl.DEFINE_string)
DEFINE_boolean = DEFINE_bool = _with_old_names(_absl.DEFINE_boolean)
DEFINE_float = _with_old_names(_absl.DEFINE_float)
DEFINE_integer = _with_old_names(_absl.DEFINE_integer)
FLAGS = _FlagValues(_absl.FLAGS)  # type: ignore[assignment]
