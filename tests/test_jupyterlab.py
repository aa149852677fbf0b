"""Lessons in a real JupyterLab: see the stored figures and drawings.

That every file is there and whole is test_notebooks.py's to see. Needs Chromium (on Debian: apt-get
install chromium) and is skipped without it.
"""

import json
import os
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path
from urllib.request import urlopen

import pytest

ROOT = Path(__file__).resolve().parents[1]
CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
NET = 900  # seconds until a test gives up: a busy machine draws a page late
# They have all that a lesson shows: drawings, a picture in the text, stored figures.
NAMES = ["00_start_here.ipynb", "08_layers_compared.ipynb"]

pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="no Chromium here; on Debian: apt-get install chromium"
)

# What a reader sees of the outputs: stored pictures that loaded, and drawings that the text names and
# that are there. How wide code may be is in test_notebooks.py.
LOOK = """() => {
  const all = [...jupyterapp.shell.currentWidget.content.model.cells];
  const cells = all.filter(cell => cell.type === 'code');
  const text = all.filter(cell => cell.type === 'markdown').map(cell => cell.sharedModel.source).join();
  const drawings = [...document.querySelectorAll('.jp-RenderedMarkdown img')];
  const outputs = cells.flatMap(cell => cell.outputs.toJSON());
  const images = [...document.querySelectorAll('.jp-OutputArea-output img')];
  return {
    stored: outputs.filter(output => output.data && 'image/png' in output.data).length,
    seen: images.filter(image => image.complete && image.naturalWidth > 100).length,
    named: (text.match(/\\]\\(\\.\\.\\/figures\\/[^)]*\\.(svg|png)\\)/g) || []).length,
    drawn: drawings.filter(image => image.complete && image.naturalWidth >= 100).length,
  };
}"""


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """A JupyterLab over copies of the notebooks, so that nothing stored changes; links to what they read beside them."""
    home = tmp_path_factory.mktemp("lab")
    (home / "course" / "notebooks").mkdir(parents=True)
    for name in NAMES:
        shutil.copy(ROOT / "notebooks" / name, home / "course" / "notebooks" / name)
    (home / "course" / "albert_edu").symlink_to(ROOT / "albert_edu")
    shutil.copytree(ROOT / "figures", home / "course" / "figures")  # links are not served
    settings = home / "config" / "labconfig" / "default_setting_overrides.json"
    settings.parent.mkdir(parents=True)
    whole = {"windowingMode": "none"}  # every cell is in the page, also those out of sight
    quiet = {"fetchNews": "false", "checkForUpdates": False}
    overrides = {"@jupyterlab/notebook-extension:tracker": whole}
    overrides["@jupyterlab/apputils-extension:notification"] = quiet
    settings.write_text(json.dumps(overrides))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root"]
    command += ["--IdentityProvider.token=", "--expose-app-in-browser", f"--port={port}"]
    command += ["--ServerApp.port_retries=0", f"--ServerApp.root_dir={home / 'course'}"]
    environment = os.environ | {"JUPYTER_CONFIG_DIR": str(home / "config"), "TQDM_DISABLE": "1"}
    with (home / "log").open("w") as log:
        server = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
    try:
        while server.poll() is None:
            try:
                urlopen(f"http://127.0.0.1:{port}/api", timeout=NET).read()
                break
            except OSError:
                time.sleep(0.5)
        assert server.poll() is None, (home / "log").read_text()
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait()


@pytest.fixture(scope="module")
def browser():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        yield playwright.chromium.launch(
            executable_path=CHROMIUM,
            args=["--no-sandbox", "--disable-gpu"],
            timeout=1000 * NET,
        )


def looked_at(page) -> dict:
    """What ``LOOK`` finds once every stored picture and every drawing is there, or when NET ends."""
    deadline = time.monotonic() + NET
    found = page.evaluate(LOOK)
    while not is_whole(found) and time.monotonic() < deadline:
        page.wait_for_timeout(500)
        found = page.evaluate(LOOK)
    return found


def is_whole(found: dict) -> bool:
    """Whether every stored picture and every drawing is there."""
    return found["seen"] >= found["stored"] and found["drawn"] >= found["named"] > 0


@pytest.mark.parametrize("name", NAMES)
def test_a_stored_notebook_opens_with_every_figure_and_drawing(name, lab, browser):
    page = browser.new_page(viewport={"width": 1300, "height": 1000})
    page.set_default_timeout(1000 * NET)
    page.goto(f"{lab}/lab/workspaces/{name[:2]}/tree/notebooks/{name}")
    page.wait_for_function("window.jupyterapp?.shell.currentWidget?.context?.isReady")
    found = looked_at(page)
    assert is_whole(found), found
    page.close()
