"""Readings: of the machine, of the attempt, of the cards. A thing that cannot be read is left out, never 0."""
