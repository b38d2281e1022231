"""Seeds, and the streams that random operations take from them."""
