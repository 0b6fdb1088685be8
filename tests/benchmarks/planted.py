"""Secrets drawn at random by the documented formats, planted into real Markdown, and looked for.

    python -m tests.benchmarks.planted [SEED …]

None was ever issued. They are put together when this runs: no line of this file has one's form.
"""

import base64
import random
import string
import sys
import tarfile
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from memory_bank.notes.secrets import secrets

ROOT = Path(__file__).parents[2]
BENCH = ROOT.parent / "shared" / "bench"
VAULT, PROJECTS = BENCH / "obsidian-help.tar.gz", BENCH / "projects.tar.gz"
PLANTED = 150

UP, LOW, NUM = string.ascii_uppercase, string.ascii_lowercase, string.digits
WORD, HEX, LOWNUM, UPNUM = UP + LOW + NUM, "0123456789abcdef", LOW + NUM, UP + NUM
B64, URLSAFE, BASE32 = WORD + "+/", WORD + "-_", UP + "234567"


class Kind(NamedTuple):
    """One kind: what it is called, the variable that holds it, and how one is drawn."""

    label: str
    variable: str
    draw: Callable[[random.Random], str]
    known: bool = True
    """Whether its form says what it is; else something beside it must."""
    many_lines: bool = False


class Planted(NamedTuple):
    """A secret in a text, and where it stands there."""

    kind: str
    where: str
    value: str
    text: str


def some(alphabet: str, count: int) -> Callable[[random.Random], str]:
    """Draw so many characters."""
    return lambda rng: "".join(rng.choices(alphabet, k=count))


def after(*parts: str | Callable[[random.Random], str]) -> Callable[[random.Random], str]:
    """Draw the parts one after another; a text stands for itself."""
    return lambda rng: "".join(part if isinstance(part, str) else part(rng) for part in parts)


def one_of(*ways: Callable[[random.Random], str]) -> Callable[[random.Random], str]:
    """Draw in one of several ways."""
    return lambda rng: rng.choice(ways)(rng)


def said(draw: Callable[[random.Random], str], *phrases: str) -> Callable[[random.Random], str]:
    """Draw one of the phrases, with a value of its own wherever it has `{}`."""

    def one(rng: random.Random) -> str:
        phrase = rng.choice(phrases)
        return phrase.format(*(draw(rng) for _ in range(phrase.count("{}"))))

    return one


def _uuid(rng: random.Random) -> str:
    return str(uuid.UUID(int=rng.getrandbits(128), version=4))


def _b64(count: int) -> Callable[[random.Random], str]:
    return lambda rng: base64.b64encode(rng.randbytes(count)).decode()


def _part(rng: random.Random, text: str) -> str:
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def _jwt(rng: random.Random) -> str:
    head = _part(rng, '{"alg":"HS256","typ":"JWT"}')
    body = _part(rng, f'{{"sub":"{rng.randrange(10**9)}","iat":{rng.randrange(10**9)}}}')
    return f"{head}.{body}.{some(URLSAFE, 43)(rng)}"


def _pem(kind: str) -> Callable[[random.Random], str]:
    def draw(rng: random.Random) -> str:
        data = base64.b64encode(rng.randbytes(rng.choice([121, 600, 1190]))).decode()
        lines = [data[at : at + 64] for at in range(0, len(data), 64)]
        fence = "-" * 5
        return "\n".join([f"{fence}BEGIN {kind}{fence}", *lines, f"{fence}END {kind}{fence}"])

    return draw


def _putty(rng: random.Random) -> str:
    lines = [some(B64, 64)(rng) for _ in range(8)]
    head = (
        "PuTTY-User-Key-File-" + "3: ssh-rsa\nEncryption: none\nComment: deploy\nPrivate-Lines: 8"
    )
    return "\n".join([head, *lines])


