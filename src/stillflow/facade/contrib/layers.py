"""tf.contrib.layers.*"""

from stillflow.variables.layer_initializers import variance_scaling_initializer as variance_scaling_initializer
from stillflow.variables.layer_initializers import xavier_initializer as xavier_initializer
from stillflow.variables.layer_initializers import xavier_initializer as xavier_initializer_conv2d
