"""TensorFlow's debugger, tfdbg: watches on the tensors of a run, what they have written, and a command line for it.

dumps/ reads what watched runs have written, wrappers/ watches the runs of a session, cli/ shows it to people. The
running of a session knows of the debugger only that tensors are watched (stillflow.session.watched_runs).
"""
