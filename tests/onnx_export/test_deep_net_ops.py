"""Ops of deep nets that ONNX says in several nodes compute in onnxruntime what they compute here."""

import fnmatch

import numpy as np
import pytest
from onnx_export.running import IMAGES, check
from stillflow.ops.contents import OPS

import stillflow as tf
from stillflow.command_line import main
from stillflow.graph.op_def import find
from stillflow.onnx_export import ops as _converters  # noqa: F401
from stillflow.onnx_export.translation import CONVERTERS, REASONS
from stillflow.ops.registry import Written


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize("in_batch", [False, True])
def test_max_pool_with_argmax(tmp_path, padding, in_batch):
    def build(x):
        found = tf.nn.max_pool_with_argmax(
            x, [1, 3, 2, 1], [1, 2, 2, 1], padding, include_batch_in_index=in_batch, Targmax=tf.int32
        )
        return [found.output, found.argmax]

    check(tmp_path, build, ([2, 9, 8, 3], tf.float32))


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
def test_dilation_and_erosion(tmp_path, padding):
    weights = np.random.default_rng(2).standard_normal([3, 2, 6]).astype(np.float32)

    def build(x):
        options = {"strides": [1, 2, 1, 1], "rates": [1, 1, 2, 1], "padding": padding}
        eroded = tf.nn.erosion2d(x, weights, [1, 1, 1, 1], [1, 1, 1, 1], padding)
        return [tf.nn.dilation2d(x, weights, **options), eroded]

    check(tmp_path, build, ([2, 9, 8, 6], tf.float32))


def test_patches(tmp_path):
    def build(x):
        valid = tf.image.extract_image_patches(x, [1, 3, 2, 1], [1, 2, 1, 1], [1, 1, 2, 1], "VALID")
        return [valid, tf.image.extract_image_patches(x, [1, 2, 2, 1], [1, 2, 2, 1], [1, 1, 1, 1], "SAME")]

    check(tmp_path, build, ([2, 9, 8, 3], tf.float32))


def test_old_space_to_batch_and_back(tmp_path):
    def build(x):
        blocks = tf.space_to_batch(x, [[1, 0], [0, 2]], block_size=2)
        return [blocks, tf.batch_to_space(blocks, [[1, 0], [0, 2]], block_size=2)]

    check(tmp_path, build, ([2, 9, 8, 3], tf.float32))


def test_batch_norm_with_global_normalization(tmp_path):
    def build(x, mean, variance, beta, gamma):
        moments = mean, tf.square(variance)
        return [
            tf.nn.batch_norm_with_global_normalization(x, *moments, beta, gamma, 1e-3, scales)
            for scales in (False, True)
        ]

    check(tmp_path, build, IMAGES, *[([6], tf.float32)] * 4)


@pytest.mark.parametrize("half", [False, True])
def test_bicubic_resizing(tmp_path, half):
    # TensorFlow takes the weights from a table of 1,024.
    def build(x):
        return [tf.raw_ops.ResizeBicubic(images=x, size=size, half_pixel_centers=half) for size in ([13, 17], [5, 4])]

    check(tmp_path, build, IMAGES, rtol=0, atol=6e-3)


@pytest.mark.parametrize("align_corners", [False, True])
def test_resizing_by_areas(tmp_path, align_corners):
    def build(x):
        return [tf.image.resize_area(x, size, align_corners) for size in ([13, 17], [5, 4])]

    check(tmp_path, build, IMAGES)


def test_pools_of_whole_numbers(tmp_path):
    check(tmp_path, lambda x: tf.nn.max_pool(x * 2**24 + 1, 2, 2, "SAME"), ([2, 5, 4, 3], tf.int32))


def test_elements_by_numbers(tmp_path):
    def build(x, numbers):
        made = [tf.one_hot(numbers - 1, 4, axis=axis, dtype=tf.int64) for axis in (-1, 0, 1)]
        made += [tf.one_hot(numbers[0, 0], 3, 5.0, 2.0), tf.one_hot(tf.cast(numbers, tf.uint8), 3, True, False)]
        made += [tf.unravel_index(numbers[:, 0], [2, 3, 2]), tf.unravel_index(numbers[0, 0], [2, 3])]
        made.append(tf.raw_ops.ClipByValue(t=x, clip_value_min=-0.5, clip_value_max=0.5))
        made.append(tf.where(x[:, 0] > 0, x > 1, x < -1))
        made.append(tf.raw_ops.ApproximateEqual(x=x, y=tf.round(x), tolerance=0.25))
        made.append(tf.raw_ops.ScatterNdNonAliasingAdd(input=x, indices=[[1], [0], [1]], updates=x[:3]))
        return made

    check(tmp_path, build, ([4, 3], tf.float32), ([2, 3], tf.int32))


