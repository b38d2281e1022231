"""Bytes and text as tensors: examples, CSV, images, files."""
