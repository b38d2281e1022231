"""Ops on sparse tensors: places, values and a shape."""
