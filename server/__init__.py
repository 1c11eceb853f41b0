"""The HTTP server; nothing below this package knows HTTP."""
