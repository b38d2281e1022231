"""Gradients of convolutions: linear in images and in filters, they are each other's gradients."""

from __future__ import annotations

from stillflow import ops


def attach_gradients(convolve, by_images, by_filters):
    """Attaches gradients to a convolution and to its two gradients, which take the shape of what they are of."""

    def window(op):
        return {name: op.get_attr(name) for name in ("dilations", "strides", "padding", "data_format")}

    @convolve.gradient
    def _(op, grad):
        images, filters = op._inputs
        image_grad = by_images(ops.shape(images), filters, grad, **window(op))
        return image_grad, by_filters(images, ops.shape(filters), grad, **window(op))

    @by_images.gradient
    def _(op, grad):
        _, filters, out_backprop = op._inputs
        filter_grad = by_filters(grad, ops.shape(filters), out_backprop, **window(op))
        return None, filter_grad, convolve(grad, filters, **window(op))

    @by_filters.gradient
    def _(op, grad):
        images, _, out_backprop = op._inputs
        image_grad = by_images(ops.shape(images), grad, out_backprop, **window(op))
        return image_grad, None, convolve(images, grad, **window(op))
