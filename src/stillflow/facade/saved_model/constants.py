"""tf.saved_model.constants.*"""

from stillflow.saver.saved_model.names import ASSETS_DIRECTORY as ASSETS_DIRECTORY
from stillflow.saver.saved_model.names import ASSETS_KEY as ASSETS_KEY
from stillflow.saver.saved_model.names import LEGACY_INIT_OP_KEY as LEGACY_INIT_OP_KEY
from stillflow.saver.saved_model.names import MAIN_OP_KEY as MAIN_OP_KEY
from stillflow.saver.saved_model.names import SAVED_MODEL_FILENAME_PB as SAVED_MODEL_FILENAME_PB
from stillflow.saver.saved_model.names import SAVED_MODEL_FILENAME_PBTXT as SAVED_MODEL_FILENAME_PBTXT
from stillflow.saver.saved_model.names import SAVED_MODEL_SCHEMA_VERSION as SAVED_MODEL_SCHEMA_VERSION
from stillflow.saver.saved_model.names import VARIABLES_DIRECTORY as VARIABLES_DIRECTORY
from stillflow.saver.saved_model.names import VARIABLES_FILENAME as VARIABLES_FILENAME
