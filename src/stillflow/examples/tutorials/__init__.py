"""Data that tutorials read."""
