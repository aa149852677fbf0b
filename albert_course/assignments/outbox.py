"""What a cell prints and shows, cut where it would fill memory and the feedback page."""

from collections.abc import Callable

LARGEST = 100_000  # characters that a cell may print, and as many that it may show
CUT = "... cut: a cell may print and show 100 KB ..."


class Outbox:
    """Stands for ``Session.send`` in a kernel: sends each message, or what is left of it."""

    def __init__(self, send: Callable):
        self.send = send
        self.begin()

    def begin(self, *_) -> None:
        """Begin to count for a cell. What it prints cannot crowd out the report of a check."""
        self.printed = self.shown = 0

    def __call__(self, stream, message: str | dict, content: dict | None = None, *more, **named):
        """Send a message, which is a whole one, or the name of its kind and its content."""
        if isinstance(message, dict):
            passes = self.passes(message["msg_type"], message["content"])
        else:
            passes = self.passes(message, content or {})
        return self.send(stream, message, content, *more, **named) if passes else None

    def passes(self, kind: str, content: dict) -> bool:
        """Cut what is too large in the content of a message, and return whether to send it.

        Errors and results are always sent, because they decide about points.
        """
        if kind == "stream":
            left = LARGEST - self.printed
            self.printed += len(content["text"])
            if self.printed > LARGEST:
                content["text"] = f"{content['text'][:left]}\n{CUT}\n"
            return left > 0
        size = len(str(content))
        if kind == "error" and size > LARGEST:
            content["evalue"] = content["evalue"][:1000]
            content["traceback"] = [content["evalue"], CUT]
        if kind == "execute_result" and size > LARGEST:
            content["data"] = {"text/plain": CUT}
        if kind not in ("display_data", "update_display_data"):
            return True
        left = LARGEST - self.shown
        self.shown += size
        if self.shown > LARGEST:
            content.update(data={"text/plain": CUT}, metadata={})
        return left > 0
