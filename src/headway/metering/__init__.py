"""Room `metering`: see README.md beside this file."""
