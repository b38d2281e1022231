"""The command line of the debugger: what watched runs have written, on a terminal."""
