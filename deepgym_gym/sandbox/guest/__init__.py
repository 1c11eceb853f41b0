"""The program that runs inside every sandbox: a supervisor that speaks one small protocol.

Its modules use nothing but the standard library and each other and run on Python 3.9 or newer,
because they run under the sandbox's interpreter and not under the trainer's.
`deepgym_gym.sandbox.bundle` carries their text there; no file of this package is ever visible
inside.
"""
