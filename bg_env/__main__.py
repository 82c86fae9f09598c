"""`python -m bg_env`: the command line program."""

from bg_env.cli import main

if __name__ == "__main__":
    main(prog_name="bg-env")