def test_simulated_quantization(tmp_path):
    def build(x, low, high, scalar):
        low, high = -tf.abs(low), tf.abs(high)
        made = [tf.fake_quant_with_min_max_args(x, -1.3, 0.7, num_bits=4, narrow_range=True)]
        for bounds in ((low[0], high[0]), (scalar * 0, scalar * 0)):
            made.append(tf.fake_quant_with_min_max_vars(x, *bounds, num_bits=3))
            made += tf.gradients(tf.reduce_sum(made[-1] * x), [x, *bounds])
        made.append(tf.fake_quant_with_min_max_vars_per_channel(x, low, high))
        return made + tf.gradients(tf.reduce_sum(tf.square(made[-1])), [x, low, high])

    check(tmp_path, build, ([5, 3], tf.float32), *[([3], tf.float32)] * 2, ([], tf.float32))


def test_products(tmp_path):
    def build(x, y):
        made = [tf.raw_ops.Einsum(inputs=[x, y], equation="ij,kj->ik"), tf.cross(x, x[::-1])]
        made.append(tf.raw_ops.ConjugateTranspose(x=x, perm=[1, 0]))
        made.append(tf.raw_ops.ParallelConcat(values=[x[:1], y[:1]], shape=[2, 3]))
        return [*made, tf.raw_ops.BroadcastArgs(s0=tf.shape(x), s1=[4, 1, 1])]

    check(tmp_path, build, ([2, 3], tf.float32), ([4, 3], tf.float32))


def test_convolutions_of_padded_images(tmp_path):
    weights = np.random.default_rng(1).standard_normal([3, 2, 6, 4]).astype(np.float32)
    options = {"filter": weights, "mode": "REFLECT", "strides": [1, 2, 1, 1], "padding": "VALID"}

    def build(x):
        paddings = [[0, 0], [1, 1], [2, 0], [0, 0]]
        padded = tf.raw_ops.FusedPadConv2D(input=x, paddings=paddings, **options)
        return [padded, tf.raw_ops.FusedResizeAndPadConv2D(input=x, size=[5, 7], paddings=paddings, **options)]

    check(tmp_path, build, ([2, 9, 8, 6], tf.float32))


def test_first_gradients_of_volumes(tmp_path):
    def build(x, w, y):
        options = {"input": x, "filter": w, "out_backprop": y, "strides": [1, 2, 2, 2, 1], "padding": "SAME"}
        return [tf.raw_ops.Conv3DBackpropInput(**options), tf.raw_ops.Conv3DBackpropFilter(**options)]

    check(
        tmp_path, build, ([2, 5, 4, 3, 2], tf.float32), ([2, 3, 2, 2, 3], tf.float32), ([2, 3, 2, 2, 3], tf.float32)
    )


def test_every_op_of_nets_has_a_converter():
    declared = [name for name, module in OPS.items() if module.startswith("nn.")]
    missing = [name for name in declared if name not in CONVERTERS and not isinstance(find(name).lowering, Written)]
    assert len(declared) > 70
    assert missing == []


def test_every_reason_is_that_of_an_op_without_a_converter():
    without = [name for name in OPS if name not in CONVERTERS]
    assert [pattern for pattern in REASONS if not fnmatch.filter(without, pattern)] == []


def test_segments(tmp_path):
    numbers, mixed = [0, 0, 1, 3, 3], [2, 0, -1, 2, 0]
    places, rows = [3, 0, 0, 4], [0, 0, 2, 2]

    def build(x):
        made = [
            function(x, numbers)
            for function in (tf.segment_sum, tf.segment_mean, tf.segment_prod, tf.segment_max, tf.segment_min)
        ]
        made += [
            function(x, mixed, 4)
            for function in (tf.unsorted_segment_sum, tf.unsorted_segment_max, tf.unsorted_segment_min)
        ]
        made.append(tf.unsorted_segment_prod(x, mixed, 4))
        made.append(tf.unsorted_segment_mean(x, mixed, 4))
        made.append(tf.unsorted_segment_sum(x, [[0, 1]] * 5, 3))
        for function in (tf.sparse_segment_sum, tf.sparse_segment_mean, tf.sparse_segment_sqrt_n):
            made += [function(x, places, rows), function(x, places, rows, num_segments=5)]
        return made

    check(tmp_path, build, ([5, 2], tf.float32))


def test_combined_embeddings(tmp_path):
    ids = tf.SparseTensorValue([[0, 0], [0, 2], [1, 1], [2, 0]], np.int64([3, 1, 3, 0]), [3, 3])
    weights = tf.SparseTensorValue(ids.indices, np.float32([1, 2, 0.5, 1]), [3, 3])

    def build(table):
        made = []
        for combiner in ("sum", "mean", "sqrtn"):
            for own in (None, tf.SparseTensor(*weights)):
                made.append(tf.nn.embedding_lookup_sparse(table, tf.SparseTensor(*ids), own, combiner=combiner))
        return made

    check(tmp_path, build, ([5, 4], tf.float32))


