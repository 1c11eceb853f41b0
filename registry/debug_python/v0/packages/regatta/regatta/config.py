"""Settings of this club."""

# From so many races on, the worst one does not count.
DISCARD_FROM = 4
# No heat has more boats than this.
HEAT_SIZE = 6
# Bytes of one line of the board at the finish.
BOARD_BYTES = 12
