"""Which files of a repository are documents: Markdown, other prose, configuration."""

from __future__ import annotations

from memory_bank.filenames import NOTE_SUFFIXES

_SUFFIXES = frozenset(
    """
    .rst .txt .adoc .asciidoc .org .tex .textile
    .yaml .yml .toml .json .jsonc .json5 .ini .cfg .conf .properties .env .in .editorconfig
    .html .htm .css .scss .sass .less .vue .svelte .jade .pug .ejs .hbs .j2 .jinja .jinja2 .tmpl
    .sql .proto .graphql .gql .xml .xsd .gradle .cmake .mk .tf .dockerfile .bat .ps1 .service
    """.split()  # noqa: SIM905  (read as rows)
)
_NAMES = frozenset(
    """
    Makefile makefile GNUmakefile Dockerfile Containerfile Procfile Jenkinsfile Justfile justfile
    Vagrantfile LICENSE COPYING NOTICE AUTHORS CONTRIBUTORS CHANGES CHANGELOG HISTORY README INSTALL
    TODO CODEOWNERS .gitignore .gitattributes .dockerignore .npmrc .npmignore .eslintrc .prettierrc
    .babelrc .flake8
    """.split()  # noqa: SIM905
)
_LOCKS = frozenset(
    "package-lock.json npm-shrinkwrap.json pnpm-lock.yaml packages.lock.json".split()  # noqa: SIM905
)
"""Files that programs write, whose names look like documents."""


def is_document(path: str) -> bool:
    """Tell whether a file is a document, by its name."""
    name = path.rpartition("/")[2]
    if name in _LOCKS:
        return False
    dot = name.rfind(".")
    return is_markdown(name) or name in _NAMES or (dot > 0 and name[dot:].lower() in _SUFFIXES)


def is_markdown(path: str) -> bool:
    """Tell whether a file is Markdown, by its name."""
    return path.endswith(NOTE_SUFFIXES)
