"""Gymnasium wrappers, vector environments and trainer adapters.

An adapter imports its trainer inside itself only.
"""
