"""Recurrent nets: cells, which compute one step, and the loops that run them along sequences."""
