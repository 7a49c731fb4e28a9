"""Room `engines`: see README.md beside this file."""
