"""Room `store`: see README.md beside this file."""
