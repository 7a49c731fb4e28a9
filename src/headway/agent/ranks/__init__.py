"""The user's processes: what they are started with, how they are watched, stopped and swept away."""
