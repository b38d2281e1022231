"""Event files: what writes them, and the projector's configuration."""
