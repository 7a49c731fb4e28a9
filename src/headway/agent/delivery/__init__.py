"""What the server is told, in which order, and how it survives a server that goes away."""
