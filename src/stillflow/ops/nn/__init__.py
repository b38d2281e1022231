"""Neural networks: activations, losses, embeddings."""
