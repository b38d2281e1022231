"""tf.contrib.tensorboard.plugins.*"""

from stillflow.facade.contrib.tensorboard.plugins import projector as projector
