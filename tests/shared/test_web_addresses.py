"""A repository is named by its remote, without credentials; addresses of lines are web addresses."""

import pytest

from memory_bank.shared.addresses import find_url_problem, line_address, parse_remote

NO_CI: dict[str, str] = {}


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://github.com/Acme/Shop.git", "github.com/acme/shop"),
        (
            "https://x-access-token:ghs_16C7e42F292c6912E7@github.com/acme/shop",
            "github.com/acme/shop",
        ),
        ("git@github.com:acme/shop.git", "github.com/acme/shop"),
        ("ssh://git@ssh.github.com:443/acme/shop.git", "github.com/acme/shop"),
        ("ssh://git@git.example.org:2222/acme/sub/Shop/", "git.example.org/acme/sub/Shop"),
        ("https://user@GIT.example.org:8443/acme/shop.git/", "git.example.org/acme/shop"),
        ("git.example.org:acme/shop", "git.example.org/acme/shop"),
    ],
)
def test_a_remote_names_its_repository_without_credentials(url: str, name: str) -> None:
    found = parse_remote(url, NO_CI)
    assert found is not None
    remote_name, web = found
    assert remote_name == name
    assert "ghs_" not in web
    assert "user" not in web


@pytest.mark.parametrize(
    "url", ["", "/srv/git/shop.git", "../shop", "file:///srv/shop", "C:\\shop", "C:/shop", "https://host", "https://[::1/x",
            "git@host:", "https://host/a/../b", "https://host/a b"]
)  # fmt: skip
def test_what_names_no_host_names_no_repository(url: str) -> None:
    assert parse_remote(url, NO_CI) is None


@pytest.mark.parametrize(
    ("url", "variables", "expected"),
    [
        (
            "git@github.com:a/b.git",
            NO_CI,
            "https://github.com/a/b/blob/c0ffee/docs/x%20y.md?plain=1#L7",
        ),
        (
            "git@gitlab.example.org:a/g/b.git",
            NO_CI,
            "https://gitlab.example.org/a/g/b/-/blob/c0ffee/docs/x%20y.md?plain=1#L7",
        ),
        (
            "git@bitbucket.org:a/b.git",
            NO_CI,
            "https://bitbucket.org/a/b/src/c0ffee/docs/x%20y.md#lines-7",
        ),
        (
            "https://codeberg.org/a/b",
            NO_CI,
            "https://codeberg.org/a/b/src/commit/c0ffee/docs/x%20y.md?display=source#L7",
        ),
        (
            "http://git.example.org:3000/a/b",
            {"GITEA_ACTIONS": "true"},
            "http://git.example.org:3000/a/b/src/commit/c0ffee/docs/x%20y.md?display=source#L7",
        ),
        (
            "https://git.example.org/a/b",
            {"GITLAB_CI": "true"},
            "https://git.example.org/a/b/-/blob/c0ffee/docs/x%20y.md?plain=1#L7",
        ),
    ],
)
def test_the_address_of_a_line_is_pinned_to_the_commit(
    url: str, variables: dict[str, str], expected: str
) -> None:
    found = parse_remote(url, variables)
    assert found is not None
    assert line_address(found[1], "c0ffee", "docs/x y.md", 7) == expected


@pytest.mark.parametrize(
    "template",
    ["", "javascript:alert(1)/blob/{commit}/{file}?plain=1#L{line}", "https://host/{commit.__class__}",
     "https://a b/blob/{commit}/{file}?plain=1#L{line}", 'https://host"><x/blob/{commit}/{file}?plain=1#L{line}',
     "https://h/{file}/blob/{commit}/{file}?plain=1#L{line}"],
)  # fmt: skip
def test_a_template_of_a_stranger_makes_nothing_but_a_web_address(template: str) -> None:
    assert line_address(template, "c", "f.md", 1) == ""


def test_names_that_nobody_could_read_are_refused() -> None:
    assert find_url_problem("host/owner/name") == ""
    for name in ("", "a b", "a\u202eb", "a\nb", "a//b", "../b", "x" * 301):
        assert find_url_problem(name)
