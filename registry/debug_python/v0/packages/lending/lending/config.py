"""Settings of this library."""

# A loan is due so many days after the day on which it was made.
LOAN_DAYS = 14
# A reader who owes this much (in whole coins and fractions) gets nothing more.
BLOCK_AT = 2.0
