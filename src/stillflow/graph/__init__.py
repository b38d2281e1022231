"""What a program is: graphs, nodes, tensors, their types and shapes. Knows no op by name."""
