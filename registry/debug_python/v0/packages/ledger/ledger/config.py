"""Settings of this installation."""

# Postings on one page of a statement.
PAGE_SIZE = 5
# The bank's clock: hours ahead of UTC.
BANK_OFFSET_HOURS = 1
