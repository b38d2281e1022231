"""How ops of boosted trees are declared: each by the ranks of its inputs and the shapes of its outputs."""

from __future__ import annotations

from stillflow.ops import dims as plain
from stillflow.ops.registry import define_op

HANDLE = "tree_ensemble_handle: resource"
STREAMS = "quantile_stream_resource_handle: resource"


def define(signature, attrs, kernel, ranks, shapes=(), stateful=True):
    """An op without a gradient.

    Args:
      signature, attrs, kernel: as define_op has them.
      ranks: the ranks of the inputs; (rank, attribute) stands for as many inputs as the attribute says, None for any.
      shapes: what follows of it for the outputs, or a function of the node's context.
      stateful: whether it reads or changes a resource.
    """
    op = define_op(signature, attrs, kernel=kernel, stateful=stateful, differentiable=False)

    @op.shape_rule
    def _(context):
        at = 0
        for each in ranks:
            rank, count = (each[0], context.attrs[each[1]]) if isinstance(each, tuple) else (each, 1)
            for _ in range(count):
                if rank is not None:
                    plain.with_rank(context.shapes[at], rank)
                at += 1
        return shapes(context) if callable(shapes) else list(shapes)

    return op


def define_handle(name, kernel):
    op = define_op(
        f"{name}() -> (resource: resource)",
        "container: string = ''; shared_name: string = ''",
        kernel=f"{kernel}(| 'resource', container, shared_name, node_name)",
        stateful=True,
        differentiable=False,
        state="op",
    )
    op.shape_rule(lambda context: ())
    return op


def batch_size(context, first, count):
    """The size that the vectors among the inputs agree on."""
    size = None
    for shape in context.shapes[first : first + count]:
        size = plain.merged_size(size, plain.with_rank(shape, 1)[0])
    return size
