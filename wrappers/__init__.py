"""Gymnasium wrappers, vector environments and trainer adapters; each imports its trainer inside itself only."""
