"""compat.v2's GRU and LSTM: the layers of tf.keras with TensorFlow 2's defaults."""

import numpy as np
import pytest

import stillflow as tf

STEPS = np.sin(np.arange(24.0)).reshape(2, 4, 3).astype("float32")


@pytest.mark.parametrize(("name", "options"), [("GRU", {"reset_after": True}), ("LSTM", {})])
def test_outputs_are_those_of_layers_with_these_options(name, options):
    first = getattr(tf.compat.v2.keras.layers, name)(5, return_sequences=True)
    assert first.could_use_cudnn is False  # as TensorFlow has it in graphs
    second = getattr(tf.keras.layers, name)(
        5, recurrent_activation="sigmoid", implementation=2, return_sequences=True, **options
    )
    by_time = getattr(tf.compat.v2.keras.layers, name).from_config({**first.get_config(), "time_major": True})
    x = tf.constant(STEPS)
    outputs = [first(x), second(x), tf.transpose(by_time(tf.transpose(x, [1, 0, 2])), [1, 0, 2])]
    with tf.keras.backend.get_session() as session:
        for other in (second, by_time):
            other.set_weights(first.get_weights())
        values = session.run(outputs)
    np.testing.assert_array_equal(values[1], values[0])
    np.testing.assert_allclose(values[2], values[0], rtol=1e-6)


def test_cells():
    assert tf.compat.v2.keras.layers.GRUCell(2).get_config()["reset_after"] is True
    assert tf.compat.v2.keras.layers.LSTMCell(2).get_config()["recurrent_activation"] == "sigmoid"
