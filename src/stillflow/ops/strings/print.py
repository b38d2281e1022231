"""Assert, Print, PrintV2 and StringFormat: values checked and shown to people."""

from __future__ import annotations

from stillflow.names import public
from stillflow.ops import dims as plain
from stillflow.ops.registry import define_op

assert_op = define_op(
    "Assert(condition: bool, data: T) -> ()",
    "T: list(type) >= 1; summarize: int = 3",
    kernel="assert(condition, data | summarize)",
    stateful=True,
    differentiable=False,
)
print_op = define_op(
    "Print(input: T, data: U) -> (output: T)",
    "T: type; U: list(type) >= 0; message: string = ''; first_n: int = -1; summarize: int = 3",
    kernel="print(input, data | message, first_n, summarize)",
    state="op",
    stateful=True,
)
print_v2 = define_op(
    "PrintV2(input: string) -> ()",
    "output_stream: string = 'stderr'; end: string = '\\n'",
    kernel="print_v2(input | output_stream, end)",
    stateful=True,
    differentiable=None,
)
string_format_op = define_op(
    "StringFormat(inputs: T) -> (output: string)",
    "T: list(type) >= 0; template: string = '%s'; placeholder: string = '%s'; summarize: int = 3",
    kernel="string_format(inputs | template, placeholder, summarize)",
    differentiable=None,
)


@print_v2.shape_rule
def _(context):
    plain.with_rank(context.shapes[0], 0)
    return []


@assert_op.shape_rule
def _(context):
    return []  # a run fails for a condition that is no scalar


@print_op.shape_rule
def _(context):
    return context.shapes[0]


@string_format_op.shape_rule
def _(context):
    return ()


@print_op.gradient
def _(op, *grads):
    return list(grads) + [None] * (len(op._inputs) - 1)


@public("strings.format")
def string_format(template, inputs, placeholder="{}", summarize=3, name=None):
    """A string scalar: `template` with the tensors `inputs` in the places of `placeholder`.

    Raises ValueError unless there are as many places as tensors.
    """
    inputs = list(inputs) if isinstance(inputs, (list, tuple)) else [inputs]
    if template.count(placeholder) != len(inputs):
        raise ValueError(
            f"{template.count(placeholder)} placeholder(s) in template does not match {len(inputs)} tensor(s) "
            "provided as input"
        )
    return string_format_op(inputs, template=template, placeholder=placeholder, summarize=summarize, name=name)


@public("Print")
def Print(input_, data, message=None, first_n=None, summarize=None, name=None):  # noqa: N802
    """`input_`, and whenever it is computed `message` and the values of `data` are written to stderr.

    Args:
      first_n: how many times; None for always.
      summarize: how many elements of each tensor; 3 by default.
    """
    attrs = {"message": message, "first_n": first_n, "summarize": summarize}
    return print_op(input_, data, name=name, **attrs)
