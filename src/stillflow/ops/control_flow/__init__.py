"""Ops that decide what runs, and the contexts in which nodes become part of a branch."""
