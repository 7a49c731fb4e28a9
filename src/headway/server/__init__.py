"""Room `server`: see README.md beside this file."""
