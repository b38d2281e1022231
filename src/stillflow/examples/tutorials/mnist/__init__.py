"""The handwritten digits of MNIST."""
