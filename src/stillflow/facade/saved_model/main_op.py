"""tf.saved_model.main_op.*"""

from stillflow.saver.saved_model.builder import main_op as main_op
from stillflow.saver.saved_model.builder import main_op_with_restore as main_op_with_restore
