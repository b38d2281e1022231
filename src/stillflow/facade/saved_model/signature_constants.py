"""tf.saved_model.signature_constants.*"""

from stillflow.saver.saved_model.names import CLASSIFY_INPUTS as CLASSIFY_INPUTS
from stillflow.saver.saved_model.names import CLASSIFY_METHOD_NAME as CLASSIFY_METHOD_NAME
from stillflow.saver.saved_model.names import CLASSIFY_OUTPUT_CLASSES as CLASSIFY_OUTPUT_CLASSES
from stillflow.saver.saved_model.names import CLASSIFY_OUTPUT_SCORES as CLASSIFY_OUTPUT_SCORES
from stillflow.saver.saved_model.names import DEFAULT_SERVING_SIGNATURE_DEF_KEY as DEFAULT_SERVING_SIGNATURE_DEF_KEY
from stillflow.saver.saved_model.names import PREDICT_INPUTS as PREDICT_INPUTS
from stillflow.saver.saved_model.names import PREDICT_METHOD_NAME as PREDICT_METHOD_NAME
from stillflow.saver.saved_model.names import PREDICT_OUTPUTS as PREDICT_OUTPUTS
from stillflow.saver.saved_model.names import REGRESS_INPUTS as REGRESS_INPUTS
from stillflow.saver.saved_model.names import REGRESS_METHOD_NAME as REGRESS_METHOD_NAME
from stillflow.saver.saved_model.names import REGRESS_OUTPUTS as REGRESS_OUTPUTS
