"""Linear models by stochastic dual coordinate ascent."""
