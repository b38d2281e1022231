"""define_op: the one place where an op is declared, and how a declared op adds a node to a graph.

    matmul = define_op(
        "MatMul(a: T, b: T) -> (product: T)",
        "transpose_a: bool = false; transpose_b: bool = false; T: {float32, float64, ...}",
        kernel="matmul(a, b | transpose_a, transpose_b)",
    )

declares the op; `matmul(a, b, transpose_b=True, name="m")` adds a node. A rule for its shapes, its gradient
and its values where they are known in advance is attached by decorators that are attributes of the function; see
_builder.
"""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from stillflow.graph import op_def as op_defs
from stillflow.graph.function_call import FunctionCall
from stillflow.graph.op_def import OpDef
from stillflow.ops import build, operators

operators.install()  # here, since there is no tensor before an op is declared

# ---- How a plan runs an op --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Called:
    """An attribute that is a function; `inputs` name those of the op that are its last arguments.

    `is_constant` says that these are the same in each call. `call` is the function if there is no such attribute.
    """

    name: str
    inputs: tuple[str, ...]
    is_constant: bool = True
    call: FunctionCall | None = None


@dataclass(frozen=True, slots=True)
class Kernel:
    """One kernel does it. `inputs` and `attrs` name the op's own, in the kernel's order.

    Where one kernel serves several ops, an attribute may be a name that the kernel lists ('sum', in quotes), true,
    false, a number, or a tuple of types. "node_name" is the node's, "input_name" its first input's. A function is
    written with the inputs that are its last arguments, "f(other_arguments)", and a star if these are only the first
    such.
    """

    name: str
    inputs: tuple[str, ...]
    attrs: tuple[str | bytes | int | tuple | Called, ...]
    state: str | None = None  # "random": a Philox stream; "op": the kernel's own; "position": an iterator's


@dataclass(frozen=True, slots=True)
class Elementwise:
    """An operation of csrc/arithmetic/elementwise over broadcast inputs; several are fused into one kernel call.

    `attrs` name attributes (or are numbers) that the operation takes as scalars after its inputs.
    """

    name: str
    attrs: tuple[str | float, ...] = ()
    broadcasts: bool = True  # False: inputs must have one shape or be scalars, which the plan has to know
    otherwise: Kernel | None = None  # what runs for strings, and where the shapes are not known to be such


@dataclass(frozen=True, slots=True)
class Alias:
    """The output is an input; nothing is computed."""

    input: int = 0


@dataclass(frozen=True, slots=True)
class Written:
    """The op is written out in others: `formula(op)` adds them and returns the outputs.

    It gets what has the `inputs`, `_inputs` and `get_attr` of an operation.
    """

    formula: Callable


@dataclass(frozen=True, slots=True)
class Special:
    """The plan knows what to do: "constant", "placeholder", "variable", "nothing"."""

    kind: str


_CALL = re.compile(r"(\w+)\(\s*([^|]*?)\s*(?:\|\s*(.*?)\s*)?\)$")


def parse_kernel(text: str, state: str | None = None) -> Kernel:
    match = _CALL.match(text)
    if match is None:
        raise ValueError(f"Not a kernel call: {text!r}")
    name, inputs, attrs = match.groups()
    return Kernel(name, _names(inputs), tuple(_kernel_attr(part) for part in _names(attrs or "")), state)


def _kernel_attr(text: str) -> str | bytes | int | Called:
    if text[0] == "'":
        return text[1:-1].encode()
    if text in ("true", "false"):
        return text == "true"
    if text.endswith(")"):
        name, _, inputs = text[:-1].partition("(")
        return Called(name, _names(inputs.removesuffix("*")), not inputs.endswith("*"))
    return int(text) if text.lstrip("-").isdigit() else text


def parse_elementwise(text: str, broadcasts: bool, otherwise: Kernel | None) -> Elementwise:
    name, _, attrs = text.partition("|")
    return Elementwise(name.strip(), _names(attrs), broadcasts, otherwise)


