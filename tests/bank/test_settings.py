from memory_bank.bank.config_file import settings_of
from memory_bank.base import settings


def test_every_setting_is_there_and_no_secret() -> None:
    environ = {
        "MEMORY_BANK_HTTP_KEY": "sesame",
        "MEMORY_BANK_HTTP_URL": "https://me:sesame@example.org/v1/embeddings",
        "MEMORY_BANK_EMBEDDER": "http",
    }
    found = settings_of(settings.load(environ=environ))
    assert [one.name for one in found] == [f"{s}.{k}" for s, k, *_ in settings.describe()]
    assert "sesame" not in repr(found)
    by_name = {one.name: one for one in found}
    assert by_name["http.key"].value == "***"
    assert by_name["memory.embedder"].origin == "MEMORY_BANK_EMBEDDER"
    assert by_name["memory.enabled"].origin == "default"
    assert by_name["http.url"].private
