"""Values as serialized Summary messages."""
