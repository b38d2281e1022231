"""Functions inside graphs: how Python functions become some, and what a graph keeps of them."""
