"""Models that predict a window of a time series from the window before."""
