"""Depots: what lies where, how to get there, what goes into which van."""

import heapq


def history(state, moves):
    """Return the states of the depots: the first one, and one after each move.

    A state maps each depot to the codes of the parcels there; a move `[code, from, to]` takes a
    parcel from one and puts it last in another.
    """
    states = [state]
    for code, source, target in moves:
        state = {depot: list(codes) for depot, codes in state.items()}
        state[source].remove(code)
        state[target].append(code)
        states.append(state)
    return states


def path(node, place):
    """Return the depots on the way from the top of a tree to a place, both ends included.

    A node is a dict with "name" and, where there are depots below, "below": a list of nodes. Return
    an empty list if there is no such place.
    """
    if node["name"] == place:
        return [place]
    for child in node.get("below", []):
        rest = path(child, place)
        if rest:
            return [node["name"], *rest]
    return []


def load(parcels, room):
    """Return the codes of the parcels that go into a van with room for so many litres.

    Parcels `[code, litres]` are tried in their order. One that does not fit any more is left
    behind, and the next one is tried.
    """
    loaded = []
    for code, litres in parcels:
        if litres > room:
            continue
        room -= litres
        loaded.append(code)
    return loaded


def dispatch(parcels):
    """Return the codes of parcels `[code, priority]` in the order in which they are sent.

    Small numbers of priority go first; of equal ones, the one that comes first in `parcels`.
    """
    waiting = []
    for number, (code, priority) in enumerate(parcels):
        heapq.heappush(waiting, (priority, number, code))
    return [heapq.heappop(waiting)[2] for _ in parcels]
