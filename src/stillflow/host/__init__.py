"""What runs in Python while a graph runs: py_func, image codecs, vocabulary files."""
