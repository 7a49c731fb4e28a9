"""The signs by which machines tell a cause, by family. They are data: what they are worth is decided elsewhere."""
