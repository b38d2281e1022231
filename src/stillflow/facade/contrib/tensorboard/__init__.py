"""tf.contrib.tensorboard.*"""

from stillflow.facade.contrib.tensorboard import plugins as plugins
