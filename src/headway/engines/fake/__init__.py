"""An engine without machines, for tests and rehearsals of whole lives."""
