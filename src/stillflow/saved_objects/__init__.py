"""SavedModels of objects: tf.saved_model.save and load of Trackables with their variables, functions and files."""
