"""Files and messages of TensorFlow: bytes to plain values and back."""
