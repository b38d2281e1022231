"""OpDef: an op's signature and what is known about it. Signatures are written as one line of text:

    "GatherV2(params: Tparams, indices: Tindices, axis: Taxis) -> (output: Tparams)"

and attributes as another, in the order of TensorFlow's OpDef:

    "batch_dims: int = 0; Tparams: type; Tindices: {int32, int64}; Taxis: {int32, int64}"

An argument's type is a dtype, a type attribute, a list-of-types attribute, `N * T` for a list of N tensors,
or `Ref(T)` for a reference to a variable.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from stillflow.graph import dtypes
from stillflow.graph.shape import TensorShape
from stillflow.graph.tensor_value import TensorValue

# What inputs are called that are handles of queues, readers, tables, iterators and tensor arrays.
_OTHER_HANDLES = frozenset(
    (
        "handle",
        "grad_handle",
        "reader_handle",
        "queue_handle",
        "table_handle",
        "iterator",
        "resource_handle",
        "mutex",
        "tree_handle",
        "writer",
        "stats_handle",
        "stats_aggregator",
        "thread_pool",
        "seed_generator",
        "cache",
        "tree_ensemble_handle",
        "quantile_stream_resource_handle",
        "quantile_accumulator_handle",
        "quantile_accumulator_handles",
        "stats_accumulator_handle",
        "stats_accumulator_handles",
    )
)
_BY_NAME = {dtype.name: dtype for dtype in dtypes.ALL}


@dataclass(frozen=True, slots=True)
class Arg:
    """An input or output. Exactly one of `dtype`, `type_attr` and `type_list_attr` is set."""

    name: str
    dtype: dtypes.DType | None = None
    type_attr: str | None = None
    type_list_attr: str | None = None
    number_attr: str | None = None
    is_ref: bool = False

    @property
    def is_variable(self) -> bool:
        """Whether a handle that is asked for is that of a variable: only the names of inputs say so."""
        return self.dtype is dtypes.resource and self.name not in _OTHER_HANDLES

    @property
    def is_list(self) -> bool:
        return self.number_attr is not None or self.type_list_attr is not None


@dataclass(frozen=True, slots=True)
class AttrDef:
    name: str
    kind: str  # "int", "type", "list(shape)", ...
    has_default: bool = False
    default: Any = None
    minimum: int | None = None
    allowed: tuple | None = None  # DTypes or bytes


@dataclass(slots=True)
class OpDef:
    """What an op type is. Made by stillflow.ops.registry.define_op."""

    name: str
    inputs: tuple[Arg, ...]
    outputs: tuple[Arg, ...]
    attrs: dict[str, AttrDef]
    is_stateful: bool = False
    is_commutative: bool = False
    is_aggregate: bool = False
    allows_uninitialized_input: bool = False
    shape_rule: Callable | None = None
    gradient: Callable | None = None
    is_differentiable: bool | None = True  # False: the gradient is None; None: there is no gradient to ask for
    constant_value: Callable | None = None  # see shape_inference: what constant_value looks through
    folded_value: Callable | None = None  # what shape rules look through besides
    partial_value: Callable | None = None
    lowering: Any = None  # how the plan runs it

    special: str | None = None  # what plans have to know of an op without a kernel: "constant", "switch", ...

    # Traits, which a declaration names: see TRAITS.
    waits: bool = False
    is_variable: bool = False
    makes_variable: bool = False
    takes_any_handle: bool = False
    reads_variable: bool = False
    assigns_variable: bool = False
    checks_variable: bool = False
    changes_object: bool = False
    asks_for_state: bool = False
    keeps_value: bool = False
    keeps_order: bool = False
    moves_elements: bool = False
    reads_shape_only: bool = False
    is_check: bool = False
    is_unordered: bool = False
    saves_or_restores: bool = False

    def output_dtypes(self, attrs) -> list[dtypes.DType]:
        """The dtype of every output, for given attribute values."""
        found = []
        for arg in self.outputs:
            if arg.type_list_attr is not None:
                found.extend(attrs[arg.type_list_attr])
                continue
            dtype = arg.dtype if arg.dtype is not None else attrs[arg.type_attr]
            if arg.is_ref:
                dtype = dtype._as_ref
            found.extend([dtype] * (1 if arg.number_attr is None else attrs[arg.number_attr]))
        return found


# What passes, savers and gradients have to know of an op, and would otherwise know it by name.
TRAITS = {
    "waits": "the kernel may wait for what others do: other steps, runs, or a function of Python",
    "is_variable": "the output is a variable: a reference to it, or its handle",
    "makes_variable": "the output is a variable that the kernel makes, for a run",
    "takes_any_handle": "takes handles of variables and of other resources alike",
    "reads_variable": "takes the value of the variable behind a handle, not the variable",
    "assigns_variable": "gives the variable that is the first input another value",
    "checks_variable": "the kernel checks the variable's type, which need not be that of the attribute",
    "changes_object": "changes what the handle stands for, though TensorFlow does not call the op stateful",
    "asks_for_state": "asks what state a variable is in: initial values do not look behind it",
    "keeps_value": "each output is the first input, on the way to where it is used: TensorFlow looks through it",
    "keeps_order": "the output has the elements of the first input in their order, in another shape",
    "moves_elements": "each element of the output is one of the first input",
    "reads_shape_only": "looks at nothing but the input's shape",
    "is_check": "hands on its input, and exists for its failures",
    "is_unordered": "has state, but need not run, and may run in any order",
    "saves_or_restores": "is of a Saver",
}


# ---- Reading signatures -----------------------------------------------------------------------------------

_SIGNATURE = re.compile(r"(\w+)\((.*?)\) -> \((.*)\)\s*$", re.DOTALL)


def parse_signature(text: str) -> tuple[str, tuple[Arg, ...], tuple[Arg, ...]]:
    match = _SIGNATURE.match(" ".join(text.split()))
    if match is None:
        raise ValueError(f"Not an op signature: {text!r}")
    name, inputs, outputs = match.groups()
    return name, _parse_args(inputs), _parse_args(outputs)


def _parse_args(text: str) -> tuple[Arg, ...]:
    return tuple(_parse_arg(part.strip()) for part in text.split(",") if part.strip())


def _parse_arg(text: str) -> Arg:
    name, spec = (part.strip() for part in text.split(":"))
    number_attr = None
    is_ref = False
    if spec.startswith("Ref("):
        is_ref, spec = True, spec[4:-1]
    if "*" in spec:
        number_attr, spec = (part.strip() for part in spec.split("*"))
        if spec.startswith("Ref("):
            is_ref, spec = True, spec[4:-1]
    if spec in _BY_NAME:
        return Arg(name, dtype=_BY_NAME[spec], number_attr=number_attr, is_ref=is_ref)
    # Whether an attribute is one type or a list of them is said by the attribute: see resolve_type_lists.
    return Arg(name, type_attr=spec, number_attr=number_attr, is_ref=is_ref)


def resolve_type_lists(args: tuple[Arg, ...], attrs: dict[str, AttrDef]) -> tuple[Arg, ...]:
    """Arguments with `type_list_attr` in place of a `type_attr` that is a list of types."""
    return tuple(
        Arg(arg.name, type_list_attr=arg.type_attr, is_ref=arg.is_ref)
        if arg.type_attr is not None and attrs[arg.type_attr].kind == "list(type)"
        else arg
        for arg in args
    )


_ATTR = re.compile(
    r"(\w+)\s*:\s*(list\(.*?\)(?=\s*(?:>=|=|$))|\{.*?\}|\w+)\s*(?:>=\s*(-?\d+))?\s*(?:=\s*(.*))?$", re.S
)


def parse_attrs(text: str) -> dict[str, AttrDef]:
    attrs = {}
    for part in text.split(";"):
        if part.strip():
            attr = _parse_attr(" ".join(part.split()))
            attrs[attr.name] = attr
    return attrs


def _parse_attr(text: str) -> AttrDef:
    match = _ATTR.match(text)
    if match is None:
        raise ValueError(f"Not an attribute: {text!r}")
    name, kind, minimum, default = match.groups()
    allowed = None
    is_list = kind.startswith("list(")
    inner = kind[5:-1].strip() if is_list else kind
    if inner.startswith("{"):
        items = [item.strip() for item in inner[1:-1].split(",")]
        is_text = items[0].startswith("'")
        allowed = tuple(_unquote(item) if is_text else _BY_NAME[item] for item in items)
        inner = "string" if is_text else "type"
        kind = f"list({inner})" if is_list else inner
    return AttrDef(
        name,
        kind,
        has_default=default is not None,
        default=None if default is None else _parse_value(kind, default),
        minimum=None if minimum is None else int(minimum),
        allowed=allowed,
    )


def _unquote(text: str) -> bytes:
    return text[1:-1].replace("\\n", "\n").encode("latin-1")


def _parse_value(kind: str, text: str):
    if kind.startswith("list("):
        items = [item.strip() for item in text[1:-1].split(",") if item.strip()]
        return tuple(_parse_value(kind[5:-1], item) for item in items)
    if kind == "int":
        return int(text)
    if kind == "float":
        return float(np.float32(text))  # as a NodeDef holds it
    if kind == "bool":
        return text == "true"
    if kind == "string":
        return _unquote(text)
    if kind == "type":
        return _BY_NAME[text]
    if kind == "shape":
        if text == "unknown":
            return TensorShape(None)
        return TensorShape([int(size) for size in text[1:-1].split(",") if size])
    if kind == "tensor":
        return _parse_tensor(text)
    raise ValueError(f"No default can be written for an attribute of kind {kind}")


def _parse_tensor(text: str):
    """A constant such as "uint8[255, 0]"; of others it is only told that there are some."""
    match = re.fullmatch(r"(\w+)\[(.*)\]", text)
    if match is None:
        return text
    dtype = _BY_NAME[match[1]]
    values = np.array(match[2].split(","), dtype.as_numpy_dtype)
    return TensorValue(dtype, values.shape, values, is_listed=True)


# ---- Writing signatures -----------------------------------------------------------------------------------


def description(op_def: OpDef) -> str:
    """The signature in the form in which it is declared, then a line for each attribute with a choice of values.

    It ends the docstrings of functions that add a node, so that types are told where they are declared alone.
    """
    inputs, outputs = (", ".join(map(_arg_text, args)) for args in (op_def.inputs, op_def.outputs))
    lines = [f"Op: {op_def.name}({inputs}) -> ({outputs})"]
    for attr in op_def.attrs.values():
        if attr.allowed is not None:
            values = [repr(value.decode()) if isinstance(value, bytes) else value.name for value in attr.allowed]
            lines.append(f"  {attr.name}: {' or '.join(filter(None, (', '.join(values[:-1]), values[-1])))}")
    return "\n".join(lines)


def _arg_text(arg: Arg) -> str:
    spec = arg.dtype.name if arg.dtype is not None else arg.type_attr or arg.type_list_attr
    if arg.is_ref:
        spec = f"Ref({spec})"
    return f"{arg.name}: {spec}" if arg.number_attr is None else f"{arg.name}: {arg.number_attr} * {spec}"


# ---- The table of ops -------------------------------------------------------------------------------------

_OP_DEFS: dict[str, OpDef] = {}
_load: Callable[[str], Any] = lambda op_type: None  # noqa: E731


def register(op_def: OpDef):
    if op_def.name in _OP_DEFS:
        raise RuntimeError(f"Op name {op_def.name} registered twice.")
    _OP_DEFS[op_def.name] = op_def


def set_loader(load: Callable[[str], Any]):
    """`load(op type)` is called before an op that is not in the table is given up."""
    global _load
    _load = load


def find(op_type: str) -> OpDef | None:
    """The op of that type, or None."""
    found = _OP_DEFS.get(op_type)
    if found is None:
        _load(op_type)
        found = _OP_DEFS.get(op_type)
    return found


def has_trait(op_type: str, trait: str) -> bool:
    """Whether the op of that type has a trait of TRAITS; one that is not known has none."""
    found = find(op_type)
    return found is not None and getattr(found, trait)
