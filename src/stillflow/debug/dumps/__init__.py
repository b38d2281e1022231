"""What watched runs have written: tensors, graphs, and how they hang together."""
