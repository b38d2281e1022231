"""Programs that train: sessions that are prepared, watched, saved and recovered."""
