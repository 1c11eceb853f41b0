"""The planning of a canteen."""

from .menu import dish_of_day, meal_at, same_mix
from .ovens import bake_all
from .pantry import basket, baskets, missing, shopping
from .recipes import Box, find, ingredients, portions, run, slowest

__all__ = [
    "Box",
    "bake_all",
    "basket",
    "baskets",
    "dish_of_day",
    "find",
    "ingredients",
    "meal_at",
    "missing",
    "portions",
    "run",
    "same_mix",
    "shopping",
    "slowest",
]
