"""Answers to questions about calls that may fail."""


def tried(function, *arguments, **named):
    """Returns the text of a call's result, or the type of its error."""
    try:
        return repr(function(*arguments, **named))
    except Exception as error:  # noqa: BLE001  whatever comes is the answer
        return "! " + type(error).__name__
