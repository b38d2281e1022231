"""The variables of WALSModel: factors and weights in shards, Gramians, and copies that last for a sweep."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Sized

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.graph.collections import GraphKeys
from stillflow.graph.contexts import colocate_with, control_dependencies
from stillflow.ops.control_flow.dependencies import group
from stillflow.random.sampling import random_normal
from stillflow.variables.assignments import assign
from stillflow.variables.variable import Variable


def shard_sizes(size, num_shards):
    """How many of `size` rows each shard has."""
    least, more = divmod(size, num_shards)
    return [least + 1] * more + [least] * (num_shards - more)


def sharding_function(size, num_shards):
    """A function from row numbers to (their shards, their numbers there)."""

    def shards_of(ids):
        if num_shards == 1:
            return None, ids
        least, more = divmod(size, num_shards)
        shards = ops.maximum(ids // (least + 1), (ids - more) // least)
        places = ops.where_v2(shards < more, ids % (least + 1), (ids - more) % least)
        return shards, places

    return shards_of


def _shards(sizes, name, initial_value):
    return [
        Variable(lambda i=i, size=size: initial_value(i, size), dtype=dtypes.float32, name=f"{name}_shard_{i}")
        for i, size in enumerate(sizes)
    ]


def create_factors(rows, columns, num_shards, init, name):
    """The shards of a matrix of factors. `init`: "random", a value, a list of one for each shard, or a function."""
    if callable(init):
        init = init()
    is_random = isinstance(init, str) and init == "random"
    if isinstance(init, list):
        assert len(init) == num_shards
    elif num_shards == 1 and not is_random:
        init = [init]
    return _shards(
        shard_sizes(rows, num_shards),
        name,
        lambda i, size: random_normal([size, columns]) if is_random else init[i],
    )


def create_weights(init, size, num_shards, name):
    """The shards of a vector of weights, None for None. `init`: a number, or a list of one list for each shard.

    Raises:
      ValueError: unless they are such numbers.
    """
    if init is None:
        return None
    if isinstance(init, Iterable) and isinstance(init, Sized):
        if num_shards == 1 and len(init) == size:
            init = [init]
        assert len(init) == num_shards
        return _shards(shard_sizes(size, num_shards), name, lambda i, size: init[i])
    if isinstance(init, numbers.Real) and float(init) >= 0:
        return _shards(shard_sizes(size, num_shards), name, lambda i, size: init * ops.ones([size]))
    raise ValueError(
        "Invalid weight initialization argument. Must be one of these: None, a real non-negative real number, or a "
        "list of lists of non-negative real numbers (or equivalent iterables) corresponding to sharded factors."
    )


def create_gramian(size, name):
    """The variable of a Gramian [size, size]."""
    return Variable(ops.zeros([size, size]), dtype=dtypes.float32, name=name)


def prepare_gramian(factors, gramian):
    """The operation that computes a Gramian from the shards of its factors."""
    parts = []
    for factor in factors:
        with colocate_with(factor):
            parts.append(ops.matmul(factor, factor, transpose_a=True))
    with colocate_with(gramian):
        return assign(gramian, ops.add_n(parts)).op


def _transient(name):
    return Variable(1.0, trainable=False, collections=[GraphKeys.LOCAL_VARIABLES], validate_shape=False, name=name)


def cached_copy(variable, name, pass_through):
    """(copy, operation that makes it, operation that drops its value) of a variable or a list of them.

    With `pass_through` the copy is the variable itself.
    """
    if variable is None:
        return None, None, None
    if pass_through:
        return variable, ops.no_op(), ops.no_op()
    if not isinstance(variable, list):
        copy = _transient(name)
        with colocate_with(copy):
            return (
                copy,
                assign(copy, variable, validate_shape=False),
                assign(copy, 1.0, validate_shape=False),
            )
    copies = [_transient(f"{name}_shard_{i}") for i in range(len(variable))]
    resets = []
    made = None
    for copy, shard in zip(copies, variable, strict=True):
        with colocate_with(copy):
            with control_dependencies([] if made is None else [made]):
                made = assign(copy, shard, validate_shape=False)
            resets.append(assign(copy, 1.0, validate_shape=False))
    return copies, made, group(*resets)
