"""Control flow, which is Python's where operations run when they are called."""

from __future__ import annotations

import contextlib

from stillflow.composites import case, functional
from stillflow.functions import switch_case
from stillflow.graph import name_scope, nest, recording
from stillflow.graph.mode import eager_version_of
from stillflow.ops.control_flow import cond, dependencies, while_loop
from stillflow.ops.control_flow.tensor_array import TensorArray
from stillflow.ops.convert import convert_to_tensor
from stillflow.ops.sparse_tensor import SparseTensor

# ---- What waits for what: everything has run ------------------------------------------------------------------


@eager_version_of(name_scope.init_scope)
@contextlib.contextmanager
def init_scope():
    """A context in which tapes do not record."""
    with recording.paused():
        yield


@eager_version_of(dependencies.group)
def group(*inputs, name=None):
    return None


@eager_version_of(dependencies.with_dependencies)
def with_dependencies(dependencies, output_tensor, name=None):
    return output_tensor


@eager_version_of(dependencies.tuple_of)
def tuple_of(tensors, name=None, control_inputs=None):
    return tensors


# ---- Branches -------------------------------------------------------------------------------------------------


@eager_version_of(cond.choose)
def choose(pred, true_fn, false_fn, strict):
    return true_fn() if pred else false_fn()


@eager_version_of(case.pairs_of_dict)
def pairs_of_dict(pairs, exclusive):
    """The items. Raises ValueError if their order counts and they have none: predicates have no names to sort by."""
    if type(pairs) is dict and not exclusive:
        raise ValueError(
            "Unordered dictionaries are not supported for the `pred_fn_pairs` argument when `exclusive=False` and "
            "eager mode is enabled."
        )
    return list(pairs.items())


@eager_version_of(switch_case.choose_by_number)
def choose_by_number(branch_index, functions):
    number = int(branch_index.numpy())
    return functions[number if 0 <= number < len(functions) else -1]()


# ---- Loops ----------------------------------------------------------------------------------------------------


@eager_version_of(while_loop.counter_to)
def counter_to(maximum):
    return 0, int(maximum)


@eager_version_of(while_loop.make_loop)
def run_loop(
    cond, body, loop_vars, shape_invariants, maximum_iterations, return_same_structure, *, parallel_iterations,
    back_prop, swap_memory,
):  # fmt: skip
    """Runs a loop. The body may return its only variable without a list around it, and gets it so."""
    packs = maximum_iterations is None and len(loop_vars) == 1 and not return_same_structure
    structure = list(loop_vars)
    was_packed = False
    while cond(*loop_vars):
        loop_vars = body(*loop_vars)
        if packs and not isinstance(loop_vars, (list, tuple)):
            was_packed = True
            loop_vars = (loop_vars,)
        nest.assert_same_structure(structure, list(loop_vars))
    loop_vars = nest.map_structure(
        lambda value: value if isinstance(value, (TensorArray, SparseTensor)) else convert_to_tensor(value),
        loop_vars, expand_composites=True,
    )  # fmt: skip
    if maximum_iterations is not None:
        return loop_vars[1]
    return loop_vars[0] if was_packed else loop_vars


@eager_version_of(functional.variables_cached_outside)
def variables_cached_outside():
    """A context that does nothing: variables are read when they are used."""
    return contextlib.nullcontext()
