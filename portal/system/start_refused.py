"""The error of a start whose conditions are not met."""


class StartRefused(Exception):
    """The portal cannot start with what it found. The message is one line for the operator."""
