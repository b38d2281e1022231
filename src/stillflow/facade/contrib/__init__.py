"""tf.contrib.*"""

from stillflow.facade.contrib import layers as layers
