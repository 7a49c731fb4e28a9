"""Room `registry`: see README.md beside this file."""
