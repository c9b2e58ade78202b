"""A headless Chromium for the tests: the system's own, driven by its own driver."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.chrome.webdriver import WebDriver

WIDE, PHONE = (1280, 900), (360, 740)


def missing() -> str:
    """Why there is no browser; empty where there is one."""
    if not (_program() and shutil.which("chromedriver")):
        return (
            "no Chromium with its driver: apt-get install chromium chromium-driver "
            "(or another distribution's packages of them)"
        )
    return ""


def _program() -> str | None:
    return shutil.which("chromium") or shutil.which("chromium-browser")


@contextmanager
def chromium(size: tuple[int, int] = WIDE, dark: bool = False) -> Iterator[WebDriver]:
    """A browser with a fresh profile; ``dark`` is what pages hear of the person's wish."""
    options = Options()
    options.binary_location = _program() or ""
    for flag in (
        "--headless=new",
        "--no-sandbox",  # root has no sandbox; what is opened is ours alone
        "--disable-dev-shm-usage",
        "--disable-gpu",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--hide-scrollbars",
        "--force-prefers-reduced-motion",  # a click must not race with a page that still scrolls
        "--force-device-scale-factor=1",
        f"--window-size={size[0]},{size[1]}",
    ):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    # the path is given, so that nothing looks for a driver elsewhere
    driver = webdriver.Chrome(options, Service(shutil.which("chromedriver")))
    try:
        resize(driver, size, dark)
        driver.set_page_load_timeout(60)
        yield driver
    finally:
        driver.quit()


def resize(driver: WebDriver, size: tuple[int, int], dark: bool = False) -> None:
    """A viewport of this size, as on a phone where it is narrow, and a theme."""
    driver.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": size[0], "height": size[1], "deviceScaleFactor": 1, "mobile": size[0] < 500},
    )
    theme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [theme]})
