"""Room `scheduler`: see README.md beside this file."""
