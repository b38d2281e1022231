"""What trains: optimizers and what belongs to them."""
