"""Eager execution: operations that run when they are called, and the tapes that differentiate what has run."""
