"""Prices in whole cents, and stamps."""

from .config import STEP_CENTS, STEP_GRAMS


def price(grams):
    """Return the price of a parcel: STEP_CENTS for each step of STEP_GRAMS that it has begun.

    With steps of 500 g, 500 g are one step and 501 g are two. No parcel weighs less than 1 g.
    """
    steps = (grams - 1) // STEP_GRAMS + 1
    return steps * STEP_CENTS


def discounted(cents, percent):
    """Return the price less a discount of whole percents.

    The discount is rounded down to whole cents: 10 % of 199 cents are 19 cents.
    """
    return cents - cents * percent // 100


def franked(stamps, wanted):
    """Say whether stamps are "right" for the wanted price, or "short" of it, or "over" it.

    Stamps and price are such as 0.85, in units of 100 cents; less than half a cent is no
    difference.
    """
    worth = 0.0
    for stamp in stamps:
        worth += stamp
    if abs(worth - wanted) < 0.005:
        return "right"
    return "short" if worth < wanted else "over"
