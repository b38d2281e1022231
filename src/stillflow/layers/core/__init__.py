"""What layers are, whatever names their variables: tf.layers puts scopes and reuse on top of it, Keras its models."""
