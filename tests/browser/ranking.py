"""Waiting for what the worker learns."""

import time


def wait_for_ranking(page):
    """The worker fits the model beside the studio; the page shows it when it is loaded again."""
    deadline = time.monotonic() + 600
    while not page.locator("svg.interval").count():
        assert time.monotonic() < deadline, page.locator("main").inner_text()
        page.wait_for_timeout(1000)
        page.reload()
