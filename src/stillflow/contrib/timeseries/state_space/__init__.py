"""Models whose state is a normal distribution, which a Kalman filter moves on."""
