"""CuDNNLSTM and CuDNNGRU: what they compute is what LSTM and GRU do with the same weights."""

import numpy as np
import pytest

import stillflow as tf

layers = tf.keras.layers
KINDS = {
    "lstm": (lambda **more: layers.LSTM(4, recurrent_activation="sigmoid", **more), layers.CuDNNLSTM),
    "gru": (lambda **more: layers.GRU(4, recurrent_activation="sigmoid", reset_after=True, **more), layers.CuDNNGRU),
}


def inputs():
    return np.random.RandomState(0).randn(2, 5, 3).astype(np.float32)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("more", [{}, {"return_sequences": True, "go_backwards": True}])
def test_both_layouts_compute_the_same(kind, more, tmp_path):
    pytest.importorskip("h5py")
    plain, cudnn = KINDS[kind]
    a = tf.keras.Sequential([plain(input_shape=(5, 3), bias_initializer="normal", **more)])
    b = tf.keras.Sequential([cudnn(4, input_shape=(5, 3), **more)])
    a.save_weights(str(tmp_path / "a.h5"))
    b.load_weights(str(tmp_path / "a.h5"))
    expected = a.predict(inputs())
    np.testing.assert_allclose(b.predict(inputs()), expected, atol=1e-6)
    b.save_weights(str(tmp_path / "b.h5"))
    a.load_weights(str(tmp_path / "b.h5"))
    np.testing.assert_allclose(a.predict(inputs()), expected, atol=1e-6)


def test_a_net_learns_and_keeps_its_states():
    x = layers.Input(batch_shape=(2, 5, 3))
    y, state, memory = layers.CuDNNLSTM(4, stateful=True, return_state=True)(x)
    model = tf.keras.Model(x, [y, state, memory])
    first, h, _ = model.predict(inputs(), batch_size=2)
    np.testing.assert_array_equal(first, h)
    assert (model.predict(inputs(), batch_size=2)[0] != first).any()
    model = tf.keras.Sequential([layers.CuDNNGRU(4, input_shape=(5, 3))])
    model.compile(tf.keras.optimizers.Adam(0.1), "mse")
    losses = model.fit(inputs(), np.ones([2, 4]), epochs=5, verbose=0).history["loss"]
    assert losses == sorted(losses, reverse=True)


def test_names_and_configs():
    layer = layers.CuDNNLSTM(4)
    layer.build((None, 5, 3))
    assert [weight.name for weight in layer.weights] == ["kernel:0", "recurrent_kernel:0", "bias:0"]
    np.testing.assert_array_equal(tf.keras.backend.get_value(layer.bias)[20:24], np.ones(4))
    config = layer.get_config()
    assert list(config)[3:13] == [
        "return_sequences", "return_state", "go_backwards", "stateful", "time_major", "units", "kernel_initializer",
        "recurrent_initializer", "bias_initializer", "unit_forget_bias",
    ]  # fmt: skip
    assert layers.CuDNNLSTM.from_config(config).get_config() == config


def test_masks_and_gru_of_the_other_kind_are_refused():
    masked = layers.Masking()(layers.Input((5, 3)))
    with pytest.raises((ValueError, TypeError), match="[Mm]asking"):
        layers.CuDNNGRU(4)(masked)
    fit = tf.python.keras.saving.hdf5_format.preprocess_weights_for_loading
    with pytest.raises(ValueError, match="is not compatible with CuDNNGRU"):
        fit(layers.CuDNNGRU(4), [np.zeros([3, 12]), np.zeros([4, 12]), np.zeros(12)])
    with pytest.raises(ValueError, match="Invalid bias shape"):
        fit(layers.CuDNNLSTM(4), [np.zeros([3, 16]), np.zeros([4, 16]), np.zeros(5)])
