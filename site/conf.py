"""The course as a site, a lesson as slides, the road as a book: nothing is executed.

Sphinx reads the repository's own folder, and the README is the front page. A page asks no other
host: MathJax 3.2.2 (Apache-2.0) comes with the package sphinx-mathjax-offline.
"""

import importlib.util
import json
import re
import shutil
import sys
import tomllib
from html import escape
from pathlib import Path

from docutils import nodes
from sphinx import addnodes
from sphinx.transforms import SphinxTransform

sys.path.insert(0, str(Path(__file__).parent))
import preview
from slides import with_breaks

ROOT = Path(__file__).resolve().parents[1]
URLS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"].get("urls")
PAGES = {  # no source of an assignment: those have the solutions
    "The road": "notebooks/[0-9]*.ipynb",
    "Optional": "notebooks/optional/*.ipynb",
    "Look up": "notebooks/[A-Z]*.md figures/CL*.md figures/C[AO]*.md figures/drawings/README.md",
    "Assignments": "notebooks/assignments/*.md notebooks/assignments/release/*.ipynb",
    "The library": "albert_edu/README.md site/library/albert_edu*.rst albert_edu/*/*/README.md",
    "This repository": "CONTRIBUTING.md CHANGELOG.md",
}
if tags.has("book"):
    PAGES = {name: PAGES[name] for name in ("The road", "Optional")}
    PAGES["Look up"] = "notebooks/GLOSSARY.md figures/CL*.md figures/C[AO]*.md"

project = html_title = "ALBERT, built and measured"
root_doc = "README"
include_patterns = ["README.md", *" ".join(PAGES.values()).split()]
extensions = ["myst_nb", "sphinx.ext.apidoc", "sphinx.ext.autodoc"]
extensions += ["sphinx_copybutton", "sphinx_revealjs"]
suppress_warnings = ["myst.xref_missing", "misc.highlighting_failure"]
nb_execution_mode = "off"
nb_mime_priority_overrides = [
    (builder, mime, rank)
    for builder in ("revealjs", "singlehtml")
    for rank, mime in enumerate(("image/png", "text/html", "text/markdown", "text/plain"))
]
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
apidoc_modules = [{"path": "../albert_edu", "destination": "site/library"}]
apidoc_module_first = True
add_module_names = False
autodoc_inherit_docstrings = False
autodoc_member_order = "bysource"  # the order in which a file is read
maximum_signature_line_length = 72
html_theme = "furo"
html_static_path, html_css_files = ["static"], ["course.css"]
if tags.has("book"):
    html_css_files.append("book.css")
html_favicon = "static/favicon.svg"
html_search_scorer = str(Path(__file__).with_name("scorer.js"))
# What a cell prints is not to be copied; of an example in the library, the lines after >>> are.
copybutton_selector = "div.highlight:not(.cell_output *) pre"
copybutton_prompt_text = r">>> |\.\.\. "
copybutton_prompt_is_regexp = True
html_copy_source = html_show_copyright = False
if URLS:
    html_baseurl = URLS["Site"]
    html_theme_options = {
        "source_repository": URLS["Repository"],
        "source_branch": "main",
        "source_directory": "",
    }
revealjs_style_theme = "white"
revealjs_static_path, revealjs_css_files = ["static"], ["slides.css"]
revealjs_js_files = ["slides.js"]
revealjs_script_conf = {"width": 1280, "height": 720, "margin": 0.02, "center": False}
revealjs_script_conf |= {"slideNumber": True, "hash": True, "transition": "none"}
mathjax_path = "mathjax/tex-mml-chtml.js"


def prepare(app, docname: str, source: list[str]) -> None:
    """Say in Sphinx's words what Jupyter and GitHub show by themselves."""
    notebook = ROOT / f"{docname}.ipynb"
    if notebook.exists():
        cells = with_words_of_myst(json.loads(source[0]), notebook)
        if app.builder.name == "revealjs":
            cells = with_breaks(cells)
        source[0] = json.dumps(cells)
    if tags.has("book"):  # paper does not unfold
        source[0] = source[0].replace("<details>", "<details open>")
    if docname == root_doc:
        if tags.has("book"):  # a book begins with what it is about, not with commands
            source[0] = source[0].partition("\n## ")[0]
        source[0] += "".join(map(contents, PAGES, PAGES.values()))
    if docname.startswith("site/library"):  # the headings of apidoc, without their second word
        source[0] = re.sub(r"Submodules\n-+\n\n| (module|package)$", "", source[0], flags=re.M)
        source[0] = source[0].replace("   :show-inheritance:\n", "")  # it says Module, mostly
    # Badges would ask another host, and whoever reads the site has found it.
    source[0] = re.sub(r"<!-- address -->.*?<!-- /address -->", "", source[0], flags=re.DOTALL)
    # An anchor in HTML is one that MyST does not know.
    source[0] = re.sub(r'<a id=\\?"([\w-]+)\\?"></a>', r"(\1)=", source[0])


