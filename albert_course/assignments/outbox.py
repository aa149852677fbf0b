"""What a cell prints and shows, cut where it would fill memory and the feedback page."""

from collections.abc import Callable
from typing import Any

LARGEST = 100_000  # characters that a cell may print, and as many that it may show
CUT = "... cut: a cell may print and show 100 KB ..."


class Outbox:
    """Stands for ``Session.send`` in a kernel: sends each message, or what is left of it."""

    def __init__(self, send: Callable):
        self.send = send
        self.begin()

    def begin(self, *_) -> None:
        """Begin to count for a cell. What it prints cannot crowd out the report of a check."""
        self.left = {"stream": LARGEST, "display_data": LARGEST}

    def __call__(self, stream, message: str | dict, *arguments, **named):
        """Send a message, which is a whole one or the name of its kind and its content."""
        content: Any = None
        if isinstance(message, dict):
            kind, content = message["msg_type"], message["content"]
        elif arguments:
            kind, content = message, arguments[0]
        else:
            kind, content = message, named.get("content")
        if isinstance(content, dict) and not self.passes(kind, content):
            return None
        return self.send(stream, message, *arguments, **named)

    def passes(self, kind: str, content: dict) -> bool:
        """Cut the content of a message where it is too large, and return whether to send it."""
        if kind == "error" and len(str(content)) > LARGEST:
            content["evalue"] = content["evalue"][:1000]
            content["traceback"] = [content["evalue"], CUT]
        if kind == "execute_result" and len(str(content)) > LARGEST:
            content["data"] = {"text/plain": CUT}
        if kind == "stream":
            return self._count("stream", content, len(content["text"]))
        if kind in ("display_data", "update_display_data"):
            return self._count("display_data", content, len(str(content)))
        return True

    def _count(self, kind: str, content: dict, length: int) -> bool:
        """Count what is shown; cut the first message that is too much, and refuse those after."""
        left = self.left[kind]
        self.left[kind] = left - length
        if left < 0:
            return False
        if length > left and kind == "stream":
            content["text"] = f"{content['text'][:left]}\n{CUT}\n"
        elif length > left:
            content["data"], content["metadata"] = {"text/plain": CUT}, {}
        return True
