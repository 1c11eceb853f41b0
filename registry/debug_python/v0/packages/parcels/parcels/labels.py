"""Labels, and what the printer is sent for them."""


def label(code, services=(), fields=None):
    """Return the label of a parcel as a dict: its code, and "yes" for each of its services.

    `fields` are printed in addition.
    """
    result = dict(fields or {})
    result["code"] = code
    for service in services:
        result[service] = "yes"
    return result


def labels(parcels):
    """Return the labels of parcels `[code, services]`."""
    return [label(code, services) for code, services in parcels]


def print_bytes(text):
    """Return the bytes for the printer, which knows Windows code page 1252.

    That has, besides the letters of western Europe, the euro sign, dashes, curly quotes and some
    letters such as a capital or small S and Z with caron. What it does not have is printed as "?".
    """
    return text.encode("cp1252", "replace")
