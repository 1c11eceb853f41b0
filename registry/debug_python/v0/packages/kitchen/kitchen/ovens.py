"""The jobs of the ovens, which bake side by side."""

from concurrent.futures import ThreadPoolExecutor
from functools import partial


def _bake(dish, minutes):
    return f"{dish}: {minutes // 60} h {minutes % 60} min"


def bake_all(dishes, ovens=2):
    """Bake dishes `[name, minutes]`, as many at a time as there are ovens.

    Returns what the ovens say in the order of the dishes, such as "bread: 1 h 5 min".
    """
    jobs = []
    for dish, minutes in dishes:
        jobs.append(partial(_bake, dish, minutes))
    with ThreadPoolExecutor(ovens) as pool:
        return list(pool.map(lambda job: job(), jobs))