def _password(rng: random.Random) -> str:
    """Draw what a person or a generator makes: three classes at least."""
    if rng.random() < 0.5:
        word = rng.choice(["Summer", "dragon", "Falcon", "bluebird", "Kestrel", "harbor"])
        return f"{word}{rng.choice('!#%&*?@')}{rng.randrange(10, 9999)}{rng.choice(UP)}{rng.choice(LOW)}"
    chosen = [
        rng.choice(UP),
        rng.choice(LOW),
        rng.choice(NUM),
        *rng.choices(WORD + "!#%*?+=", k=12),
    ]
    rng.shuffle(chosen)
    return rng.choice(WORD) + "".join(chosen) + rng.choice(WORD)


COMMON = [
    "orchard", "copper", "lantern", "meadow", "falcon", "harbor", "velvet", "pepper", "walnut",
    "glacier", "saddle", "cricket", "tulip",
]  # fmt: skip


def _words(count: int, between: str = "") -> Callable[[random.Random], str]:
    return lambda rng: between.join(rng.sample(COMMON, count))


def _url(scheme: str, host: str) -> Callable[[random.Random], str]:
    def draw(rng: random.Random) -> str:
        user = rng.choice(["svc", "app_rw", "deploy", "billing", "reporting"])
        return f"{scheme}://{user}:{some(WORD, rng.randint(10, 24))(rng)}@{host}"

    return draw


def _basic(rng: random.Random) -> str:
    pair = f"deploy:{some(WORD, 16)(rng)}"
    return "Authorization: Basic " + base64.b64encode(pair.encode()).decode()


def _service_account(rng: random.Random) -> str:
    key = _pem("PRIVATE KEY")(rng).replace("\n", "\\n")
    return f'{{"type": "service_account", "private_key_id": "{some(HEX, 40)(rng)}", "private_key": "{key}\\n"}}'