def _names(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


# ---- Declaring ----------------------------------------------------------------------------------------------


def define_op(
    signature: str,
    attrs: str = "",
    *,
    kernel: str | None = None,
    state: str | None = None,
    elementwise: str | None = None,
    broadcasts: bool = True,
    alias: int | None = None,
    written: Callable | None = None,
    special: str | None = None,
    stateful: bool = False,
    commutative: bool = False,
    aggregate: bool = False,
    differentiable: bool | None = True,
    allows_uninitialized_input: bool = False,
    traits: str = "",
    public: str = "",
    doc: str | None = None,
) -> Any:
    """Declares an op, and returns the function that adds a node of it; see _builder.

    One of `kernel`, `elementwise`, `alias`, `written` and `special` says how it runs. `traits` are words of
    op_def.TRAITS, which say what it is to passes, savers and gradients. `public` has the names, below `tf.`, under
    which programs may call the function; `doc` and the signature are what they are told of it.

    `kernel` beside `elementwise` is for strings and, if not `broadcasts`, for inputs of different shapes.
    `differentiable=False` says that its gradient is None, `differentiable=None` that asking for it is a
    LookupError, as it is in TensorFlow; otherwise a gradient must be attached.
    """
    name, inputs, outputs = op_defs.parse_signature(signature)
    attr_defs = op_defs.parse_attrs(attrs)
    lowering: object
    if elementwise is not None:
        lowering = parse_elementwise(elementwise, broadcasts, None if kernel is None else parse_kernel(kernel))
    elif kernel is not None:
        lowering = parse_kernel(kernel, state)
    elif alias is not None:
        lowering = Alias(alias)
    elif written is not None:
        lowering = Written(written)
    else:
        lowering = Special(special or "")
    op_def = OpDef(
        name,
        op_defs.resolve_type_lists(inputs, attr_defs),
        op_defs.resolve_type_lists(outputs, attr_defs),
        attr_defs,
        is_stateful=stateful,
        is_commutative=commutative,
        is_aggregate=aggregate,
        allows_uninitialized_input=allows_uninitialized_input,
        is_differentiable=differentiable,
        lowering=lowering,
        special=lowering.kind if isinstance(lowering, Special) else None,
    )
    for trait in traits.split():
        if trait not in op_defs.TRAITS:
            raise ValueError(f"{name} has an unknown trait: {trait}")
        setattr(op_def, trait, True)
    op_defs.register(op_def)
    return _builder(op_def, public, doc)


def define_again(op_def: OpDef, name: str):
    """Declares an op of another name that is in all else the same."""
    op_defs.register(replace(op_def, name=name))


def _builder(op_def: OpDef, public: str, doc: str | None) -> Any:
    """The function that adds a node: its arguments are the op's inputs and attributes, and `name`.

    As attributes it has decorators for the op's rules:
      shape_rule: of `rule(context) -> plain shape(s)`; see graph.shape_inference.
      gradient: of `rule(op, *gradients of outputs) -> gradients of inputs`, as for tf.RegisterGradient.
      constant_value: of `rule(context) -> array or None`: a value that is known while the graph is built.
      folded_value: the same for shape inference alone.
      partial_value: of `rule(context) -> tuple or int`, with None for unknown elements of an integer value.
    """
    function = build.function_of(op_def)
    function.op_def = op_def
    for rule in ("shape_rule", "gradient", "constant_value", "folded_value", "partial_value"):
        setattr(function, rule, functools.partial(_attach, op_def, rule))
    if public:
        function.__name__ = public.split()[0].rpartition(".")[2]
        function.__doc__ = "\n\n".join(filter(None, (inspect.cleandoc(doc or ""), op_defs.description(op_def))))
        function.__signature__ = build.signature(op_def)
    return function


def _attach(op_def, kind, rule):
    setattr(op_def, kind, rule)
    return rule
