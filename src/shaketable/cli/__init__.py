"""Words → one stage call → words."""


def main() -> None:
    """The command `shaketable`. Imported when it is called: pytest reads its plugin from this folder."""
    from shaketable.cli.app import main as run_command

    run_command()


__all__ = ["main"]
