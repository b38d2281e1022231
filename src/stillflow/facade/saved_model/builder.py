"""tf.saved_model.builder.*"""

from stillflow.saver.saved_model.builder import SavedModelBuilder as SavedModelBuilder
