"""Files of whole models."""
