"""The `namespace` backend: sandboxes made of Linux namespaces, with nothing to install.

`warden`, `box`, `syscalls`, `seccomp` and `cgroups` run in a small helper process (standard library
only, like the guest); `backend` is the trainer's side of it.
"""
