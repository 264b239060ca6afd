"""What a person runs: the command line, files and projects, records and proofs."""


class CallError(Exception):
    """What the caller has to put right before anything can be done; its text says it."""


def version() -> str:
    """The installed version of graphlift."""
    from importlib.metadata import version as installed

    return installed("graphlift")
