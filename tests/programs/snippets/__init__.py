"""Small graphs, one function each, to compare node by node with what TensorFlow makes of them."""
