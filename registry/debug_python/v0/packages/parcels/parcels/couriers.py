"""Couriers share one list of parcels; each takes the next one when back from the last."""

import asyncio


async def _ride(code):
    """Ride to the door and back; some doors are further away than others."""
    for _ in range(1 + len(code) % 3):
        await asyncio.sleep(0)


async def _courier(waiting, delivered):
    while waiting:
        code = waiting.pop(0)
        await _ride(code)
        delivered.append(code)


async def _deliver_all(codes, couriers):
    waiting, delivered = list(codes), []
    await asyncio.gather(*(_courier(waiting, delivered) for _ in range(couriers)))
    return sorted(delivered)


def deliver_all(codes, couriers):
    """Let so many couriers (from 1) deliver all parcels, and return the codes of all deliveries.

    They are sorted, and each parcel is delivered exactly once. The codes are all different.
    """
    return asyncio.run(_deliver_all(codes, couriers))
