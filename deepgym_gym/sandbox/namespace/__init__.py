"""The `namespace` backend: sandboxes made of Linux namespaces, with nothing to install.

`warden`, `forks`, `box`, `identity`, `cgroups` and `networks` run in a small process of their own
(standard library only, like the guest); `backend` and `client` are the trainer's side of it.
"""
