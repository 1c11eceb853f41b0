"""Judges give marks for seamanship; all of them are asked at the same time."""

import asyncio


async def _asked(mark):
    """Wait for a judge's mark; some think longer than others."""
    for _ in range(1 + mark % 3):
        await asyncio.sleep(0)
    return mark


async def _judge(totals, marks):
    for boat, wanted in marks:
        mark = await _asked(wanted)
        totals[boat] = totals.get(boat, 0) + mark


async def _collect(judges):
    totals = {}
    await asyncio.gather(*(_judge(totals, marks) for marks in judges))
    return totals


def collect(judges):
    """Return the sum of all marks of each boat.

    `judges` holds for each judge a list of `[boat, mark]`; marks are whole numbers from 0.
    """
    return asyncio.run(_collect(judges))
