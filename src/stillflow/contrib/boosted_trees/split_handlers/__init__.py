"""What finds where nodes are split best, one handler for each feature."""
