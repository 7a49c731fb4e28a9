"""One module a family of commands, loaded when one of them is called."""
