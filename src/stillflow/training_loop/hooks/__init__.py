"""What a monitored session does besides running what it is asked to."""
