"""lift: graph operations become the nodes and values of a plan.

Shapes are inferred again, now from the shapes of the feeds. Reads of variables become nodes of their own:
where an operation takes the value of what is a reference, the read stands right before it.
"""

from __future__ import annotations

from stillflow import errors
from stillflow.graph import dtypes
from stillflow.graph.shape_inference import dims_text
from stillflow.ops.registry import Alias, Called, Kernel, Special, Written
from stillflow.plan import loops
from stillflow.plan.branches import guard_of_operation, guard_of_tensor, lift_merge, lift_switch
from stillflow.plan.guards import is_in_loop
from stillflow.plan.infer import infer, known_in_both
from stillflow.plan.ir import Node, Plan, Value
from stillflow.plan.prune import needed_operations
from stillflow.plan.reads import read
from stillflow.plan.watch import show_outputs
from stillflow.plan.writing import written_out


def lift(operations, feeds, fetches, targets, feed_dims, done=(), arguments=None, watch=None) -> Plan:
    """A plan for the operations. `feed_dims` are the plain shapes of the feeds, as far as they are known.

    Of operations that are `done` only the references that they hand on are left. `arguments` maps feeds that are a
    function's arguments to what their caller knows of them, Values. `watch` says which tensors a debugger wants to
    see.

    Raises InvalidArgumentError for a placeholder that is not fed.
    """
    plan = Plan(feeds, fetches, targets)
    plan.operations = operations
    plan.watch = watch
    plan.outlived = _reads_before_other_shapes(operations)
    for tensor, dims in zip(feeds, feed_dims, strict=True):
        value = Value(tensor._dtype.base_dtype, known_in_both(tensor._dims, dims), None, tensor)
        if arguments is not None and tensor in arguments:
            _take_argument(value, arguments[tensor])
        plan.values[tensor] = value
        plan.feed_values.append(value)
    if any(op._op_def.special == "enter" for op in operations):
        _lift_with_loops(plan, operations, done)
    else:
        for order, op in enumerate(operations):
            _lift(plan, op, order, done)
    for tensor in fetches:
        value = plan.early_reads.get(tensor) or plan.values[tensor]
        guard = guard_of_tensor(plan, tensor)
        if is_in_loop(guard):
            message = f"{tensor.name} is in a loop: only what leaves a loop can be fetched"
            raise errors.make(errors.INVALID_ARGUMENT, message, tensor._op)
        if value.is_reference and (arguments is None or tensor._dtype is not dtypes.resource):
            # A fetched variable is read when everything else has run. A function returns the handle.
            value = read(plan, tensor._op, value, len(operations), guard)
        plan.fetch_values.append(value)
        plan.fetch_guards.append(guard)
    return plan


def _reads_before_other_shapes(operations):
    """Operations that an assignment of another shape waits for: TensorFlow gives the variable new memory then."""
    found: set = set()
    waiting = [op for op in operations if op.type == "Assign" and not op._attrs["validate_shape"]]
    while waiting:
        op = waiting.pop()
        before = {*op._control_inputs, *(tensor._op for tensor in op._inputs)} - found
        found |= before
        waiting += before
    return found


def _take_argument(value, outside):
    """Makes the value of an argument what the caller knows of it: a variable, or what is known of a value."""
    value.is_reference = outside.is_reference
    if outside.is_reference:
        value.dtype, value.dims = outside.dtype, outside.dims
    elif outside.dtype is value.dtype:
        value.dims = known_in_both(value.dims, outside.dims)
        value.constant, value.partial = outside.constant, outside.partial


def _lift(plan, op, order, done):
    if op in done:
        _hand_on_references(plan, op)
    else:
        _LIFTS.get(op._op_def.special, _lift_operation)(plan, op, order)
        show_outputs(plan, op, order)


def _lift_with_loops(plan, operations, done):
    orders = {op: order for order, op in enumerate(operations)}

    def lift_item(item):
        if isinstance(item, loops.Loop):
            loops.lift_loop(plan, item, orders, lift_item)
        else:
            _lift(plan, item, orders[item], done)

    for item in loops.nested(operations, plan.fed):
        lift_item(item)


def _lift_operation(plan, op, order, within=None):
    """`within` is the guard of what an operation is written out in; others have their own."""
    op_def = op._op_def
    values = [plan.values[tensor] for tensor in op._inputs]
    guard = guard_of_operation(plan, op) if within is None else within
    if guard:
        plan.guards[op] = guard
    if _stands_for_variable(op, values) and op not in plan.outlived:
        tensor = op._outputs[0]
        if tensor in plan.fetches and tensor not in plan.feeds:
            plan.early_reads[tensor] = read(plan, op, values[0], order, guard)
        if tensor not in plan.fed:
            plan.values[tensor] = values[0]
        return
    changed = None
    for i, arg in enumerate(expanded(op_def.inputs, op._attrs)):
        if arg.dtype is dtypes.resource:
            _check_variable(op, arg, values[i])
        if arg.is_ref:
            changed = changed or values[i]
        elif values[i].is_reference and not _takes_variable(op_def, arg, op._inputs[i]):
            source = op._inputs[i]._op
            reader = op if isinstance(source._op_def.lowering, Special) else source
            values[i] = read(plan, reader, values[i], order, guard)
    if isinstance(op_def.lowering, Written):
        _lift_written(plan, op, order, values, guard)
        return
    # The read is a node of its own; what is done with the value is pure.
    is_pure = changed is None and (not op_def.is_stateful or op_def.reads_variable) and not op_def.changes_object
    node = Node(op, op_def.name, op_def.lowering, values, op._attrs, (order, 1), is_pure)
    node.guard = guard
    for tensor in op._outputs:
        node.outputs.append(Value(tensor._dtype.base_dtype, tensor._dims, node, tensor))
    infer(node)
    for arg, value in zip(expanded(op_def.outputs, op._attrs), list(node.outputs), strict=True):
        if arg.is_ref and changed is not None:
            node.outputs.remove(value)
            plan.values[value.source] = changed  # what comes out is the variable that went in
        elif value.source not in plan.fed:
            # What a kernel makes is a value, also where TensorFlow has a reference to a handle.
            value.is_reference = arg.is_ref and (op_def.makes_variable or not isinstance(op_def.lowering, Kernel))
            plan.values[value.source] = value
    if isinstance(node.lowering, Special):
        _lift_special(plan, op, node)
    else:
        plan.nodes.append(node)
        if not is_pure:
            plan.changes.update((value, plan.changes.get(value, 0) + 1) for value in values if value.is_reference)


