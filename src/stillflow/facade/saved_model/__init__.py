"""tf.saved_model.*"""

from stillflow.facade.saved_model import builder as builder
from stillflow.facade.saved_model import constants as constants
from stillflow.facade.saved_model import loader as loader
from stillflow.facade.saved_model import main_op as main_op
from stillflow.facade.saved_model import signature_constants as signature_constants
from stillflow.facade.saved_model import signature_def_utils as signature_def_utils
from stillflow.facade.saved_model import tag_constants as tag_constants
from stillflow.facade.saved_model import utils as utils
from stillflow.facade.saved_model.constants import *
from stillflow.facade.saved_model.signature_constants import *
from stillflow.facade.saved_model.signature_def_utils import *
from stillflow.facade.saved_model.tag_constants import *
from stillflow.facade.saved_model.utils import *
from stillflow.saver.saved_model.builder import SavedModelBuilder as Builder
from stillflow.saver.saved_model.builder import main_op_with_restore as main_op_with_restore
from stillflow.saver.saved_model.builder import simple_save as simple_save
from stillflow.saver.saved_model.loader import load as load
from stillflow.saver.saved_model.loader import maybe_saved_model_directory as contains_saved_model
from stillflow.saver.saved_model.loader import maybe_saved_model_directory as maybe_saved_model_directory
