"""Random numbers and candidate samplers."""
