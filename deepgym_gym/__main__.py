"""`python -m deepgym_gym` is the command line, where no console script is installed."""

from deepgym_gym.cli import main

main()
