"""What declarations of data sets share: they give a variant scalar and say what their elements are."""

from __future__ import annotations

from stillflow.ops import dims as plain
from stillflow.ops.registry import define_op

SPEC = "output_types: list(type) >= 1; output_shapes: list(shape) >= 1"


def define_dataset(name, inputs, kernel, *, attrs=SPEC, scalars=(), stateful=False):
    """Declares an op that gives a data set.

    Args:
      inputs: its inputs, as in a signature.
      kernel: the kernel call.
      attrs: its attributes.
      scalars: the indices of inputs that have to be scalars.
      stateful: whether TensorFlow calls it so.
    """
    op = define_op(
        f"{name}({inputs}) -> (handle: variant)", attrs, kernel=kernel, stateful=stateful, differentiable=False
    )

    @op.shape_rule
    def _(context):
        for index in scalars:
            plain.with_rank(context.shapes[index], 0)
        return ()

    return op


def define_anonymous(thing, inputs, kernel):
    """Declares the ops that make a thing that iterators share, and delete it: (make, delete).

    Args:
      thing: what op types call it, as in AnonymousMemoryCache and DeleteMemoryCache.
      inputs: those of the first op, as in a signature.
      kernel: what kernels call it, as in make_memory_cache and delete_memory_cache.
    """
    names = ", ".join(part.partition(":")[0] for part in inputs.split(", ") if part)
    make = define_op(
        f"Anonymous{thing}({inputs}) -> (handle: resource, deleter: variant)",
        kernel=f"make_{kernel}({names} | 'resource', 'localhost', node_name, node_name)",
        state="op",
        stateful=True,
        differentiable=False,
    )
    make.shape_rule(lambda context: [(), ()])
    delete = define_op(
        f"Delete{thing}(handle: resource, deleter: variant) -> ()",
        kernel=f"delete_{kernel}(handle, deleter)",
        stateful=True,
        differentiable=False,
    )
    return make, delete
