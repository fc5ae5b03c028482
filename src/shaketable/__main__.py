"""`python -m shaketable`: the command line, where its own command is not on the path."""

from shaketable.cli import main

if __name__ == "__main__":
    main()
