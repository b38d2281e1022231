"""Models: how layers are put together, compiled, trained and saved."""
