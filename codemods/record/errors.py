"""What can go wrong in a recording."""


class RecordError(Exception):
    """Why nothing was recorded."""
