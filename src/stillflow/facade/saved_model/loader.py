"""tf.saved_model.loader.*"""

from stillflow.saver.saved_model.loader import load as load
from stillflow.saver.saved_model.loader import maybe_saved_model_directory as maybe_saved_model_directory
