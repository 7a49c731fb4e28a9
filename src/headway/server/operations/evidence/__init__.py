"""What is handed on of a failed attempt, without its secrets."""
