"""tf.contrib.tensorboard.plugins.projector.*"""

from stillflow.facade.messages import offering
from stillflow.summary.projector import visualize_embeddings as visualize_embeddings

__getattr__ = offering(__name__, "EmbeddingInfo ProjectorConfig SpriteMetadata")
