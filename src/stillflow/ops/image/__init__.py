"""Ops on images: [batch, rows, columns, depth]."""
