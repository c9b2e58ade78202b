"""``python -m tests.bot.web.screenshots OUT [--readme]``: each page as a PNG.

Light, dark, and both at phone width; with ``--readme`` the three small ones of the README alone.
"""

from __future__ import annotations

import base64
import sys
import tempfile
import time
from pathlib import Path

from selenium.webdriver.chrome.webdriver import WebDriver

from tests.bot.web import browser
from tests.bot.web.site import REPO, Site, furnish, running
from tests.github_double import Double

MOST_HEIGHT = 2_400
SMALL = (960, 760)


def main(out: Path, readme: bool = False) -> None:
    """Write them into a folder."""
    out.mkdir(parents=True, exist_ok=True)
    with (
        Double(judge="never") as github,
        tempfile.TemporaryDirectory() as folder,
        running(github, Path(folder)) as site,
        browser.chromium() as driver,
    ):
        numbers = furnish(site)
        if not readme:
            driver.get(f"{site.url}/sign-in")
            _shoot(driver, out / "sign-in.png")
        driver.get(f"{site.url}/auth/github")
        (_for_readme if readme else _all)(driver, site, numbers, out)


def _all(driver: WebDriver, site: Site, numbers: dict[str, int], out: Path) -> None:
    pages = {
        "queue": "/queue",
        "reviews": "/reviews",
        "review": f"/reviews/{numbers['review']}",
        "feedback": f"/feedback?repo={REPO}",
        "repositories": "/feedback",
        "jobs": "/jobs",
        "set-up": "/connections",
    }
    looks = {
        "light": (browser.WIDE, False),
        "dark": (browser.WIDE, True),
        "phone": (browser.PHONE, False),
        "phone-dark": (browser.PHONE, True),
    }
    for name, path in pages.items():
        driver.get(site.url + path)
        if name == "feedback":
            _wait_for_plot(driver)
        for look, (size, dark) in looks.items():
            browser.resize(driver, size, dark)
            _shoot(driver, out / f"{name}-{look}.png", size)


def _for_readme(driver: WebDriver, site: Site, numbers: dict[str, int], out: Path) -> None:
    browser.resize(driver, SMALL)
    driver.get(f"{site.url}/queue")
    _shoot(driver, out / "queue.png", SMALL, most=SMALL[1])
    driver.get(f"{site.url}/feedback?repo={REPO}")
    _wait_for_plot(driver)
    top = driver.execute_script(
        "return document.getElementById('calibration').getBoundingClientRect().top"
    )
    _shoot(driver, out / "feedback.png", SMALL, top - 16, SMALL[1])
    browser.resize(driver, SMALL, dark=True)
    driver.get(f"{site.url}/reviews/{numbers['review']}")
    _shoot(driver, out / "review.png", SMALL, most=SMALL[1] + 120)


def _wait_for_plot(driver: WebDriver) -> None:
    for _ in range(60):
        if driver.find_elements("css selector", ".plot"):
            return
        time.sleep(1)
        driver.refresh()


def _shoot(
    driver: WebDriver,
    file: Path,
    size: tuple[int, int] = browser.WIDE,
    top: float = 0,
    most: int = MOST_HEIGHT,
) -> None:
    height = driver.execute_script("return document.documentElement.scrollHeight")
    clip = {"x": 0, "y": top, "width": size[0], "height": min(height - top, most), "scale": 1}
    shot = driver.execute_cdp_cmd(
        "Page.captureScreenshot", {"format": "png", "clip": clip, "captureBeyondViewport": True}
    )
    file.write_bytes(base64.b64decode(shot["data"]))


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3) or sys.argv[2:] not in ([], ["--readme"]):
        sys.exit("python -m tests.bot.web.screenshots OUT [--readme]")
    if browser.missing():
        sys.exit(browser.missing())
    main(Path(sys.argv[1]), readme=len(sys.argv) == 3)
