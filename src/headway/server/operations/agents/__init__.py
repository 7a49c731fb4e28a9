"""What agents and engines tell of attempts, written down as it arrives."""
