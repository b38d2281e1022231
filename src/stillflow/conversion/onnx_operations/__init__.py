"""Operations of TensorFlow as nodes of ONNX."""
