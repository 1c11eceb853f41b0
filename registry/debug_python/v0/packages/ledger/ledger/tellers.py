"""Transfers that several tellers carry out side by side."""

import asyncio


async def _confirm(order):
    """Ask the other office; meanwhile, other tellers go on with their work."""
    for _ in order:
        await asyncio.sleep(0)


async def _transfer(balances, order, lock):
    source, target, cents = order
    async with lock:
        available = balances.get(source, 0)
        await _confirm(order)
        if available < cents:
            return False
        balances[source] = available - cents
        balances[target] = balances.get(target, 0) + cents
        return True


async def _transfer_all(balances, orders):
    lock = asyncio.Lock()
    done = await asyncio.gather(*(_transfer(balances, order, lock) for order in orders))
    return {"balances": balances, "done": list(done)}


def transfer_all(balances, orders):
    """Carry out orders `[from, to, cents]` and return the new balances and which were done.

    The outcome is that of one order after the other. No account goes below 0: an order that its
    account cannot pay is not done and changes nothing. The dict that was given stays as it is.
    """
    return asyncio.run(_transfer_all(dict(balances), orders))
