"""Floor 1: a machine to act in. The only code that knows namespaces, containers or providers."""
