"""Every notebook in a real JupyterLab: run all cells, see no error, see the figures, move the sliders.

Needs Chromium (on Debian: apt-get install chromium) and is skipped without it.
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

import nbformat
import pytest

ROOT = Path(__file__).resolve().parents[1]
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
NAMES = [path.name for path in sorted((ROOT / "notebooks").glob("[0-9][0-9]_*.ipynb"))]

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here; on Debian: apt-get install chromium")

# What a reader sees of the outputs: code cells without a count, error outputs, pictures that did not load, sliders.
LOOK = """() => {
  const cells = [...jupyterapp.shell.currentWidget.content.model.cells].filter(cell => cell.type === 'code');
  const outputs = cells.flatMap(cell => cell.outputs.toJSON());
  const images = [...document.querySelectorAll('.jp-OutputArea-output img')];
  return {
    waiting: cells.filter(cell => cell.executionCount === null).length,
    errors: outputs.filter(output => output.output_type === 'error').map(output => output.ename + ': ' + output.evalue),
    stored: outputs.filter(output => output.data && 'image/png' in output.data).length,
    seen: images.filter(image => image.complete && image.naturalWidth > 100).length,
    sliders: document.querySelectorAll('.jp-OutputArea-output .noUi-handle').length,
  };
}"""


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """A JupyterLab over copies of the notebooks, so that nothing stored changes; links to what they read beside them."""
    home = tmp_path_factory.mktemp("lab")
    (home / "course" / "notebooks").mkdir(parents=True)
    for name in NAMES:  # without outputs: what is seen afterwards was made by this run
        notebook = nbformat.read(ROOT / "notebooks" / name, as_version=4)
        for cell in notebook.cells:
            if cell.cell_type == "code":
                cell.outputs, cell.execution_count = [], None
        nbformat.write(notebook, home / "course" / "notebooks" / name)
    for folder in ("figures", "albert_edu"):
        (home / "course" / folder).symlink_to(ROOT / folder)
    settings = home / "config" / "labconfig" / "default_setting_overrides.json"
    settings.parent.mkdir(parents=True)
    whole = {"windowingMode": "none"}  # every cell is in the page, also those out of sight
    quiet = {"fetchNews": "false", "checkForUpdates": False}
    settings.write_text(json.dumps({"@jupyterlab/notebook-extension:tracker": whole,
                                    "@jupyterlab/apputils-extension:notification": quiet}))  # fmt: skip
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [
        sys.executable, "-m", "jupyterlab", "--no-browser", f"--port={port}", "--IdentityProvider.token=", "--allow-root",
        f"--ServerApp.root_dir={home / 'course'}", "--expose-app-in-browser", "--ServerApp.port_retries=0",
    ]  # fmt: skip
    environment = os.environ | {"JUPYTER_CONFIG_DIR": str(home / "config"), "TQDM_DISABLE": "1"}
    with (home / "log").open("w") as log:
        server = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
    try:
        for _ in range(240):
            try:
                urlopen(f"http://127.0.0.1:{port}/api", timeout=5).read()
                break
            except OSError:
                time.sleep(0.5)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait()


@pytest.fixture(scope="module")
def browser():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        yield playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_run_all_in_jupyterlab_ends_without_error_and_shows_the_figures(name, lab, browser):
    page = browser.new_page(viewport={"width": 1300, "height": 1000})
    page.goto(f"{lab}/lab/workspaces/{name[:2]}/tree/notebooks/{name}", timeout=120_000)
    page.wait_for_function("window.jupyterapp?.shell.currentWidget?.context?.isReady", timeout=120_000)
    idle = "jupyterapp.shell.currentWidget.context.sessionContext.session?.kernel?.status === 'idle'"
    page.wait_for_function(idle, timeout=120_000)
    page.evaluate("jupyterapp.commands.execute('notebook:run-all-cells').then(() => { window.ended = true }) && null")
    page.wait_for_function("window.ended", timeout=400_000)
    deadline = time.monotonic() + 60
    while True:  # pictures arrive a little after the cells have ended
        found = page.evaluate(LOOK)
        if found["seen"] >= found["stored"] or time.monotonic() > deadline:
            break
        page.wait_for_timeout(500)
    assert found["waiting"] == 0 and not found["errors"], found
    assert found["seen"] >= found["stored"] > 0, found
    if "explore(" in (ROOT / "notebooks" / name).read_text():
        move_first_slider(page)
    page.evaluate("jupyterapp.shell.currentWidget.context.sessionContext.shutdown()")  # or nine kernels would fill the memory
    page.close()


def move_first_slider(page) -> None:
    """Press the arrow key on the first slider and see another picture."""
    panel = page.locator(".jp-OutputArea-output .widget-vbox", has=page.locator(".noUi-handle")).first
    picture = panel.locator("img").first
    before = picture.get_attribute("src")
    panel.locator(".noUi-handle").first.press("ArrowRight")
    page.wait_for_function("([image, before]) => image.src !== before", arg=[picture.element_handle(), before], timeout=30_000)
