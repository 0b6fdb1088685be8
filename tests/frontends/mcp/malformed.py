"""Bytes that are no JSON, or no request: refused over stdio and HTTP alike."""

PING = b'{"jsonrpc": "2.0", "id": 7, "method": "ping", "params": {"a": %s}}'

NO_JSON: dict[str, bytes] = {
    "half": b'{"jsonrpc": "2.0", "id": 7, "me',
    "words": b"GET / HTTP/1.1",
    "a lone surrogate": PING % b'"\\ud800"',
    "surrogates in the wrong order": PING % b'"\\udc00\\ud800"',
    "a lone surrogate as a key": PING % b'{"\\udfff": 1}',
    "a lone surrogate as the method": b'{"jsonrpc": "2.0", "id": 7, "method": "\\ud800"}',
    "a surrogate in UTF-8": PING % b'"\xed\xa0\x80"',
    "no UTF-8": PING % b'"\xff\xfe"',
    "overlong UTF-8": PING % b'"\xc0\x80"',
    "5,000 digits": PING % (b"1" * 5000),
    "-5,000 digits": PING % (b"-" + b"1" * 5000),
    "an id of 5,000 digits": b'{"jsonrpc": "2.0", "id": %s, "method": "ping"}' % (b"1" * 5000),
    "NaN": PING % b"NaN",
    "Infinity": PING % b"-Infinity",
    "nested": b"[" * 100_000,
    "nested and closed": PING % (b"[" * 100_000 + b"]" * 100_000),
    "nested objects": PING % (b'{"a":' * 100_000 + b"1" + b"}" * 100_000),
    "two in one": PING % b"1" + PING % b"2",
    "a control character": PING % b'"\x01"',
    "NUL": b"\x00",
    "a byte order mark": b"\xef\xbb\xbf" + PING % b"1",
    "UTF-16": (PING % b"1").decode().encode("utf-16-le").replace(b"\n", b""),
    "single quotes": b"{'jsonrpc': '2.0'}",
    "a comment": b"// hello",
    "a trailing comma": b'{"jsonrpc": "2.0", "id": 7, "method": "ping",}',
}

NO_REQUEST: dict[str, tuple[bytes, int | str | None]] = {
    "nothing": (b"{}", None),
    "null": (b"null", None),
    "a number": (b"7", None),
    "a text": (b'"ping"', None),
    "an empty batch": (b"[]", None),
    "a batch": (b"[%s]" % (PING % b"1"), None),
    "no version": (b'{"id": 7, "method": "ping"}', 7),
    "version 1": (b'{"jsonrpc": "1.0", "id": "x", "method": "ping"}', "x"),
    "a method that is no text": (b'{"jsonrpc": "2.0", "id": 7, "method": 5}', 7),
    "params that are no object": (
        b'{"jsonrpc": "2.0", "id": 7, "method": "ping", "params": [1]}',
        7,
    ),
    "an id that is null": (b'{"jsonrpc": "2.0", "id": null, "method": "ping"}', None),
    "an id that is a list": (b'{"jsonrpc": "2.0", "id": [7], "method": "ping"}', None),
    "an id that is true": (b'{"jsonrpc": "2.0", "id": true, "method": "ping"}', None),
    "an id that is a fraction": (b'{"jsonrpc": "2.0", "id": 7.5, "method": "ping"}', None),
    "an answer to nothing": (b'{"jsonrpc": "2.0", "result": {}}', None),
    "an answer without a result": (b'{"jsonrpc": "2.0", "id": 7}', None),
}
