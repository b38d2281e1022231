"""tf.saved_model.utils.*"""

from stillflow.saver.saved_model.signatures import build_tensor_info as build_tensor_info
from stillflow.saver.saved_model.signatures import get_tensor_from_tensor_info as get_tensor_from_tensor_info
