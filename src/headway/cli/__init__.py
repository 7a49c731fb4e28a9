"""Room `cli`: see README.md beside this file."""
