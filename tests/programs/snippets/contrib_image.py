"""tf.contrib.image: images turned, moved, projected and warped."""

import importlib

import numpy as np


def _image(tf, *shape):
    return tf.constant(np.random.RandomState(len(shape)).rand(*shape).astype(np.float32))


def _unknown(tf, values, shape=None):
    return tf.placeholder_with_default(tf.convert_to_tensor(values), shape)


def _lib(tf):
    return importlib.import_module(tf.__name__ + ".contrib.image")


def rotated_images(tf):
    image = _lib(tf)
    batch, single, plain = _image(tf, 2, 5, 6, 2), _image(tf, 5, 4, 3), _image(tf, 6, 5)
    return [
        image.rotate(batch, 0.5), image.rotate(batch, [0.5, -2.0], interpolation="BILINEAR"),
        image.rotate(single, np.pi / 2), image.rotate(plain, _unknown(tf, 0.3, []), "bilinear", name="turned"),
        image.rotate(tf.cast(batch * 255, tf.uint8), 0.4, "BILINEAR"),
        image.rotate(tf.cast(batch * 255, tf.int32), 0.4),
        image.rotate(tf.cast(batch, tf.float16), 0.4, "BILINEAR"),
        image.rotate(tf.cast(batch, tf.float64), 0.4, "BILINEAR"),
        image.rotate(_unknown(tf, batch, [None, None, None, 2]), -0.7),
    ]  # fmt: skip


def translated_images(tf):
    image = _lib(tf)
    batch = _image(tf, 2, 5, 6, 2)
    return [
        image.translate(batch, [1, -2]), image.translate(batch, [[0.5, 1.25], [-3, 0]], "BILINEAR"),
        image.translate(tf.cast(batch[0] * 1e6, tf.int64), [0.5, 0.5], "BILINEAR", name="moved"),
    ]  # fmt: skip


def projected_images(tf):
    image = _lib(tf)
    batch = _image(tf, 2, 5, 6, 1)
    shear = [1.0, 0.3, -0.5, 0.1, 0.9, 0.2, 0.01, -0.02]
    both = image.compose_transforms(shear, [1.0, 0, 1, 0, 1, -1, 0, 0])
    results = [
        both, image.transform(batch, both), image.transform(batch, shear, "BILINEAR", output_shape=[3, 9]),
        image.transform(batch, [shear, [1.0, 0, 0, 0, 1, 0, -0.5, 0]], output_shape=_unknown(tf, [4, 4], [2])),
        image.transform(batch[0, :, :, 0], _unknown(tf, shear, [8]), name="plane"),
        image.matrices_to_flat_transforms(np.float32([[2, 0, 1], [0, 2, 3], [0.5, 0, 4]])),
    ]  # fmt: skip
    squares = [tf.reduce_sum(results[i] * results[i]) for i in (1, 2)]
    return results + tf.gradients(squares, [batch])


def warped_images(tf):
    image = _lib(tf)
    batch = _image(tf, 2, 5, 6, 2)
    flow = tf.constant(np.random.RandomState(0).normal(size=(2, 5, 6, 2)).astype(np.float32) * 2)
    warped = image.dense_image_warp(batch, flow)
    unknown = image.dense_image_warp(_unknown(tf, batch, [None] * 4), tf.cast(flow, tf.float64), name="w")
    return [warped, unknown, *tf.gradients(warped * warped, [batch, flow])]


def splines(tf):
    image = _lib(tf)
    random = np.random.RandomState(1)
    points, values = tf.constant(random.rand(2, 6, 2), tf.float64), tf.constant(random.rand(2, 6, 3), tf.float64)
    queries = tf.constant(random.rand(2, 4, 2), tf.float64)
    return [image.interpolate_spline(points, values, queries, order) for order in (1, 2, 3, 4, 6)] + [
        image.interpolate_spline(points, values, queries, 2, regularization_weight=0.1, name="smooth")
    ]


def sparsely_warped_images(tf):
    image = _lib(tf)
    batch = tf.cast(_image(tf, 1, 6, 6, 1), tf.float64)
    sources = tf.constant([[[1.0, 1.0], [4.0, 2.0], [2.0, 4.0], [4.5, 4.5]]], tf.float64)
    places = tf.constant([[[1.5, 1.0], [3.0, 2.5], [2.0, 4.0], [4.0, 4.0]]], tf.float64)
    results = [*image.sparse_image_warp(batch, sources, places)]
    return results + [*image.sparse_image_warp(batch, sources, places, num_boundary_points=2, name="still")]
