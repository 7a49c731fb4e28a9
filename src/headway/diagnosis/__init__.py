"""Room `diagnosis`: see README.md beside this file."""
