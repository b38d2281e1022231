"""Speed, side by side with what a user could pick instead; see bench/README.md."""
