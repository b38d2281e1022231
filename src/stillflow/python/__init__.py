"""tensorflow.python.*: the modules below it that programs import."""