KINDS = (
    Kind("AWS access key id", "AWS_ACCESS_KEY_ID", after("AK", "IA", some(BASE32, 16))),
    Kind("AWS temporary key id", "AWS_ACCESS_KEY_ID", after("AS", "IA", some(BASE32, 16))),
    Kind("AWS secret access key", "AWS_SECRET_ACCESS_KEY", some(B64, 40), known=False),
    *(
        Kind("GitHub token", "GITHUB_TOKEN", after("gh", letter, "_", some(WORD, 36)))
        for letter in "pousr"
    ),
    Kind("GitHub token", "GH_PAT", after("github", "_pat_", some(WORD, 22), "_", some(WORD, 59))),
    Kind("GitLab token", "GITLAB_TOKEN", after("gl", "pat-", some(URLSAFE, 20))),
    Kind("Slack bot token", "SLACK_TOKEN", after("xo", "xb-", some(NUM, 12), "-", some(NUM, 13), "-", some(WORD, 24))),
    Kind("Slack app token", "SLACK_APP_TOKEN", after("xa", "pp-1-A", some(UPNUM, 10), "-", some(NUM, 13), "-", some(HEX, 64))),
    Kind("Slack webhook", "SLACK_URL", after("https://hooks.sl", "ack.com/services/T", some(UPNUM, 9), "/B", some(UPNUM, 10), "/", some(WORD, 24))),
    Kind("Google API key", "GOOGLE_API_KEY", after("AI", "za", some(URLSAFE, 35))),
    Kind("Google OAuth client secret", "CLIENT_SECRET", after("GOC", "SPX-", some(URLSAFE, 28))),
    Kind("Google service account", "", _service_account, many_lines=True),
    Kind("Azure storage connection", "AZURE_STORAGE", after("DefaultEndpointsProtocol=https;AccountName=logs;Account", "Key=", some(B64, 86), "==")),
    Kind("Azure storage account key", "AZURE_STORAGE_KEY", after(some(B64, 86), "=="), known=False),
    Kind("Azure client secret", "AZURE_CLIENT_SECRET", after(some(WORD, 3), "8", "Q~", some(URLSAFE + ".~", 34))),
    Kind("Azure SAS URL", "SAS_URL", after("https://logs.blob.core.windows.net/c?sv=2022-11-02&se=2027-01-01&sp=r&si", "g=", some(WORD, 43), "%3D")),
    Kind("Stripe key", "STRIPE_KEY", after("sk", "_live_", some(WORD, 24))),
    Kind("Stripe restricted key", "STRIPE_KEY", after("rk", "_live_", some(WORD, 99))),
    Kind("Stripe webhook secret", "STRIPE_WEBHOOK", after("wh", "sec_", some(WORD, 32))),
    Kind("OpenAI key", "OPENAI_API_KEY", after("s", "k-", some(WORD, 20), "T3Blb", "kFJ", some(WORD, 20))),
    Kind("OpenAI project key", "OPENAI_API_KEY", after("s", "k-proj-", some(URLSAFE, 74), "T3Blb", "kFJ", some(URLSAFE, 74))),
    Kind("Anthropic key", "ANTHROPIC_API_KEY", after("sk-", "ant-api03-", some(URLSAFE, 93), "AA")),
    Kind("Hugging Face token", "HF_TOKEN", after("h", "f_", some(UP + LOW, 34))),
    Kind("npm token", "NPM_TOKEN", after("np", "m_", some(WORD, 36))),
    Kind("npmrc line", "", after("//registry.npmjs.org/:_auth", "Token=", _uuid)),
    Kind("PyPI token", "PYPI_TOKEN", after("py", "pi-AgEIcHlwaS5vcmc", some(URLSAFE, 150))),
    Kind("Docker Hub token", "DOCKER_TOKEN", after("dc", "kr_pat_", some(URLSAFE, 27))),
    Kind("Twilio API key", "TWILIO_KEY", after("S", "K", some(HEX, 32))),
    Kind("Twilio auth token", "TWILIO_AUTH_TOKEN", some(HEX, 32), known=False),
    Kind("SendGrid key", "SENDGRID_API_KEY", after("S", "G.", some(URLSAFE, 22), ".", some(URLSAFE, 43))),
    Kind("Mailgun key", "MAILGUN_API_KEY", one_of(after("ke", "y-", some(HEX, 32)), after(some(HEX, 32), "-", some(HEX, 8), "-", some(HEX, 8)))),
    Kind("Mailchimp key", "MAILCHIMP_API_KEY", after(some(HEX, 32), "-u", "s", some("123456789", 1))),
    Kind("DigitalOcean token", "DO_TOKEN", after("do", "p_v1_", some(HEX, 64))),
    Kind("Heroku API key", "HEROKU_API_KEY", one_of(_uuid, after("HR", "KU-", _uuid)), known=False),
    Kind("Telegram bot token", "TELEGRAM_TOKEN", after(some("123456789", 10), ":AA", some(URLSAFE, 33))),
    Kind("Discord bot token", "DISCORD_TOKEN", after(some("MNO", 1), some(WORD, 25), ".", some(WORD, 6), ".", some(URLSAFE, 38))),
    Kind("Discord webhook", "DISCORD_URL", after("https://dis", "cord.com/api/webhooks/", some("123456789", 18), "/", some(URLSAFE, 68))),
    Kind("JSON web token", "SESSION_JWT", _jwt),
    Kind("RSA key", "", _pem("RSA PRIVATE KEY"), many_lines=True),
    Kind("EC key", "", _pem("EC PRIVATE KEY"), many_lines=True),
    Kind("PKCS 8 key", "", _pem("PRIVATE KEY"), many_lines=True),
    Kind("OpenSSH key", "", _pem("OPENSSH PRIVATE KEY"), many_lines=True),
    Kind("PGP key", "", _pem("PGP PRIVATE KEY BLOCK"), many_lines=True),
    Kind("PuTTY key", "", _putty, many_lines=True),
    Kind("Postgres URL", "DATABASE_URL", _url("postgres", "db.internal:5432/app")),
    Kind("MongoDB URL", "MONGO_URL", _url("mongodb+srv", "cluster0.ab1cd.mongodb.net/app")),
    Kind("Redis URL", "REDIS_URL", after("redis://", ":", some(WORD, 20), "@cache.internal:6379/0")),
    Kind("AMQP URL", "AMQP_URL", _url("amqp", "mq.internal:5672/vhost")),
    Kind("HTTPS URL", "FEED_URL", _url("https", "git.internal/team/app.git")),
    Kind("database password", "DB_PASSWORD", _password, known=False),
    Kind("admin password", "ADMIN_PASSWORD", _password, known=False),
    Kind("api key", "API_KEY", some(WORD, 32), known=False),
    Kind("access token", "ACCESS_TOKEN", some(HEX, 40), known=False),
    Kind("client secret", "CLIENT_SECRET", some(URLSAFE, 40), known=False),
    Kind("bearer header", "", after("Authorization: Bea", "rer ", some(URLSAFE, 40))),
    Kind("basic header", "", _basic),
    Kind("netrc line", "", after("machine git.internal login deploy pass", "word ", some(WORD, 18))),
    Kind("Vault token", "VAULT_TOKEN", after("hv", "s.", some(URLSAFE, 90))),
    Kind("Terraform token", "TF_TOKEN", after(some(WORD, 14), ".atlas", "v1.", some(WORD, 67))),
    Kind("Databricks token", "DATABRICKS_TOKEN", after("da", "pi", some(HEX, 32))),
    Kind("Shopify token", "SHOPIFY_TOKEN", after("sh", "pat_", some(HEX, 32))),
    Kind("Square token", "SQUARE_TOKEN", one_of(after("sq0", "atp-", some(URLSAFE, 22)), after("EA", "AA", some(URLSAFE, 60)))),
    Kind("Linear key", "LINEAR_API_KEY", after("lin", "_api_", some(WORD, 40))),
    Kind("Notion token", "NOTION_TOKEN", one_of(after("nt", "n_", some(WORD, 46)), after("sec", "ret_", some(WORD, 43)))),
    Kind("Atlassian token", "JIRA_TOKEN", after("ATA", "TT3xFfGF0", some(URLSAFE, 180), "=", some(UPNUM, 8))),
    Kind("Cloudflare token", "CLOUDFLARE_API_TOKEN", some(URLSAFE, 40), known=False),
    Kind("Cloudflare token", "CF_TOKEN", after("cf", "ut_", some(WORD, 48))),
    Kind("Supabase token", "SUPABASE_TOKEN", after("sb", "p_", some(HEX, 40))),
    Kind("Sentry token", "SENTRY_TOKEN", after("sn", "tryu_", some(HEX, 64))),
    Kind("New Relic key", "NEW_RELIC_KEY", after("NR", "AK-", some(UPNUM, 27))),
    Kind("Datadog API key", "DD_API_KEY", some(HEX, 32), known=False),
    Kind("Grafana token", "GRAFANA_TOKEN", after("gl", "sa_", some(WORD, 32), "_", some(HEX, 8))),
    Kind("login in prose", "", said(_password, "Log in as root with {}.", "Sign in as deploy using {}, then restart it.", "Auf nas2 meldet man sich als admin mit {} an.", "ssh to ci-3 as root, it wants {}")),
    Kind("user and password", "", said(_password, "root / {} (admin password)", "- Grafana: admin/{}", "IPMI is ADMIN / {} on all nodes", "Zugangsdaten: admin / {}", "echo 'root:{}' | chpasswd")),
    Kind("question and answer", "", said(_password, "anna: grafana password?\n[10:15] bob: it's {}, I think", "ina: the pw?\nmax: {}")),
    Kind("staging password", "STAGING_PASSWORD", one_of(_words(3), some(LOW, 14)), known=False),
    Kind("password of letters in prose", "", said(_words(3), "The password is {}, nobody changed it.", "Das Kennwort für den Testrechner lautet {}.", "user admin, password {}", "pw: {}")),
    Kind("passphrase", "BACKUP_PASSPHRASE", _words(5, "-"), known=False),
    Kind("seed phrase", "", said(_words(12, " "), "Seed phrase of the wallet: {}", "The mnemonic is\n{}")),
    Kind("Wi-Fi key", "", said(_password, "WLAN key: {}", "WLAN-Schlüssel im Labor: {}", 'psk="{}"', "The WPA2 PSK of the rack is {}.", "WIFI:T:WPA;S:lab;P:{};;")),
    Kind("recovery codes", "", said(one_of(after(some(HEX, 5), "-1", some(HEX, 4)), after(some(UPNUM, 4), "-7", some(UPNUM, 3))), "recovery codes:\n- {} {}\n- {} {}", "Backup codes of the registrar: {}, {}, {}", "Wiederherstellungscodes: {} {}")),
    Kind("session cookie", "", said(some(WORD, 32), "curl -b 'sessionid={}' https://shop.internal/", "Cookie: session={}; theme=dark", "JSESSIONID={}", "the session cookie is `{}`")),
    Kind("pgpass line", "", said(_password, "db1.internal:5432:orders:app:{}", "*:*:*:postgres:{}", "# .pgpass\nlocalhost:5433:metrics:grafana:{}")),
    Kind("TOTP secret", "TOTP_SECRET", some(BASE32, 32), known=False),
    Kind("TOTP seed in prose", "", said(some(BASE32, 32), "2FA secret of the registrar: {}", "oathtool --totp -b {}", "otpauth://totp/ACME:ops?secret={}&issuer=ACME")),
    Kind("Vault token of the first form", "", said(some(WORD, 24), "s.{} is the vault token", "vault login s.{}", "Initial Root Token: s.{}")),
    Kind("unseal key", "", said(_b64(32), "Unseal Key 1: {}", "Unseal Key 5: {}")),
    Kind("password hash", "", after("ops:$", "6$", some(WORD, 16), "$", some(WORD + "./", 86))),
    Kind("BitLocker key", "", said(after(*[some(NUM, 6), "-"] * 7, some(NUM, 6)), "BitLocker recovery key: {}", "BitLocker: {}")),
    Kind("age key", "AGE_KEY", after("AGE-SEC", "RET-KEY-1", some("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58))),
)  # fmt: skip


def wrapped(rng: random.Random, kind: Kind, value: str) -> tuple[str, str]:
    """Return surroundings of a name, and the Markdown in which the value stands there."""
    if kind.many_lines:
        return rng.choice(
            [
                ("code block", f"```\n{value}\n```"),
                ("quote", "\n".join(f"> {line}" for line in value.split("\n"))),
                (
                    "list",
                    "- the key:\n\n" + "\n".join(f"      {line}" for line in value.split("\n")),
                ),
                ("prose", f"The {kind.label}:\n\n{value}\n\nKeep it."),
            ]
        )
    if not kind.variable:
        return rng.choice(
            [
                ("code block", f"```\n{value}\n```"),
                ("inline code", f"It is `{value}` there."),
                ("line", value),
            ]
        )
    said, name = kind.label, kind.variable
    ways = [
        ("prose", f"The {said} is {value}."),
        ("prose", f"For staging the {said} is `{value}`, ask before you rotate it."),
        ("prose, bold", f"**{said}:** {value}"),
        ("shell", f"```bash\nexport {name}={value}\n```"),
        ("shell", f"```sh\n$ {name}='{value}' make deploy\n```"),
        ("python", f'```python\n{name.lower()} = "{value}"\n```'),
        ("json", f'```json\n{{"{name.lower()}": "{value}", "retries": 3}}\n```'),
        ("yaml", f"```yaml\nenv:\n  {name}: {value}\n```"),
        ("table", f"| what | value |\n|---|---|\n| {said} | {value} |\n| region | eu |"),
        ("table", f"| {name} | `{value}` | prod |"),
        ("list", f"- {said}: {value}\n- region: eu"),
        ("list", f"* `{name}={value}`"),
        ("inline code", f"Set `{name}` to `{value}` first."),
        ("quote", f"> {said}: `{value}`"),
    ]
    if kind.known and "://" not in value:
        ways += [
            ("bare", f"Use {value} from now on."),
            ("bare", f"({value})"),
            ("emphasis", f"it was *{value}*, then **{value}**"),
            ("link", f"see <https://api.internal/v1?x=1&t={value}>"),
        ]
    return rng.choice(ways)


def plant(rng: random.Random, pages: list[str], count: int = PLANTED) -> Iterator[Planted]:
    """Plant secrets of every kind in turn, each into a page of its own; some in front matter."""
    for number in range(count):
        kind = KINDS[number % len(KINDS)]
        value = kind.draw(rng)
        page = rng.choice(pages)
        if kind.variable and rng.random() < 0.1 and not page.startswith("---"):
            text = f"---\ntags: [ops]\n{kind.variable.lower()}: {value}\n---\n{page}"
            yield Planted(kind.label, "front matter", value, text)
            continue
        where, block = wrapped(rng, kind, value)
        lines = page.split("\n")
        at = rng.choice([i for i, line in enumerate([*lines, ""]) if not line.strip()])
        text = "\n".join([*lines[:at], "", block, "", *lines[at:]])
        yield Planted(kind.label, where, value, text)


def found(planted: Planted) -> bool:
    """Tell whether what was planted is among the secrets of its text."""
    line = max(planted.value.split("\n"), key=len)  # the others have marks before them in a quote
    start = planted.text.index(line)
    end = planted.text.rindex(line) + len(line)
    return any(
        secret.start < end and secret.start + len(secret.value) > start
        for secret in secrets.find(planted.text)
    )


def markdown(archive: Path) -> dict[str, str]:
    """Return the Markdown files of an archive."""
    with tarfile.open(archive) as tar:
        return {
            member.name: file.read().decode(errors="replace")
            for member in tar
            if member.name.endswith(".md") and (file := tar.extractfile(member))
        }


def own() -> dict[str, str]:
    """Return this repository's own pages and notes."""
    files = [
        ROOT / "README.md",
        *(ROOT / "docs").rglob("*.md"),
        *(ROOT / ".memories").rglob("*.md"),
    ]
    return {str(file.relative_to(ROOT)): file.read_text(encoding="utf-8") for file in files}


def alarms(pages: dict[str, str]) -> list[str]:
    """Return where secrets are found in pages that have none: path, line and kind."""
    return [
        f"{path}:{text.count(chr(10), 0, secret.start) + 1} {secret.kind}"
        for path, text in pages.items()
        for secret in secrets.find(text)
    ]


def main(seeds: list[int]) -> None:
    """Print what is found of 150 planted secrets for each seed, and the false alarms."""
    mine = own()
    pages = list(mine.values())
    for seed in seeds:
        planted = list(plant(random.Random(seed), pages))
        missed = [one for one in planted if not found(one)]
        kinds = len({one.kind for one in planted})
        print(f"seed {seed}: {len(planted) - len(missed)} of {len(planted)} of {kinds} kinds found")
        for one in missed:
            print(f"  missed: {one.kind}, {one.where}")
    sets = [("own docs and notes", lambda: mine)]
    sets += [(path.name, lambda path=path: markdown(path)) for path in (VAULT, PROJECTS)]
    for name, read in sets:
        try:
            texts = read()
        except FileNotFoundError:
            print(f"{name}: not here")
            continue
        before = time.perf_counter()
        wrong = alarms(texts)
        took = time.perf_counter() - before
        size = sum(map(len, texts.values()))
        print(
            f"{name}: {len(texts)} files, {size:,} characters, {took:.2f} s, {len(wrong)} false alarms"
        )
        for line in wrong:
            print(f"  {line}")


if __name__ == "__main__":
    main([int(word) for word in sys.argv[1:]] or [1, 2, 3, 4, 5])
