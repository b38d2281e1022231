"""The calls that Python's own modules have come to refuse since TensorFlow 1 and that old programs make."""

from __future__ import annotations

import builtins
import functools
import json
import os
import random
import sys
from collections.abc import Set


def _loads_of_any_encoding(loads):
    """json.loads, whose `encoding` did nothing before Python 3.9 refused it."""

    @functools.wraps(loads)
    def loads_without_encoding(s, *, encoding=None, **kwargs):
        return loads(s, **kwargs)

    return loads_without_encoding


def _default_of_numbers(default):
    """JSONEncoder.default, of numpy's floats, too: before numpy 2, sums of float32 were float64, and so Python's."""

    @functools.wraps(default)
    def default_of_numbers(self, o):
        numpy = sys.modules.get("numpy")
        return float(o) if numpy is not None and isinstance(o, numpy.floating) else default(self, o)

    return default_of_numbers


def _open_with_universal_newlines(open_file):
    """open, with `U` in its mode, which is what text files are opened with anyway."""

    @functools.wraps(open_file)
    def open_universal(file, mode="r", *args, **kwargs):
        if isinstance(mode, str) and "U" in mode:
            mode = mode.replace("U", "") or "r"
            mode = mode if "r" in mode else f"r{mode}"
        return open_file(file, mode, *args, **kwargs)

    return open_universal


def _sample_of_sets(sample):
    """Random.sample, of sets and keys of dictionaries, too: from their elements in the order in which they come."""

    @functools.wraps(sample)
    def sample_of_sets(self, population, k, **kwargs):
        return sample(self, tuple(population) if isinstance(population, Set) else population, k, **kwargs)

    return sample_of_sets


def _shuffle_by(shuffle):
    """Random.shuffle, with a function of numbers in [0, 1) to shuffle by."""

    @functools.wraps(shuffle)
    def shuffle_by(self, x, random=None):
        if random is None:
            return shuffle(self, x)
        for i in reversed(range(1, len(x))):
            j = int(random() * (i + 1))
            x[i], x[j] = x[j], x[i]
        return None

    return shuffle_by


def _randrange_of_whole_numbers(randrange):
    """Random.randrange, with bounds that are whole numbers of a floating type."""

    @functools.wraps(randrange)
    def randrange_of_whole_numbers(self, *bounds):
        try:
            return randrange(self, *bounds)
        except TypeError:
            if any(isinstance(bound, float) and not bound.is_integer() for bound in bounds):
                raise ValueError("non-integer arguments for randrange()") from None
            return randrange(self, *(int(bound) if isinstance(bound, float) else bound for bound in bounds))

    return randrange_of_whole_numbers


def install():
    """Lets Python's modules take what they took."""
    json.loads = _loads_of_any_encoding(json.loads)
    json.JSONEncoder.default = _default_of_numbers(json.JSONEncoder.default)  # type: ignore[method-assign]
    if sys.version_info >= (3, 11):
        builtins.open = _open_with_universal_newlines(builtins.open)
        for name, widen in (("sample", _sample_of_sets), ("shuffle", _shuffle_by)):
            _replace_in_random(name, widen)
    if sys.version_info >= (3, 12):
        _replace_in_random("randrange", _randrange_of_whole_numbers)
    if not hasattr(os, "errno"):
        import errno

        os.errno = errno  # type: ignore[attr-defined]


def _replace_in_random(name, widen):
    """Replaces a method of random.Random, and the function of the module that is this method of its generator."""
    function = widen(getattr(random.Random, name))
    setattr(random.Random, name, function)
    setattr(random, name, getattr(random._inst, name))  # type: ignore[attr-defined]
