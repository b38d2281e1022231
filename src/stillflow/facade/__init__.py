"""TensorFlow 1.x spelling: signatures, defaults and aliases. No numerics and no state; one file per tf.* area."""
