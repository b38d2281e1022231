"""Variables and the scopes, stores and initial values that they are made with."""
