"""SampleDistortedBoundingBox: TensorFlow's boxes, bad input."""

import numpy as np
import pytest
from random_vectors import assert_matches, case_id, cases, seeds

import stillflow as tf
from stillflow import ops
from stillflow.testing import assert_same_bits, new_session, of_unknown_shape

SIZE = np.array([20, 30, 3], np.int32)
BOXES = np.array([[[0.1, 0.2, 0.9, 0.8]]], np.float32)


@pytest.mark.parametrize("case", cases("bounding_box"), ids=case_id)
def test_boxes_are_those_of_tensorflow(case):
    options = {key: case[key] for key in ("aspect_ratio_range", "area_range", "max_attempts")}
    options["use_image_if_no_bounding_boxes"] = not case["boxes"]
    boxes = np.array(case["boxes"], np.float32).reshape(1, -1, 4)
    size = np.array(case["image_size"], np.int32)
    with new_session() as session:
        covered = np.float32(case["min_object_covered"])
        box = ops.sample_distorted_bounding_box_v2(size, boxes, covered, **seeds(case), **options)
        first = ops.sample_distorted_bounding_box(size, boxes, min_object_covered=covered, **seeds(case), **options)
        for expected in case["out"]:
            for found in session.run([list(box), list(first)]):
                for value, key in zip(found, ("begin", "size", "bboxes"), strict=True):
                    assert_matches(expected[key], value)


def test_parts_are_inside_and_cover_enough():
    with new_session() as session:
        begin, size, box = tf.image.sample_distorted_bounding_box(
            SIZE, BOXES, seed=5, seed2=6, min_object_covered=0.5
        )
        for _ in range(50):
            (y, x, _), (height, width, depth), ((part,),) = session.run([begin, size, box])
            assert 0 <= y <= y + height <= 20
            assert 0 <= x <= x + width <= 30
            assert depth == -1
            np.testing.assert_allclose(part, [y / 20, x / 30, (y + height) / 20, (x + width) / 30], rtol=1e-6)
            high = min(y + height, 18) - max(y, 2)
            wide = min(x + width, 24) - max(x, 6)
            assert high * wide >= 0.5 * 16 * 18


def test_same_bits_everywhere():
    assert_same_bits(lambda s, b: list(tf.image.sample_distorted_bounding_box(s, b, seed=1, seed2=2)), SIZE, BOXES)


def test_every_type_of_size():
    expected = [[6, 15, 0], [11, 11, -1]]
    with new_session() as session:
        for dtype in ("int8", "int16", "int32", "int64"):
            box = tf.image.sample_distorted_bounding_box(SIZE.astype(dtype), BOXES, seed=1, seed2=2)
            assert [value.tolist() for value in session.run(list(box[:2]))] == expected
            assert box[0].dtype == dtype


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"image_size": [SIZE]}, "image_size must be 1-dimensional"),
        ({"image_size": SIZE[:2]}, "image_size must contain 3 elements"),
        ({"image_size": -SIZE}, "image height cannot be >= int32 max"),
        ({"bounding_boxes": BOXES[0]}, "input boxes must be 3-dimensional"),
        ({"bounding_boxes": BOXES[..., :3]}, "bounding boxes must have shape"),
        ({"bounding_boxes": BOXES[:, :0]}, "No bounding boxes provided as input"),
        ({"bounding_boxes": BOXES + 1}, r"must be in \[0.0, 1.0\]: 1.1"),
        ({"bounding_boxes": BOXES * np.nan}, "must be in"),
        ({"min_object_covered": -0.5}, "Min object covered must be non-negative: -0.5"),
        ({"min_object_covered": [0.5]}, "min_object_covered must be 0-D"),
        ({"aspect_ratio_range": [1.0]}, "Aspect ratio range field must specify 2 dimensions"),
        ({"aspect_ratio_range": [-1.0, 1.0]}, "Aspect ratio range must be non-negative"),
        ({"area_range": [0.5, 2.0]}, "Area range must be less then or equal to 1.0"),
        ({"max_attempts": 0}, "Max attempts must be non-negative: 0"),
    ],
)
def test_bad_input_is_refused(changes, message):
    with new_session() as session:
        arguments = {"image_size": SIZE, "bounding_boxes": BOXES, "min_object_covered": 0.1, "seed": 1, "seed2": 2}
        arguments.update(changes)
        for key in ("image_size", "bounding_boxes"):
            arguments[key] = of_unknown_shape(tf.constant(arguments[key]))
        arguments["min_object_covered"] = of_unknown_shape(tf.constant(arguments["min_object_covered"]))
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            session.run(list(tf.image.sample_distorted_bounding_box(**arguments)))


def test_extremes_end():
    with new_session() as session:
        for options in ({"aspect_ratio_range": [0.0, 0.0]}, {"area_range": [0.0, 0.0]}, {"min_object_covered": 2.0},
                        {"aspect_ratio_range": [1e30, 1e30]}, {"area_range": [1.0, 0.5]}):  # fmt: skip
            begin, size, _ = tf.image.sample_distorted_bounding_box(SIZE, BOXES, seed=1, seed2=2, **options)
            assert [value.tolist() for value in session.run([begin, size])] == [[0, 0, 0], [20, 30, -1]]
