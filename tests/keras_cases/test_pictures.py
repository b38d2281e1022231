"""Pictures become what they do in TensorFlow; files that data frames name are found."""

import json
from pathlib import Path

import numpy as np
import pytest
from keras_cases import picture_cases

import stillflow as tf

pytest.importorskip("scipy")
pytest.importorskip("PIL")
RECORDED = json.loads((Path(__file__).parent.parent / "golden" / "keras_pictures.json").read_text())


def assert_agrees(found, recorded):
    if isinstance(recorded, (dict, list)):
        assert len(found) == len(recorded)
        for key in recorded if isinstance(recorded, dict) else range(len(recorded)):
            assert_agrees(found[key], recorded[key])
    elif isinstance(recorded, float):
        assert found == pytest.approx(recorded, rel=1e-4, abs=1e-2)
    else:
        assert found == recorded


@pytest.mark.parametrize("case", picture_cases.CASES, ids=lambda case: case.__name__)
def test_pictures_become_what_they_do_in_tensorflow(case):
    found = json.loads(json.dumps(picture_cases.outcome(tf, case)))
    assert_agrees(found, RECORDED[case.__name__])


def test_files_that_a_data_frame_names(tmp_path):
    pandas = pytest.importorskip("pandas")
    for i, picture in enumerate(picture_cases.PICTURES):
        tf.keras.preprocessing.image.save_img(str(tmp_path / f"{i}.png"), picture)
    frame = pandas.DataFrame(
        {
            "filename": [f"{i}.png" for i in range(6)] + ["missing.png"],
            "class": ["x", "y", "x", "z", "y", "x", "x"],
            "value": [0.5 * i for i in range(7)],
        }
    )
    generator = tf.keras.preprocessing.image.ImageDataGenerator()
    arguments = {"target_size": (3, 3), "batch_size": 4, "shuffle": False}
    with pytest.warns(UserWarning, match="1 invalid image filename"):
        flow = generator.flow_from_dataframe(frame, str(tmp_path), weight_col="value", **arguments)
    pictures, targets, weights = next(flow)
    assert (pictures.shape, flow.class_indices, flow.samples) == ((4, 3, 3, 3), {"x": 0, "y": 1, "z": 2}, 6)
    np.testing.assert_array_equal(targets, np.eye(3)[[0, 1, 0, 2]])
    np.testing.assert_array_equal(weights, [0, 0.5, 1, 1.5])
    valid = frame[:6]
    raw = generator.flow_from_dataframe(valid, str(tmp_path), y_col="value", class_mode="raw", **arguments)
    np.testing.assert_array_equal(next(raw)[1], [0, 0.5, 1, 1.5])
    some = generator.flow_from_dataframe(valid, str(tmp_path), classes=["y", "z"], class_mode="sparse", **arguments)
    assert (some.filenames, next(some)[1].tolist()) == (["1.png", "3.png", "4.png"], [0, 1, 0])
    with pytest.raises(ValueError, match="must be 2 classes. Found 3 classes"):
        generator.flow_from_dataframe(valid, str(tmp_path), class_mode="binary")
    with pytest.raises(TypeError, match="y_col must be a list. Received str"):
        generator.flow_from_dataframe(valid, str(tmp_path), class_mode="multi_output")
