"""HTTP in: thin routes that check who asks, call an operation, and render what it returns."""
