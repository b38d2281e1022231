"""Initializers that layers know by name."""

from __future__ import annotations

import contextlib
import functools

from stillflow.graph import dtypes
from stillflow.layers.core import serialization
from stillflow.names import namespace, public
from stillflow.platform import tf2
from stillflow.variables import initializers as found


@public("keras.initializers.TruncatedNormal", "keras.initializers.truncated_normal")
class TruncatedNormal(found.TruncatedNormal):
    """Normal numbers, those beyond two standard deviations drawn again; narrower than tf.initializers' by default."""

    def __init__(self, mean=0.0, stddev=0.05, seed=None, dtype=dtypes.float32):
        super().__init__(mean, stddev, seed, dtype)


@public("keras.initializers.RandomUniform", "keras.initializers.uniform", "keras.initializers.random_uniform")
class RandomUniform(found.RandomUniform):
    """Uniform numbers; narrower than tf.initializers' by default."""

    def __init__(self, minval=-0.05, maxval=0.05, seed=None, dtype=dtypes.float32):
        super().__init__(minval, maxval, seed, dtype)


@public("keras.initializers.RandomNormal", "keras.initializers.normal", "keras.initializers.random_normal")
class RandomNormal(found.RandomNormal):
    """Normal numbers; narrower than tf.initializers' by default."""

    def __init__(self, mean=0.0, stddev=0.05, seed=None, dtype=dtypes.float32):
        super().__init__(mean, stddev, seed, dtype)


_MAKERS = {
    function.__name__: function
    for function in (found.he_normal, found.he_uniform, found.lecun_normal, found.lecun_uniform)
}
_CLASSES = {
    found.Zeros: "zero zeros",
    found.Ones: "one ones",
    found.Constant: "constant",
    RandomUniform: "uniform random_uniform",
    RandomNormal: "normal random_normal",
    TruncatedNormal: "truncated_normal",
    found.Identity: "identity",
    found.Orthogonal: "orthogonal",
    found.GlorotNormal: "glorot_normal",
    found.GlorotUniform: "glorot_uniform",
    found.VarianceScaling: "",
}
KNOWN = {
    **_MAKERS,
    **{name: kind for kind, names in _CLASSES.items() for name in (kind.__name__, *names.split())},
}


@functools.cache
def _of_tensorflow_2():
    """KNOWN, with the classes of compat.v2 where it has one of that name."""
    known = dict(KNOWN)
    for name in KNOWN:
        with contextlib.suppress(KeyError):
            known[name] = namespace.find(f"compat.v2.keras.initializers.{name}")
    return known


def _known():
    return _of_tensorflow_2() if tf2.enabled() else KNOWN


@public("keras.initializers.get")
def get(identifier):
    """The initializer that an argument of a layer means. Raises ValueError for what means none."""
    return serialization.lookup(identifier, _known(), "initializer", tuple(_MAKERS))


@public("keras.initializers.serialize")
def serialize(initializer):
    """An initializer as plain values, or its name; see `deserialize`."""
    return serialization.serialize(initializer)


@public("keras.initializers.deserialize")
def deserialize(config, custom_objects=None):
    """What `serialize` was given. Raises ValueError for what it did not return."""
    return serialization.deserialize(config, _known(), "initializer", custom_objects)
