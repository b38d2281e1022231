"""pfor, for_loop and tf.vectorized_map: a function of the number of a round, for all rounds at once or in turn."""

from __future__ import annotations

import inspect

from stillflow import ops
from stillflow.graph import dtypes, nest
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.indexed_slices import IndexedSlices
from stillflow.graph.mode import by_mode, eager_version_of
from stillflow.graph.name_scope import name_scope
from stillflow.graph.operation import Operation, Tensor
from stillflow.graph.shape_inference import constant_value
from stillflow.names import public
from stillflow.ops.control_flow.cond import cond
from stillflow.ops.control_flow.tensor_array import TensorArray
from stillflow.ops.control_flow.while_loop import while_loop
from stillflow.ops.convert import convert_to_tensor
from stillflow.ops.sparse_tensor import SparseTensor
from stillflow.parallel_for.config import PForConfig
from stillflow.parallel_for.rules import flatten_two
from stillflow.parallel_for.vectorizer import Vectorizer
from stillflow.platform import logging
from stillflow.traced_functions.function import function


@public("python.ops.parallel_for.control_flow_ops.for_loop", "python.ops.parallel_for.for_loop")
def for_loop(loop_fn, loop_fn_dtypes, iters, parallel_iterations=None):
    """What `loop_fn` returns for 0 to `iters` - 1, stacked, from a loop of the graph.

    Args:
      loop_fn: a function of an int32 scalar tensor that returns a structure of tensors; their shapes do not depend on
        it.
      loop_fn_dtypes: the dtypes of the results, in the same structure.
      iters: how many rounds there are.
      parallel_iterations: as for tf.while_loop.

    Returns:
      The structure of `loop_fn_dtypes` with stacked tensors, and None where `loop_fn` returned None.

    Raises:
      ValueError: if `loop_fn` returns another number of tensors.
    """
    types = nest.flatten(loop_fn_dtypes)
    missing: list = []

    def body(i, *arrays):
        results = nest.flatten(loop_fn(i))
        if len(results) != len(types):
            raise ValueError(
                f"Number of expected outputs, {len(types)}, does not match the number of actual outputs, "
                f"{len(results)}, from loop_fn"
            )
        missing[:] = [result is None for result in results]
        written = [
            array if result is None else array.write(i, ops.expand_dims(result, 0))
            for result, array in zip(results, arrays, strict=True)
        ]
        return (i + 1, *written)

    options = {} if parallel_iterations is None else {"parallel_iterations": parallel_iterations}
    first = [TensorArray(dtypes.as_dtype(dtype).base_dtype, iters) for dtype in types]
    arrays = while_loop(lambda i, *_: i < iters, body, [0, *first], **options)
    arrays = arrays[1:] if first else []
    outputs = [None if is_none else array.concat() for array, is_none in zip(arrays, missing, strict=True)]
    return nest.pack_sequence_as(loop_fn_dtypes, outputs) if outputs else None


@public("python.ops.parallel_for.control_flow_ops.pfor", "python.ops.parallel_for.pfor")
@by_mode
def pfor(loop_fn, iters, parallel_iterations=None):
    """What `loop_fn` returns for 0 to `iters` - 1, stacked, from nodes that work on all rounds at once.

    Args:
      loop_fn: a function of an int32 scalar tensor, and of `pfor_config` if it has such an argument, that returns a
        structure of tensors, sparse tensors and operations without outputs. It must not depend on other rounds. Ops
        with state are left to the few that vectorization knows: variables that are read, random numbers, arrays.
      iters: how many rounds there are.
      parallel_iterations: how many rounds are worked on at once; None for all.

    Returns:
      The same structure with a first dimension for the rounds.

    Raises:
      ValueError: for an op that cannot be vectorized, and for a `parallel_iterations` below 2.
    """
    return vectorize(loop_fn, iters, parallel_iterations)


@eager_version_of(pfor)
def _eager_pfor(loop_fn, iters, parallel_iterations=None):
    return function(lambda: vectorize(loop_fn, iters, parallel_iterations), autograph=False)()


def _takes_config(loop_fn):
    if not callable(loop_fn):
        raise ValueError("loop_fn object did not have a __call__ method")
    try:
        return "pfor_config" in inspect.signature(loop_fn).parameters
    except ValueError:
        return False


