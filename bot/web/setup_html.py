"""The set-up's pages: plain HTML that needs no script."""

from __future__ import annotations

from typing import Any

from flask import Response, make_response, render_template_string

FRAME = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Marginalia: set-up</title>
<meta name="viewport" content="width=device-width">
<style>
body { font: 16px/1.5 system-ui, sans-serif; max-width: 40rem; margin: 3rem auto; padding: 0 1rem }
label { display: block; margin: 1rem 0 } input[type=text] { width: 100%; font: inherit }
pre { overflow: auto; background: #8881; padding: 1rem } .problem { color: #b00020 }
</style>
<main>{{body}}</main></html>"""

FORM = """<h1>Make the GitHub App</h1>
{% if problem %}<p class="problem" role="alert">{{ problem }}</p>{% endif %}
<form method="post" action="/setup">
<label>Name of the App, unique on GitHub
<input type="text" name="name" value="{{ wish.name }}" required maxlength="34"></label>
<label>Organisation that will own it; empty for yourself
<input type="text" name="organisation" value="{{ wish.organisation }}"></label>
<label>Address under which GitHub reaches this server
<input type="text" name="public_url" value="{{ wish.public_url }}" required></label>
<label>GitHub (an Enterprise Server's own address)
<input type="text" name="github_url" value="{{ wish.github_url }}" required></label>
<label><input type="checkbox" name="resolve_threads" value="yes"
{% if wish.resolve_threads %}checked{% endif %}>
May resolve its own threads when their code is gone. GitHub asks contents: write for that.</label>
<button>Next</button>
</form>"""

SEND = """<h1>Send it to GitHub</h1>
<p>This is what the App will be. GitHub shows it once more before anything is made.</p>
<pre>{{ shown }}</pre>
<form method="post" action="{{ target }}">
<input type="hidden" name="manifest" value="{{ manifest }}">
<button>Go on to GitHub</button>
</form>"""

DONE = """<h1>{{ name }} is made</h1>
<p>Its key and secret are kept in the data folder. This page is closed for good.</p>
<p><a href="{{ install }}">Install it on repositories</a>; if the server did not take it up by
itself, start it again.</p>"""


def page(template: str, status: int = 200, **values: Any) -> Response:
    """A page of the set-up: no script, nothing from elsewhere, kept by nobody."""
    made = make_response(render_template_string(FRAME.replace("{{body}}", template), **values))
    made.status_code = status
    made.headers["Content-Security-Policy"] = (
        "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'"
    )
    made.headers["Referrer-Policy"] = "no-referrer"
    made.headers["Cache-Control"] = "no-store"
    made.headers["X-Content-Type-Options"] = "nosniff"
    return made
