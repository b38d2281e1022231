"""TensorFlow's programs for graphs and checkpoints: tensorflow.python.tools, and for `stillflow run -m`."""
