"""Settings of this post."""

# A parcel pays for each step of its weight that it has begun.
STEP_GRAMS = 500
STEP_CENTS = 120
# The main depot's clock: hours ahead of UTC.
DEPOT_OFFSET_HOURS = 2
# What is handed over from this hour on (on that clock) leaves a day later.
CLOSING_HOUR = 16
