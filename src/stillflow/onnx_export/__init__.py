"""`stillflow convert`: graphs of TensorFlow 1 as ONNX models. Needs the extra `onnx`."""