def _lift_written(plan, op, order, values, guard):
    """Puts the operations in which one is written out in its place."""
    inputs, outputs = written_out(op, [value.dims for value in values])
    plan.values.update(zip(inputs, values, strict=True))
    first = len(plan.nodes)
    for inner in needed_operations(outputs, (), inputs):
        _lift_operation(plan, inner, order, guard)
    for node in plan.nodes[first:]:
        node.parts = [op]  # which messages name
    for tensor, inner in zip(op._outputs, outputs, strict=True):
        if tensor not in plan.fed:
            plan.values[tensor] = plan.values[inner]


def _hand_on_references(plan, op):
    """Makes the outputs of an operation that has run the variables that went in."""
    references = [plan.values[tensor] for tensor in op._inputs if tensor in plan.values]
    references = [value for value in references if value.is_reference]
    for tensor in op._outputs:
        if tensor._dtype._is_ref_dtype and references:
            plan.values.setdefault(tensor, references[0])


def _stands_for_variable(op, values):
    """Whether the op is the read that every variable has: it waits for nothing, and so does not say when to read.

    TensorFlow hands on the variable's memory there: what uses it sees the updates that it was told to wait for.
    So does this: whatever uses it reads the variable itself. Fetched, it is read in its own place.
    """
    is_alias = isinstance(op._op_def.lowering, Alias) and not op._op_def.reads_variable
    return is_alias and values[0].is_reference and not op._control_inputs


def _check_variable(op, arg, variable):
    """Raises InvalidArgumentError if what is behind a handle is no variable, or of another type than the op."""
    if not variable.is_reference:
        if not arg.is_variable or op._op_def.takes_any_handle:
            return
        message = f"Trying to access resource using the wrong type: {op._inputs[0].name} is not a variable"
        raise errors.make(errors.INVALID_ARGUMENT, message, op)
    dtype = op._attrs.get("T") or op._attrs.get("dtype")
    if dtype is None or dtype is variable.dtype or op._op_def.checks_variable:
        return
    verb = "assign" if op.type.startswith("Assign") else "read"
    message = f"Trying to {verb} variable with wrong dtype. Expected {variable.dtype.name} got {dtype.name}"
    raise errors.make(errors.INVALID_ARGUMENT, message, op)


def _takes_variable(op_def, arg, tensor):
    """Whether an op wants the variable behind a handle, not its value. A function takes the variable."""
    if arg.type_list_attr is not None:
        return tensor._dtype is dtypes.resource and _calls_functions(op_def)
    return arg.dtype is dtypes.resource and not op_def.reads_variable


def _calls_functions(op_def):
    return isinstance(op_def.lowering, Kernel) and any(isinstance(attr, Called) for attr in op_def.lowering.attrs)


def expanded(args, attrs):
    """The argument that each single input or output belongs to."""
    result = []
    for arg in args:
        if arg.number_attr is not None:
            result.extend([arg] * attrs[arg.number_attr])
        elif arg.type_list_attr is not None:
            result.extend([arg] * len(attrs[arg.type_list_attr]))
        else:
            result.append(arg)
    return result


def _lift_special(plan, op, node):
    kind = node.lowering.kind
    if kind == "constant":
        node.outputs[0].constant = op._attrs["value"].array()
        node.outputs[0].producer = None
    elif kind == "placeholder":
        if op._outputs[0] not in plan.feeds:
            raise _unfed(op)
    elif kind == "variable":
        node.outputs[0].producer = None
    elif kind == "handle":
        # In a plan a handle is the variable: what reads it has the variable's type and shape.
        value = plan.values[op._outputs[0]]
        value.producer = None
        value.is_reference = True
        value.dtype = op._attrs["dtype"]
        value.dims = op._attrs["shape"]._dims
    elif kind != "nothing":
        raise errors.make(errors.UNIMPLEMENTED, f"Op type {op.type} cannot be run", op)


_LIFTS = {
    "switch": lift_switch,
    "merge": lift_merge,
    "enter": loops.lift_enter,
    "exit": loops.lift_exit,
    "control_trigger": loops.lift_control_trigger,
    "next_iteration": loops.lift_next_iteration,
    "loop_cond": loops.lift_loop_cond,
}


def _unfed(op):
    tensor = op._outputs[0]
    shape = tensor.shape
    known = "" if shape.rank is None else f" and shape {dims_text(shape._dims)}"
    message = f"You must feed a value for placeholder tensor '{op.name}' with dtype {tensor.dtype._c_name}{known}"
    return errors.make(errors.INVALID_ARGUMENT, message, op)
