"""Ops of ragged tensors, and of strings that they hold."""
