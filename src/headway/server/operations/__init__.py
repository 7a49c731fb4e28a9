"""What the server does when asked: each operation writes rows, and the facts that explain them, in one transaction."""
