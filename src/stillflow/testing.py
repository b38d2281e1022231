"""What tests are written with: single kernels, numeric gradients, every instruction set and thread count."""

from __future__ import annotations

import contextlib
import itertools

import numpy as np

from stillflow import _engine
from stillflow.autodiff.reverse import gradients
from stillflow.graph import dtypes
from stillflow.graph.graph import Graph
from stillflow.graph.indexed_slices import IndexedSlices
from stillflow.session import isa
from stillflow.session.session import Session

ISAS = tuple(isa.supported())
THREAD_COUNTS = (1, 2, 3, 8)
# (instruction set, threads): the widest set with all numbers of threads, the others with one and several.
COMBINATIONS = (*itertools.product(ISAS[:1], THREAD_COUNTS), *itertools.product(ISAS[1:], (1, 3)))
FEW_COMBINATIONS = (*itertools.product(ISAS, (3,)), (ISAS[0], 1))  # for what takes long


def run_kernel(name, *inputs, attrs=(), isa_name=None, threads=2, output_count=1, random_state=None, core=None):
    """Runs one kernel on arrays and returns its output, or a list if there are several.

    Args:
      name: the kernel's name in its library.
      inputs: arrays; a str stands for the session's variable of that name.
      attrs: the kernel's attributes in their order.
      random_state: (node name, seed, seed2) for random kernels.
      core: the _engine.Session to run in, for kernels with variables or state.

    Raises _engine.EngineError if the kernel fails.
    """
    core = core or _engine.Session(threads)
    program = _engine.Program(core, isa.kernels(isa_name), len(inputs) + output_count)
    feeds, slots, values = [], [], []
    for slot, value in enumerate(inputs):
        if isinstance(value, str):
            program.add_reference(slot, core.variable(value, dtypes.float32.as_datatype_enum, None))
            continue
        array = np.asarray(value)
        dtype = dtypes.as_dtype(array.dtype)
        feeds.append(_engine.Feed(dtype.as_datatype_enum, None, _usable(dtype)))
        slots.append(slot)
        values.append(array)
    outputs = list(range(len(inputs), len(inputs) + output_count))
    program.add_step(name, list(range(len(inputs))), outputs, list(attrs), 0, [], random_state)
    program.set_feeds(feeds, slots)
    program.set_fetches(outputs)
    results = [np.asarray(result) for result in program.run(values)]
    return results[0] if output_count == 1 else results


def _usable(dtype):
    return lambda value: np.require(value, dtype.as_numpy_dtype, ["C", "ALIGNED"])


@contextlib.contextmanager
def new_session(threads=2, isa_name=None):
    """A session over a new graph that is the default inside, on the given threads and instruction set."""
    from stillflow.formats import protobuf

    config = protobuf.message("ConfigProto")(intra_op_parallelism_threads=threads)
    with Graph().as_default() as graph, Session(graph=graph, config=config) as session:
        if isa_name is not None:
            session._kernels = isa.kernels(isa_name)
        yield session


def sessions_of_all_isas(threads=2):
    """A new_session on each instruction set, one after the other."""
    for isa_name in ISAS:
        with new_session(threads, isa_name) as session:
            yield session


def evaluate(build, *arrays, threads=2, isa_name=None):
    """The value of build(*placeholders fed with the arrays): an array, or what build's structure is."""
    from stillflow import ops

    with new_session(threads, isa_name) as session:
        inputs = [ops.placeholder(dtype=array.dtype, shape=array.shape) for array in arrays]
        return session.run(build(*inputs), dict(zip(inputs, arrays, strict=True)))


def of_unknown_shape(tensor):
    """The tensor, but of a shape that is known only when the graph runs."""
    from stillflow import ops
    from stillflow.graph.shape import TensorShape

    return ops.placeholder_with_default(tensor, shape=TensorShape(None))


def assert_same_bits(build, *arrays, combinations=COMBINATIONS):
    """Holds build(*arrays) to the same bits on every instruction set and for several numbers of threads.

    Returns the value, so that a test can compare it without computing it once more.
    """
    value = evaluate(build, *arrays, threads=combinations[0][1], isa_name=combinations[0][0])
    expected = _bytes(value)
    for isa_name, threads in combinations[1:]:
        found = _bytes(evaluate(build, *arrays, threads=threads, isa_name=isa_name))
        assert found == expected, f"other bits on {isa_name} with {threads} threads"
    return value


def _bytes(value):
    if isinstance(value, (list, tuple)):
        return [_bytes(item) for item in value]
    array = np.asarray(value)
    return array.tolist() if array.dtype == object else array.tobytes()


def check_gradient(build, *arrays, wrt=None, step=1e-3, tolerance=2e-3):
    """Holds the gradient of the sum of build(*arrays) * fixed weights to central differences, in float64.

    Args:
      build: makes a tensor from placeholders; it must work for float64.
      wrt: which of the arrays to differentiate by; by default all of a floating type.
      step: the difference's width.
      tolerance: the largest difference allowed, relative to 1 + |gradient|.
    """
    from stillflow import ops

    values = [np.asarray(array, np.float64) if array.dtype.kind == "f" else array for array in arrays]
    wrt = [i for i, array in enumerate(values) if array.dtype.kind == "f"] if wrt is None else wrt
    with new_session() as session:
        inputs = [ops.placeholder(dtype=array.dtype, shape=array.shape) for array in values]
        output = build(*inputs)
        weights = np.random.RandomState(0).uniform(0.5, 1.5, _output_shape(session, output, inputs, values))
        loss = ops.reduce_sum(output * ops.constant(weights, dtypes.float64))
        grads = [_dense(grad) for grad in gradients(loss, [inputs[i] for i in wrt])]
        analytic = session.run(grads, dict(zip(inputs, values, strict=True)))
        for i, grad in zip(wrt, analytic, strict=True):
            numeric = _central_differences(session, loss, inputs, values, i, step)
            error = np.abs(grad - numeric) / (1 + np.abs(numeric))
            assert grad.shape == numeric.shape
            assert np.all(error < tolerance), f"input {i}: {grad} instead of {numeric}"


def _output_shape(session, output, inputs, arrays):
    if output.shape.is_fully_defined():
        return output.shape.as_list()
    return np.shape(session.run(output, dict(zip(inputs, arrays, strict=True))))


def _dense(grad):
    from stillflow.ops.convert import convert_to_tensor

    return convert_to_tensor(grad) if isinstance(grad, IndexedSlices) else grad


def _central_differences(session, loss, inputs, arrays, index, step):
    numeric = np.zeros_like(arrays[index])
    for position in np.ndindex(*numeric.shape):
        values = []
        for sign in (1, -1):
            moved = [array.copy() for array in arrays]
            moved[index][position] += sign * step
            values.append(session.run(loss, dict(zip(inputs, moved, strict=True))))
        numeric[position] = (values[0] - values[1]) / (2 * step)
    return numeric
