"""Single layers of convnets: convolutions of ResNet-50's and MobileNet's shapes, pools and batch normalization.

The operation alone is run, on variables; of a gradient that of one operand.
"""

import numpy as np

from bench.cases.registry import TENSORFLOWS, case, open_session, threaded_copy

ENGINES = (*TENSORFLOWS, "torch")
BATCH = 8


def _values(*shapes):
    random = np.random.RandomState(0)
    return [random.standard_normal(shape).astype(np.float32) for shape in shapes]


def layer(name, bar, shapes, build, torch, moved=None):
    """build(tf, *variables) gives the node; torch(torch, *tensors) a function to time, images as they are here."""

    @case(name, (*ENGINES, *(("copy",) if moved else ())), bar=bar, copy_bar=0.8 if moved else None)
    def make(engine, threads):
        if engine.__name__ == "copy":
            source = np.ones(moved // 8, np.float32)
            return threaded_copy(source, np.empty_like(source), threads)
        values = _values(*shapes)
        if engine.__name__ == "torch":
            return torch(engine, *(engine.from_numpy(value) for value in values))
        variables = [engine.Variable(value) for value in values]
        operation = build(engine, *variables).op
        session = open_session(engine, threads)
        session.run(engine.global_variables_initializer())
        return lambda: session.run(operation)


def _convolution(what, size, depth, channels, window, stride=1):
    """Forward and both gradients of one convolution; without `channels` it is depthwise."""
    out = -(-size // stride)
    strides = [1, stride, stride, 1]
    filters = (window, window, depth, channels or 1)
    image, pooled = (BATCH, size, size, depth), (BATCH, out, out, channels or depth)

    def forward(tf, x, f):
        if channels is None:
            return tf.nn.depthwise_conv2d_native(x, f, strides, "SAME")
        return tf.nn.conv2d(x, f, strides=strides, padding="SAME")

    def gradient(operand):
        def build(tf, x, f, g):
            return tf.gradients(forward(tf, x, f), [(x, f)[operand]], [g])[0]

        return build

    def torch_operands(torch, x, f):
        groups = depth if channels is None else 1
        order = (2, 3, 0, 1) if channels is None else (3, 2, 0, 1)
        f = f.permute(*order).contiguous(memory_format=torch.channels_last)
        return x.permute(0, 3, 1, 2), f, groups

    def torch_forward(torch, x, f):
        x, f, groups = torch_operands(torch, x, f)
        with torch.no_grad():
            return lambda: torch.nn.functional.conv2d(x, f, None, stride, window // 2, 1, groups)

    def torch_gradient(operand):
        def make(torch, x, f, g):
            x, f, groups = torch_operands(torch, x, f)
            g = g.permute(0, 3, 1, 2)
            mask = [operand == 0, operand == 1, False]
            pads = [window // 2] * 2
            gradient = torch.ops.aten.convolution_backward
            return lambda: gradient(g, x, f, None, [stride] * 2, pads, [1, 1], False, [0, 0], groups, mask)

        return make

    name = f"{what} {window}x{window}, {size}x{size}x{depth}"
    name += f" to {channels}" if channels else ""
    name += f", stride {stride}" if stride > 1 else ""
    layer(f"{name}: forward", 0.9, (image, filters), forward, torch_forward)
    for operand, of in enumerate(("image", "filter")):
        layer(
            f"{name}: gradient by the {of}", 0.9, (image, filters, pooled), gradient(operand), torch_gradient(operand)
        )


for _size, _depth in ((56, 64), (28, 128), (14, 256), (7, 512)):
    _convolution("convolution", _size, _depth, _depth, 3)
    _convolution("convolution", _size, _depth, 4 * _depth, 1)
    _convolution("convolution", _size, 4 * _depth, _depth, 1)
for _size, _depth, _stride in ((112, 32, 1), (56, 128, 1), (28, 256, 1), (14, 512, 1), (7, 1024, 1)):
    _convolution("depthwise convolution", _size, _depth, None, 3, _stride)


# ---- Pools and batch normalization -----------------------------------------------------------------------------

_IMAGES = (32, 56, 56, 64)
_HALVED = (32, 28, 28, 64)
_BYTES = 4 * int(np.prod(_IMAGES))


def _pool(kind):
    def forward(tf, x):
        return getattr(tf.nn, f"{kind}_pool")(x, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="VALID")

    def backward(tf, x, g):
        return tf.gradients(forward(tf, x), [x], [g])[0]

    def torch_forward(torch, x):
        x, pool = x.permute(0, 3, 1, 2), getattr(torch.nn.functional, f"{kind}_pool2d")
        return lambda: pool(x, 2)

    def torch_backward(torch, x, g):
        x, g = x.permute(0, 3, 1, 2).requires_grad_(), g.permute(0, 3, 1, 2)
        pooled = getattr(torch.nn.functional, f"{kind}_pool2d")(x, 2)
        return lambda: torch.autograd.grad(pooled, x, g, retain_graph=True)

    layer(f"{kind} pool 2x2 of 32x56x56x64: forward", 1.0, (_IMAGES,), forward, torch_forward, _BYTES * 5 // 4)
    layer(
        f"{kind} pool 2x2 of 32x56x56x64: gradient", 1.0, (_IMAGES, _HALVED), backward, torch_backward,
        _BYTES * 5 // 4 if kind == "avg" else _BYTES * 9 // 4,
    )  # fmt: skip


_pool("max")
_pool("avg")


def _normalize(tf, x, scale, offset):
    return tf.nn.fused_batch_norm(x, scale, offset)[0]


def _normalize_of_torch(torch, x, scale, offset):
    x = x.permute(0, 3, 1, 2)
    return lambda: torch.nn.functional.batch_norm(x, None, None, scale, offset, True)


def _normalize_back(tf, x, scale, offset, g):
    return tf.gradients(_normalize(tf, x, scale, offset), [x], [g])[0]


def _normalize_back_of_torch(torch, x, scale, offset, g):
    x, g = x.permute(0, 3, 1, 2).requires_grad_(), g.permute(0, 3, 1, 2)
    result = torch.nn.functional.batch_norm(x, None, None, scale.requires_grad_(), offset.requires_grad_(), True)
    return lambda: torch.autograd.grad(result, [x, scale, offset], g, retain_graph=True)


_SCALES = ((64,), (64,))
layer(
    "batch normalization of 32x56x56x64, training: forward", 1.0, (_IMAGES, *_SCALES), _normalize,
    _normalize_of_torch, 3 * _BYTES,
)  # fmt: skip
layer(
    "batch normalization of 32x56x56x64, training: gradient", 1.0, (_IMAGES, *_SCALES, _IMAGES), _normalize_back,
    _normalize_back_of_torch, 5 * _BYTES,
)  # fmt: skip
