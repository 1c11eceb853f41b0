"""Settings of this course."""

# Weeks of the course, numbered from 1.
WEEKS = 12
# The share of all points from which on a course is passed.
PASS_AT = 0.6
# The university's clock: hours ahead of UTC.
OFFSET_HOURS = 1
