"""Sessions and hooks that watch the runs of a session."""
