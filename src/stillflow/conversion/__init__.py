"""`stillflow convert`: graphs to ONNX, checkpoints to safetensors under the names of other libraries."""