def test_sparse_matrices(tmp_path):
    sparse = tf.SparseTensorValue([[0, 1], [0, 3], [2, 0]], np.float32([1, 2, 3]), [3, 4])

    def build(a, b):
        made = [tf.sparse_tensor_dense_matmul(tf.SparseTensor(*sparse), a)]
        made.append(tf.sparse_tensor_dense_matmul(tf.SparseTensor(*sparse), b, adjoint_a=True))
        made.append(tf.sparse_tensor_dense_matmul(tf.SparseTensor(*sparse), b, adjoint_a=True, adjoint_b=False))
        made.append(tf.sparse_to_dense([[0, 1], [2, 0]], [3, 2], a[0, :2], default_value=-1.0))
        made.append(tf.sparse_to_dense([1, 3], [5], a[0, 0]))
        return made

    check(tmp_path, build, ([4, 2], tf.float32), ([3, 2], tf.float32))


def test_diagonals(tmp_path):
    def build(x, vector, square):
        made = [tf.matrix_diag(x), tf.matrix_diag_part(x), tf.diag(vector), tf.diag(square), tf.linalg.det(square)]
        made.append(tf.diag_part(tf.diag(square)))
        made.append(tf.matrix_set_diag(x, x[:, :2, 0]))
        made.append(tf.matrix_set_diag(tf.transpose(x, [0, 2, 1]), x[:, :2, 0]))
        return made

    check(tmp_path, build, ([3, 2, 4], tf.float32), ([3], tf.float32), ([3, 3], tf.float32))


def test_parts_by_numbers(tmp_path):
    def build(x, y):
        first, second = tf.dynamic_partition(x, [1, 0, 1, 1], 2)
        flat = tf.dynamic_partition(x, [[0, 1]] * 4, 2)
        stitched = tf.dynamic_stitch([[3, 0], [1, 2, 3]], [x[:2], y])
        inverse = tf.invert_permutation(tf.cast(stitched[:3, 0] * 0, tf.int32) + [2, 0, 1])
        return [first, second, *flat, stitched, inverse, tf.roll(x, [1, -1], [0, 1])]

    check(tmp_path, build, ([4, 2], tf.float32), ([3, 2], tf.float32))


def test_unique(tmp_path):
    def build(x):
        values, places = tf.unique(x)
        counted = tf.unique_with_counts(x, out_idx=tf.int64)
        return [values, places, *counted]

    check(tmp_path, build, ([7], tf.int32), feeds=[np.int32([3, 1, 3, 2, 1, 9, 3])])


def test_numbers(tmp_path):
    def build(x, y):
        made = [tf.lin_space(0.5, x[0, 0], 4), tf.lin_space(x[0, 0], 1.0, 1), tf.atan2(x, y), tf.rank(x)]
        made += tf.raw_ops.ShapeN(input=[x, y])
        made.append(tf.accumulate_n([x, y]))
        made.append(tf.contrib.slim.bucketize(x, [-0.5, 0.0, 1.0]))
        made += [tf.raw_ops.NthElement(input=x, n=1), tf.raw_ops.NthElement(input=x, n=0, reverse=True)]
        made.append(tf.raw_ops.DataFormatVecPermute(x=[1, 2, 3, 4], src_format="NHWC", dst_format="NCHW"))
        made.append(tf.raw_ops.DataFormatDimMap(x=tf.cast(x[0] * 0, tf.int32), src_format="NHWC", dst_format="NCHW"))
        return made

    check(tmp_path, build, ([None, 4], tf.float32), ([None, 4], tf.float32))


@pytest.mark.parametrize("merges", [False, True])
def test_greedy_ctc_decoder(tmp_path, merges):
    scores = np.random.default_rng(3).standard_normal([7, 3, 3]).astype(np.float32)
    scores[3, 0] = scores[2, 0]

    def build(x):
        (found,), score = tf.nn.ctc_greedy_decoder(x, [7, 4, 0], merge_repeated=merges)
        return [found.indices, found.values, found.dense_shape, score]

    check(tmp_path, build, ([7, 3, 3], tf.float32), feeds=[scores])


@pytest.mark.parametrize(
    ("build", "reason"),
    [
        (lambda x: tf.random_gamma([2], x), "it draws random numbers of a distribution that ONNX lacks"),
        (
            lambda x: tf.raw_ops.RandomGammaGrad(alpha=x, sample=x),
            "it is a gradient, of which only those of nets are said here",
        ),
        (lambda x: tf.py_func(np.sin, [x], tf.float32), "it calls Python"),
    ],
)
def test_reasons_of_refusals(tmp_path, build, reason, capsys):
    with tf.Graph().as_default() as graph:
        output = build(tf.placeholder(tf.float32, [2, 9, 8, 6], "in0"))
        (tmp_path / "model.pb").write_bytes(graph.as_graph_def().SerializeToString())
    files = [str(tmp_path / name) for name in ("model.pb", "model.onnx")]
    assert main(["convert", *files, "--outputs", output.name]) == 2
    assert f"cannot be said in ONNX: {reason}" in capsys.readouterr().err
