"""Spleeter splits a generated sound into two stems, with stand-in weights: as they are initialized."""

import os
import tempfile

import numpy as np

folder = os.environ["MODEL_PATH"] = tempfile.mkdtemp()

import tensorflow as tf
from spleeter.model import EstimatorSpecBuilder, InputProviderFactory
from spleeter.separator import Separator
from spleeter.utils.configuration import load_configuration

params = {**load_configuration("spleeter:2stems"), "MWF": False}
with tf.Graph().as_default():
    tf.compat.v1.set_random_seed(1)
    EstimatorSpecBuilder(InputProviderFactory.get(params).get_input_dict_placeholders(), params).build_predict_model()
    tf.compat.v1.train.get_or_create_global_step()
    with tf.compat.v1.Session() as session:
        session.run(tf.compat.v1.global_variables_initializer())
        tf.compat.v1.train.Saver().save(session, os.path.join(folder, "2stems", "model"))
with open(os.path.join(folder, "2stems", ".probe"), "w") as file:
    file.write("OK")

seconds = np.arange(2 * 44100) / 44100
sound = 0.3 * np.sin(2 * np.pi * 440 * seconds) + 0.2 * np.sin(2 * np.pi * 1000 * seconds)
waveform = np.stack([sound, sound], 1).astype("float32")
stems = Separator("spleeter:2stems", multiprocess=False).separate(waveform)

difference = np.abs(sum(stems.values()) - waveform)[4096:-4096].max()
print(f"{sorted(stems)} of shapes {[stem.shape for stem in stems.values()]}; their sum is off by {difference:.4f}")
assert sorted(stems) == ["accompaniment", "vocals"]
assert difference < 0.01
