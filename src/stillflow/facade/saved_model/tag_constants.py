"""tf.saved_model.tag_constants.*"""

from stillflow.saver.saved_model.names import GPU as GPU
from stillflow.saver.saved_model.names import SERVING as SERVING
from stillflow.saver.saved_model.names import TPU as TPU
from stillflow.saver.saved_model.names import TRAINING as TRAINING
