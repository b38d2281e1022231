"""fwd_gradients: derivatives along a direction, by two passes of reverse mode."""

from __future__ import annotations

from stillflow import ops
from stillflow.autodiff.reverse import gradients
from stillflow.composites.checks import assert_that
from stillflow.graph.contexts import control_dependencies
from stillflow.graph.indexed_slices import IndexedSlices
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor


@public("contrib.nn.python.ops.fwd_gradients.fwd_gradients")
def fwd_gradients(ys, xs, grad_xs=None, assert_unused=False):
    """The change of each y when the xs change by `grad_xs`, which by default are ones: a product J v.

    J^T u is linear in u, so that its gradient by u along v is J v, whatever u is.

    Args:
      ys, xs: lists of tensors.
      grad_xs: a list of tensors of the shapes of `xs`.
      assert_unused: whether a run fails that evaluates the first pass, whose values have no meaning.

    Returns:
      A list of tensors of the shapes of `ys`.
    """
    us = [ops.zeros_like(y) + float("nan") for y in ys]
    products = gradients(ys, xs, grad_ys=us)
    products = [convert_to_tensor(each) if isinstance(each, IndexedSlices) else each for each in products]
    if assert_unused:
        with control_dependencies(products):
            is_unused = assert_that(False, [1], name="fwd_gradients")
        with control_dependencies([is_unused]):
            products = ops.identity_n(products)
    products = [ops.zeros_like(x) if each is None else each for x, each in zip(xs, products, strict=False)]
    for x, each in zip(xs, products, strict=False):
        each.set_shape(x.shape)
    return gradients(products, us, grad_ys=grad_xs)
