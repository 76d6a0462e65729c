"""The one look of every page that the project writes: one HTML file that needs nothing else, asks no network, and prints well.

What does not belong here: what a page shows (`toolbox.page`, `knowledge.trace.page`).
"""

from __future__ import annotations

from html import escape


def document(title: str, main: str, after: str = "", style: str = "") -> str:
    """A whole page. main, after: HTML that goes into it and behind it; style: rules that only this page has."""
    return _HTML.format(title=escape(title), body=main, references=after, style=style)


_HTML = """<!doctype html>
<html>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{title}</title>
<style>
body {{ margin: 0 auto; padding: 2.5rem 1.25rem 4rem; max-width: 46rem; background: #fff; color: #22303c;
  font: 1.0625rem/1.65 Georgia, "Times New Roman", serif; overflow-wrap: break-word; }}
h1, h2, h3, h4, figure, table {{ font-family: system-ui, "Segoe UI", "Liberation Sans", Arial, sans-serif; }}
h1, h2, h3, h4 {{ line-height: 1.25; margin: 2em 0 0.5em; }}
h1 {{ font-size: 1.9rem; margin-top: 0; }} h2 {{ font-size: 1.35rem; }} h3 {{ font-size: 1.1rem; }}
a {{ color: #1f5d92; }} a.cite {{ text-decoration: none; font-size: 0.85em; }}
figure {{ margin: 2rem 0; }} figure svg {{ display: block; max-width: 100%; height: auto; }}
details {{ font-size: 0.85rem; }} summary {{ cursor: pointer; color: #51606d; }}
table {{ border-collapse: collapse; font-size: 0.9rem; margin: 0.75rem 0; }}
th, td {{ padding: 0.3rem 0.8rem 0.3rem 0; border-bottom: 1px solid #d5dce2; text-align: left; font-variant-numeric: tabular-nums; }}
code, pre {{ font: 0.9em/1.5 ui-monospace, "Liberation Mono", Menlo, monospace; background: #f3f5f7; border-radius: 3px; }}
code {{ padding: 0.1em 0.3em; }} pre {{ padding: 0.9rem; overflow-x: auto; }} pre code {{ padding: 0; }}
blockquote {{ margin: 1rem 0; padding-left: 1rem; border-left: 3px solid #c3ccd3; color: #51606d; }}
.missing {{ color: #9c2f26; font-weight: bold; }}
section {{ font-size: 0.9rem; border-top: 1px solid #d5dce2; margin-top: 3rem; }}
@media print {{ details {{ display: none; }} body {{ padding: 0; }} }}
{style}</style>
</head>
<body>
<main>
{body}</main>
{references}</body>
</html>
"""