def _tensors(outputs):
    """A body's outputs, flat, as tensors, sparse tensors, operations and None."""
    found = []
    for output in nest.flatten(outputs):
        if isinstance(output, IndexedSlices):
            logging.warn(
                "Converting %s to a dense representation may make it slow. Alternatively, output the indices and "
                "values of the IndexedSlices separately, and handle the vectorized outputs directly.",
                output,
            )
        if output is not None and not isinstance(output, (Operation, Tensor, SparseTensor)):
            output = convert_to_tensor(output)
        found.append(output)
    return found


def vectorize(loop_fn, iters, parallel_iterations=None, config=None):
    """What `pfor` returns, in graphs."""
    graph = get_default_graph()
    before = len(graph.get_operations())
    takes_config = _takes_config(loop_fn)
    with name_scope(None, "loop_body"):
        loop_var = ops.placeholder(dtypes.int32, shape=[])
        if takes_config:
            if config is None:
                config = PForConfig()
                config._set_iters(iters)
            results = loop_fn(loop_var, pfor_config=config)
        else:
            results = loop_fn(loop_var)
    flat = _tensors(results)
    body = set(graph.get_operations()[before:])
    iters = convert_to_tensor(iters)
    at_once = _rounds_at_once(iters, parallel_iterations)
    if at_once is None:
        with name_scope(None, "pfor"):
            outputs = _converted(loop_var, iters, body, config, flat)
    else:
        if config is not None and config._has_reductions():
            raise ValueError(
                "Setting parallel_iterations currently unsupported if reductions across iterations are performed."
            )
        outputs = _in_tiles(loop_fn, takes_config, loop_var, iters, at_once, body, config, flat)
    return nest.pack_sequence_as(results, outputs)


def _rounds_at_once(iters, parallel_iterations):
    if parallel_iterations is None:
        return None
    if parallel_iterations < 1:
        raise ValueError("parallel_iterations must be None or a positive integer")
    if parallel_iterations == 1:
        raise ValueError("Found parallel_iterations == 1. Use for_loop instead.")
    count = constant_value(iters)
    return None if count is not None and count < parallel_iterations else parallel_iterations


def _converted(loop_var, iters, body, config, flat):
    vectorizer = Vectorizer(loop_var, iters, body, config=config)
    return [vectorizer.convert(output) for output in flat]


def _in_tiles(loop_fn, takes_config, loop_var, iters, at_once, body, config, flat):
    """The rounds in groups of `at_once`, after those that are too few for a group."""
    left = iters % at_once
    with name_scope(None, "pfor_untiled"):
        remaining = _converted(loop_var, left, body, config, flat)

    def tile(number):
        offset = number * at_once + left

        def of_tile(i, pfor_config=None):
            if takes_config:
                return nest.flatten(loop_fn(i + offset, pfor_config=pfor_config))
            return nest.flatten(loop_fn(i + offset))

        return vectorize(of_tile, at_once, config=config)

    with name_scope(None, "pfor_tiled"):
        types = [convert_to_tensor(output).dtype for output in flat]
        tiled = [flatten_two(output) for output in for_loop(tile, types, iters // at_once, parallel_iterations=1)]
    with name_scope(None, "pfor"):
        count = constant_value(iters)
        if count is not None and count % at_once == 0:
            return tiled
        outputs = cond(
            ops.equal(left, 0),
            lambda: tiled,
            lambda: [ops.concat([first, rest], 0) for first, rest in zip(remaining, tiled, strict=True)],
        )
        return nest.flatten(outputs)


@public("vectorized_map")
def vectorized_map(fn, elems):
    """What `fn` returns for each row of `elems`, stacked: like tf.map_fn, from nodes that work on all rows at once.

    Args:
      fn: a function of a row, or of the structure of rows of `elems`, that returns a structure of tensors. What it
        does with a row must not depend on others; see `pfor` for what may be in it.
      elems: a tensor, or a structure of tensors with the same first dimension.

    Raises:
      ValueError: for an op that cannot be vectorized.
    """

    def of_row(i):
        return fn(nest.map_structure(lambda elem: ops.gather(elem, i), elems))

    flat = [convert_to_tensor(elem) for elem in nest.flatten(elems)]
    elems = nest.pack_sequence_as(elems, flat)
    sizes = [elem.shape.dims[0].value if elem.shape.dims else None for elem in flat]
    size = next((size for size in sizes if size is not None), None)
    return pfor(of_row, ops.shape(flat[0])[0] if size is None else size)