def contents(title: str, patterns: str) -> str:
    """A group of the sidebar; a notebook has its number before its title."""
    lines = ["", "```{toctree}", ":hidden:", f":caption: {title}", ""]
    for path in (path for pattern in patterns.split() for path in sorted(ROOT.glob(pattern))):
        entry = path.relative_to(ROOT).as_posix()
        if path.suffix == ".ipynb":
            heading = "".join(json.loads(path.read_text("utf-8"))["cells"][0]["source"])
            entry = f"{path.name[:2]} {heading.partition(chr(10))[0].strip('# ')} <{entry}>"
        lines.append(entry)
    return "\n".join([*lines, "```", ""])


def with_words_of_myst(notebook: dict, path: Path) -> dict:
    """Fold the cells that Jupyter folds, describe images, and offer the notebook itself."""
    doors = f"{{download}}`Download this notebook <{path.name}>`"
    if URLS:
        doors += f" · [Open in Colab]({URLS['Colab']}/{path.relative_to(ROOT).as_posix()})"
    first = notebook["cells"][0]
    title, _, rest = "".join(first["source"]).partition("\n")
    first["source"] = f"{title}\n\n{doors}\n{rest}"
    for cell in notebook["cells"]:
        if cell["metadata"].get("jupyter", {}).get("source_hidden"):
            cell["metadata"].setdefault("tags", []).append("hide-input")
        if cell["metadata"].get("jupyter", {}).get("outputs_hidden"):
            cell["metadata"].setdefault("tags", []).append("hide-output")
        for output in cell.get("outputs", []):
            described = output.get("metadata", {}).get("image/png", {}).get("alt")
            if described:
                cell["metadata"]["mystnb"] = {"image": {"alt": described}}
    return notebook


class TermsOfLessons(SphinxTransform):
    """Put the terms that a lesson introduces, in bold, into the index that a search reads."""

    default_priority = 800  # before Sphinx collects the index

    def apply(self) -> None:
        """Add an entry before each bold term of one to three words, the first time it is bold."""
        if not re.match(r"notebooks/(optional/)?\d", self.env.docname):
            return
        found = set()
        for strong in list(self.document.findall(nodes.strong)):
            term = strong.astext()
            is_term = re.fullmatch(r"[A-Za-z][\w-]*( [\w-]+){0,2}", term) and len(term) > 2
            if not is_term or term.lower() in found or strong.parent[0] is strong:
                continue  # what begins a paragraph is a label, such as "The problem"
            found.add(term.lower())
            target = nodes.make_id(f"term-{term}")
            entry = addnodes.index(entries=[("single", term, target, "main", None)])
            strong["ids"].append(target)
            strong.parent.insert(strong.parent.index(strong), entry)


def describe(app, pagename: str, template: str, context: dict, doctree) -> None:
    """Say in the head of a page what it is about: for search engines, and for who gets a link.

    The words are those of its first paragraph. The picture needs the whole address of the site,
    which nobody knows before it is published.
    """
    if doctree is None:
        return
    paragraphs = (" ".join(part.astext().split()) for part in doctree.findall(nodes.paragraph))
    first = next((words for words in paragraphs if words.count(" ") >= 8), project)
    words = first if len(first) <= 200 else first[:200].rpartition(" ")[0] + " ..."
    said = {"og:title": context["title"] or project, "og:description": words, "og:type": "article"}
    said["og:site_name"] = project
    if URLS:
        said["og:url"] = f"{URLS['Site']}{pagename}.html"
        said["og:image"] = f"{URLS['Site']}_static/preview.png"
    lines = [f'<meta name="description" content="{escape(words)}" />']
    lines += [f'<meta property="{key}" content="{escape(text)}" />' for key, text in said.items()]
    lines.append('<meta name="twitter:card" content="summary_large_image" />')
    context["metatags"] += "\n" + "\n".join(lines)


def finish(app, error) -> None:
    """Bring MathJax, the picture of a link, and the front page by the name servers look for."""
    if error:  # there is nothing to finish, and what went wrong is told already
        return
    package = Path(importlib.util.find_spec("sphinx-mathjax-offline").origin).parent
    fonts = "output/chtml/fonts/woff-v2"
    target = app.outdir / "_static" / "mathjax"
    shutil.copytree(package / "static/mathjax" / fonts, target / fonts, dirs_exist_ok=True)
    shutil.copy(package / "static/mathjax/tex-mml-chtml.js", target)
    if app.builder.name == "html":
        preview.draw(app.outdir / "_static" / "preview.png")
        shutil.copy(app.outdir / "README.html", app.outdir / "index.html")


def keep_signs(app, what, name, thing, options, lines: list[str]) -> None:
    """Leave norms like ``|w|`` and stars as they stand: our docstrings are for people first."""
    if lines and lines[0].startswith("Alias for field number"):  # namedtuple's own words
        lines.clear()
    special = re.compile(r"(``.*?``|>>>.*)|([|*])")
    lines[:] = [special.sub(lambda m: m[1] or f"\\{m[2]}", line) for line in lines]


def setup(app) -> None:
    app.connect("autodoc-process-docstring", keep_signs)
    app.connect("source-read", prepare)
    app.connect("html-page-context", describe)
    app.connect("build-finished", finish)
    app.add_transform(TermsOfLessons)
