"""Settings of this canteen."""

# The canteen's clock: hours ahead of UTC.
OFFSET_HOURS = 2
# Meals: first hour, hour at which it is over, name.
MEALS = [(7, 10, "breakfast"), (12, 15, "lunch"), (18, 21, "dinner")]
