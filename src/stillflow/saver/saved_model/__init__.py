"""SavedModels: folders with graphs, their variables and their assets, and signatures that say how to use them."""
