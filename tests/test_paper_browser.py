"""The report in a real browser, without a screen: no complaints, and a person can see and use all of it."""

import html
import json
import re
import shutil
import subprocess

import pytest

from helpers.paper import tiny_report

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium on PATH")

# Runs in the page after it has loaded, and leaves what it found in the document for --dump-dom.
INSPECT = """
<script>
window.addEventListener("load", () => {
  const box = (e) => e.getBoundingClientRect();
  const found = { width: window.innerWidth, pageWidth: document.documentElement.scrollWidth };
  found.figures = [...document.querySelectorAll(".panels svg")].map((e) => [box(e).width, box(e).height]);
  found.outside = [...document.querySelectorAll(".panels svg")].filter((e) => box(e).right > window.innerWidth).length;
  document.documentElement.style.scrollBehavior = "auto";
  found.links = [...document.querySelectorAll("nav a")].map((a) => {
    a.click();
    const target = document.querySelector(a.getAttribute("href"));
    const end = window.innerHeight + window.scrollY >= document.documentElement.scrollHeight - 2;
    return [location.hash === a.getAttribute("href"), end || Math.abs(box(target).top) < 60];
  });
  const spot = document.querySelector(".points circle");
  spot.scrollIntoView();
  spot.dispatchEvent(new PointerEvent("pointerover", { bubbles: true }));
  const tip = document.getElementById("tip");
  found.tip = [tip.hidden, tip.textContent, spot.querySelector("title").textContent];
  document.querySelectorAll("details").forEach((d) => { d.open = true; });
  found.tables = [...document.querySelectorAll("details table")].map((e) => box(e).height);
  window.parent.postMessage(JSON.stringify(found), "*");
});
</script>
"""
# A browser's window has a least width; a frame can be as narrow as a phone.
FRAME = """<!DOCTYPE html><body><script>
window.addEventListener("message", (event) => {
  const out = document.createElement("pre");
  out.id = "found";
  out.textContent = event.data;
  document.body.append(out);
});
</script><iframe src="inspected.html" width="WIDTH" height="844" style="border:0"></iframe></body>"""


def look(page, folder, width):
    """What `INSPECT` finds in the page on a screen so wide, and everything that the browser complained about."""
    text = page.read_text(encoding="utf-8").replace("</body>", INSPECT + "</body>")
    (folder / "inspected.html").write_text(text, encoding="utf-8")
    frame = folder / "frame.html"
    frame.write_text(FRAME.replace("WIDTH", str(width)), encoding="utf-8")
    options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr"]
    options += [f"--user-data-dir={folder / 'profile'}", "--virtual-time-budget=20000", "--window-size=1400,900"]
    command = [CHROMIUM, *options, "--dump-dom", frame.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    said = re.search(r'<pre id="found">(.*?)</pre>', done.stdout, re.DOTALL)
    assert said is not None, done.stderr[-2000:]
    complaints = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    return json.loads(html.unescape(said[1])), complaints


@pytest.mark.parametrize("width", [1280, 390])
def test_everything_is_visible_and_works(tmp_path, width):
    report = tiny_report()
    found, complaints = look(report.page, tmp_path, width)
    assert complaints == []
    assert found["width"] == width
    assert found["pageWidth"] <= width  # nothing to scroll sideways, but for tables in their own frame
    assert len(found["figures"]) == report.panels
    assert all(across > 250 and down > 180 for across, down in found["figures"])
    assert found["outside"] == 0
    assert len(found["links"]) == 3 + 11  # claims, provenance, machine, and the figures
    assert all(hash_set and in_view for hash_set, in_view in found["links"])
    hidden, shown, title = found["tip"]
    assert not hidden
    assert shown == title != ""
    assert all(height > 0 for height in found["tables"])
