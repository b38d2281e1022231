"""What converted functions call in the place of Python's statements and operators."""
