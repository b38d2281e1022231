"""tensorflow.python.ops.functional_ops: nodes that call functions made by Defun: If, While, For, Gradient, calls."""

from __future__ import annotations

from stillflow import ops
from stillflow.formats import protobuf
from stillflow.functions.defun import Defun, get_extra_args
from stillflow.graph import dtypes
from stillflow.graph.operation import Operation, Tensor
from stillflow.names import public

# The numbers of a counted loop that becomes a While: done, of how many, start, delta.
_COUNTERS = 4


@public("python.ops.functional_ops.If")
def If(cond, inputs, then_branch, else_branch, name=None):  # noqa: N802
    """What one of two functions of the same arguments returns; see While for what counts as true.

    Args:
      cond: a tensor.
      inputs: a list of tensors.
      then_branch, else_branch: functions of them that return the same types.
      name: of the node.

    Returns:
      A list of tensors.
    """
    types = [dtypes.as_dtype(arg.type) for arg in then_branch.definition.signature.output_arg]
    return _listed(ops.if_op(cond, inputs, Tout=types, then_branch=then_branch, else_branch=else_branch, name=name))


@public("python.ops.functional_ops.Gradient")
def Gradient(inputs, f, name=None):  # noqa: N802
    """The gradients of a function's arguments.

    Args:
      inputs: a list of the arguments and the gradients of the results.
      f: the function.
      name: of the node.

    Returns:
      A list of tensors.
    """
    types = [dtypes.as_dtype(arg.type) for arg in f.definition.signature.input_arg]
    return _listed(ops.symbolic_gradient(input=inputs, Tout=types, f=f, name=name))


@public("python.ops.functional_ops.While")
def While(input_, cond, body, name=None, hostmem=None):  # noqa: N802
    """The values of a list of tensors after `body` has been applied to them while `cond` is true of them.

    Args:
      input_: what they begin with.
      cond: a function of them. Numbers but 0, strings but the empty one, and tensors with elements are true.
      body: a function of them that returns as many of the same types.
      name: of the node.
      hostmem: which of them stay in the memory of the host: an attribute of the node.

    Raises:
      ValueError: if `cond` uses tensors outside, or the functions take arguments of different types.
    """
    if cond.captured_inputs:
        raise ValueError("While op 'cond' argument must be a function without implicitly captured inputs.")
    types = body.declared_input_types
    if cond.declared_input_types != types:
        raise ValueError(
            f"While op 'cond' and 'body' signatures do not match. {cond.declared_input_types!r} vs {types!r}"
        )
    captured = body.captured_inputs
    if captured:
        cond, body = _with_ignored(cond, captured), _with_captured(body)
    outputs = _listed(ops.while_op(list(input_) + captured, cond=cond, body=body, name=name))
    _set_hostmem(outputs, hostmem)
    return outputs[: len(outputs) - len(captured)]


@public("python.ops.functional_ops.For")
def For(start, limit, delta, inputs, body, name=None, hostmem=None, rewrite_with_while=None):  # noqa: N802
    """The values of a list of tensors after `body` has been applied to them for each number of a range.

    Args:
      start, limit, delta: the range, int32 scalars.
      inputs: what the tensors begin with.
      body: a function of a number and the tensors that returns as many of the same types.
      name: of the node.
      hostmem: which of them stay in the memory of the host: an attribute of the node.
      rewrite_with_while: whether the node is a While.

    Raises:
      At run time tf.errors.InvalidArgumentError for a range that does not end, or another number of results.
    """
    if rewrite_with_while:
        return _for_as_while(start, limit, delta, inputs, body, name, hostmem)
    captured = body.captured_inputs
    if captured:
        body = _with_captured(body)
    outputs = _listed(ops.for_op(start, limit, delta, list(inputs) + captured, body=body, name=name))
    _set_hostmem(outputs, hostmem, inputs_before=3)
    return outputs[: len(outputs) - len(captured)]


def _for_as_while(start, limit, delta, inputs, body, name, hostmem):
    """See For. The loop counts from 0, so that `delta` may be negative."""
    step = ops.abs(delta)
    count = ops.cast(
        ops.cast(ops.abs(limit - start) + step - 1, dtypes.float32) / ops.cast(step, dtypes.float32), dtypes.int32
    )
    types = [dtypes.int32] * _COUNTERS + list(body.declared_input_types)[1:]

    @Defun(*types, func_name=f"{body.name}_Cond")
    def goes_on(i, count, *args):
        return i < count

    @Defun(*types, func_name=f"{body.name}_Body")
    def step_of_loop(i, count, start, delta, *args):
        return (i + 1, count, start, delta, *_results(body(start + i * delta, *args)))

    kept = [*range(_COUNTERS), *(_COUNTERS + i for i in hostmem or ())]
    return While([0, count, start, delta, *inputs], goes_on, step_of_loop, name=name, hostmem=kept)[_COUNTERS:]


@public("python.ops.functional_ops.partitioned_call")
def partitioned_call(args, f, tout=None, executing_eagerly=None, config=None, executor_type=None):
    """Calls a function.

    Args:
      args: the arguments.
      f: a function made by Defun, or that of a ConcreteFunction.
      tout: the types of the results, by default those of the function.
      executing_eagerly: not used; the default graph knows whether operations are executed eagerly.
      config: a serialized ConfigProto, by default one without the optimizers.
      executor_type: "" or the name of a kind of executor, which does not matter here.

    Returns:
      A list of tensors; without results, the operation, or None if executed eagerly.
    """
    if tout is None:
        tout = [dtypes.as_dtype(arg.type) for arg in f.definition.signature.output_arg]
    result = (ops.stateful_partitioned_call if f.stateful_ops else ops.partitioned_call)(
        args, Tout=tout, f=f, config_proto=_disabled_optimizers() if config is None else config,
        executor_type=executor_type or "", name=None if tout else "PartitionedFunctionCall",
    )  # fmt: skip
    return result if isinstance(result, Operation) else _listed(result) or None


@public("python.util.function_utils.get_disabled_rewriter_config")
def _disabled_optimizers():
    """The serialized ConfigProto of sessions that leave graphs as they are."""
    config = protobuf.message("ConfigProto")()
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    return protobuf.to_bytes(config)


def _with_ignored(func, more):
    """A function that takes tensors of the types of `more`, too, and does nothing with them."""
    types = func.declared_input_types

    @Defun(*types, *(tensor.dtype for tensor in more), func_name=f"{func.name}_Wrapper")
    def wrapper(*args):
        return func(*args[: len(types)])

    return wrapper


def _with_captured(func):
    """A function that takes and returns what `func` uses from outside, after its own arguments and results."""

    @Defun(*func.declared_input_types, func_name=f"{func.name}_Wrapper")
    def wrapper(*args):
        return (*_results(func(*args)), *get_extra_args())

    return wrapper


def _results(result):
    """The tensors that the call of a function returned; the operation of one without results is none."""
    if isinstance(result, Operation):
        return ()
    return (result,) if isinstance(result, Tensor) else tuple(result)


def _listed(outputs):
    if isinstance(outputs, Operation) or outputs is None:
        return []
    return list(outputs) if isinstance(outputs, (list, tuple)) else [outputs]


def _set_hostmem(outputs, hostmem, inputs_before=0):
    if hostmem:
        attrs = outputs[0].op._attrs
        attrs["_input_hostmem"] = [inputs_before + i for i in hostmem]
        attrs["_output_hostmem"] = list(hostmem)
