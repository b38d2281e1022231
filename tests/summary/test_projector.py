"""What TensorBoard's projector is told."""

import pytest

import stillflow as tf

projector = tf.contrib.tensorboard.plugins.projector

# As TensorFlow 1.15.5 writes it.
CONFIG = """model_checkpoint_path: "model.ckpt-7"
embeddings {
  tensor_name: "embeddings/Variable:0"
  metadata_path: "w\\303\\266rter.tsv"
  sprite {
    image_path: "words.png"
    single_image_dim: 16
    single_image_dim: 8
  }
}
embeddings {
  tensor_name: "vectors"
  tensor_shape: 10
  tensor_shape: 3
  tensor_path: "vectors.tsv"
}
"""


def config():
    made = projector.ProjectorConfig(model_checkpoint_path="model.ckpt-7")
    first = made.embeddings.add()
    first.tensor_name = "embeddings/Variable:0"
    first.metadata_path = "wörter.tsv"
    first.sprite.image_path = "words.png"
    first.sprite.single_image_dim.extend([16, 8])
    made.embeddings.append(
        projector.EmbeddingInfo(tensor_name="vectors", tensor_shape=[10, 3], tensor_path="vectors.tsv")
    )
    return made


def test_the_file_is_tensorflows(tmp_path):
    with tf.summary.FileWriter(str(tmp_path)) as writer:
        projector.visualize_embeddings(writer, config())
        projector.visualize_embeddings(writer, config())  # once more replaces it
    assert (tmp_path / "projector_config.pbtxt").read_bytes() == CONFIG.encode("ascii")


def test_without_a_folder(tmp_path):
    class Nowhere:
        def get_logdir(self):
            return None

    with pytest.raises(ValueError, match="Summary writer must have a logdir"):
        projector.visualize_embeddings(Nowhere(), config())

    class Missing:
        def get_logdir(self):
            return str(tmp_path / "missing")

    with pytest.raises(tf.errors.NotFoundError, match="missing"):
        projector.visualize_embeddings(Missing(), config())
