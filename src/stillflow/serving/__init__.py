"""`stillflow serve`: a SavedModel or a frozen graph behind TensorFlow Serving's REST API."""
