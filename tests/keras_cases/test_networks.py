"""Networks have the layers, weights and connections that TensorFlow gives them; weights are read from a file."""

import json
from pathlib import Path

import numpy as np
import pytest
from keras_cases import network_cases

import stillflow as tf
from stillflow.keras.applications import pixels

RECORDED = json.loads((Path(__file__).parent.parent / "golden" / "keras_networks.json").read_text())
CASES = [(name, {}) for name in network_cases.NETWORKS] + list(network_cases.OTHERS.items())


@pytest.mark.parametrize(("name", "arguments"), CASES, ids=lambda value: value if isinstance(value, str) else "")
def test_networks_are_those_of_tensorflow(name, arguments):
    found = json.loads(json.dumps(network_cases.description(tf, name, arguments)))
    assert found == RECORDED[f"{name} otherwise" if arguments else name]


def test_pixels_are_scaled_as_in_tensorflow():
    assert network_cases.preprocessed(tf) == RECORDED["pixels"]
    pictures = np.arange(2 * 3 * 3 * 3, dtype="float32").reshape(2, 3, 3, 3)
    with tf.Session() as session:
        for module in (tf.keras.applications.vgg16, tf.keras.applications.densenet, tf.keras.applications.nasnet):
            of_tensor = session.run(module.preprocess_input(tf.constant(pictures)))
            np.testing.assert_allclose(of_tensor, module.preprocess_input(pictures.copy()), rtol=1e-5, atol=1e-5)


def test_weights_of_a_file(tmp_path):
    pytest.importorskip("h5py")
    arguments = {"alpha": 0.25, "input_shape": (32, 32, 3), "include_top": False}
    with tf.Graph().as_default(), tf.Session().as_default():
        tf.set_random_seed(1)
        first = tf.keras.applications.MobileNet(weights=None, **arguments)
        first.save_weights(str(tmp_path / "w.h5"))
        second = tf.keras.applications.MobileNet(weights=str(tmp_path / "w.h5"), **arguments)
        picture = np.ones((1, 32, 32, 3))
        np.testing.assert_array_equal(first.predict(picture), second.predict(picture))
        with pytest.raises(ValueError, match="should be either"):
            tf.keras.applications.MobileNet(weights=str(tmp_path / "missing.h5"), **arguments)
        with pytest.raises(ValueError, match="at least 32x32"):
            tf.keras.applications.VGG16(weights=None, input_shape=(31, 40, 3), include_top=False)
        with pytest.raises(ValueError, match="`classes` should be 1000"):
            tf.keras.applications.VGG16(classes=10)


def test_names_of_what_is_seen(tmp_path, monkeypatch):
    (tmp_path / "index.json").write_text(json.dumps({str(i): [f"n{i}", f"thing {i}"] for i in range(1000)}))
    monkeypatch.setattr(pixels, "get_file", lambda *_, **__: str(tmp_path / "index.json"))
    monkeypatch.setattr(pixels, "_class_index", {})
    rows = np.zeros((1, 1000))
    rows[0, [3, 7]] = 0.25, 0.5
    found = tf.keras.applications.resnet50.decode_predictions(rows, top=2)
    assert found == [[("n7", "thing 7", 0.5), ("n3", "thing 3", 0.25)]]
    with pytest.raises(ValueError, match=r"shape \(samples, 1000\)"):
        tf.keras.applications.resnet50.decode_predictions(np.zeros((1, 10)))
