"""Documents from templates: each file here is one, filled in by ``render``."""

from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined


def render(name: str, **values) -> str:
    """Return the template ``name`` of this folder, filled in with ``values``.

    In a template, a line that holds only a tag leaves no line behind. Raises UndefinedError of
    jinja2 when the template asks for a value that is not there.
    """
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return environment.get_template(name).render(values)
