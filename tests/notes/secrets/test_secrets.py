"""Secrets in text are found by form or by what stands beside them; placeholders are none."""

import random
import string
import subprocess
import sys
import time
from base64 import b64encode
from pathlib import Path

import pytest

from memory_bank.notes.secrets import secrets
from tests.benchmarks import planted
from tests.support.growth import times_as_long

_RNG = random.Random(5)
_WORD = string.ascii_letters + string.digits
HEX = "0123456789abcdef"


def some(count: int, alphabet: str = _WORD) -> str:
    """Draw so many characters, always the same ones in a run."""
    return "".join(_RNG.choices(alphabet, k=count))


PEPPERED = "Xk9#mQ" + "2vL!"
SAID = [
    f"The staging password is {PEPPERED}",
    f"Password - {PEPPERED}",
    f"**Password:** `{PEPPERED}`",
    f"the password\nis `{PEPPERED}`",
    f"wifi password {PEPPERED}",
    f"set password to {PEPPERED}",
    f"credentials: admin / {PEPPERED}",
    f"| Service | User | Password |\n|---|---|---|\n| db | app | {PEPPERED} |",
    f"<password>{PEPPERED}</password>",
    f"Server=db;User Id=sa;Password={PEPPERED};",
    f"password: |\n  {some(16)}",
    f"The token is:\n\n{some(32)}\n",
    f"use {some(32)} as the API key",
    f"`{some(24)}` is the deploy token",
    f"apikey {some(32)}",
    f'<add key="ApiKey" value="{some(32)}"/>',
    f"name: DB_PASSWORD\n  value: {some(16)}",
    f"mysql -u root -p{some(12)}7k",
    f"curl -u admin:{some(12)} https://api.internal",
    f"tool --token {some(24)}",
    f"machine git.internal\n  login bob\n  password {some(14)}",
    f"redis://:{some(16)}@cache:6379",
    f"https://{some(40)}@github.com/team/app",
    f"Authorization: token {some(40, '0123456789abcdef')}",
    "gh" + f"p\\_{some(36)}",
    f"Das Passwort ist {PEPPERED}",
    f"Log in as root with {PEPPERED}.",
    f"Anmelden als admin mit {PEPPERED}, dann neu starten.",
    f"root / {PEPPERED} (admin password)",
    f"anna: the grafana password?\nbob: it's {PEPPERED}",
    f"WLAN-Schlüssel im Labor: {PEPPERED}",
    f"The guest Wi-Fi key is {'copper' + 'lantern'}.",
    f"The password is {'copper' + 'lantern'}, ask before you change it.",
    f"Decrypt it with the passphrase {'-'.join(planted.COMMON[:4])}.",
    f"passphrase: {' '.join(planted.COMMON[:4])}",
    f"seed phrase: {' '.join(planted.COMMON[:12])}",
    f"The PIN of the vault is {some(8, '13579')}.",
    f"2FA recovery codes:\n- {some(5, 'bcdf')}-{some(5, '13579')}",
    f"BitLocker: {'-'.join(some(6, '0123456789') for _ in range(8))}",
    f"curl -b 'sessionid={some(32)}' https://shop.internal",
    f"Set-Cookie: connect.sid=s%3A{some(32)}; HttpOnly",
    f"db1.internal:5432:orders:app:{some(14)}",
    f"| registrar | TOTP | {some(16, planted.BASE32)} |",
    f"The authenticator's secret is {' '.join(some(3, 'knpz') + '5' for _ in range(4))}.",
    f"s.{some(24)} is the vault token",
    f"Unseal Key 1: {b64encode(some(32).encode()).decode()}",
    f"ops:$6${some(16)}${some(86)}",
    f"requirepass {PEPPERED}",
    f"CREATE USER app IDENTIFIED BY '{PEPPERED}'",
    *(
        f"{label}{PEPPERED}"
        for label in (
            "数据库密码：",
            "管理员密码为",
            "密碼: ",
            "口令：",
            "パスワード（本番）：",
            "本番のパスワードは「",
            "管理者のパスワード「",
            "الرمز السري：",
            "ＰＡＳＳＷＯＲＤ：",
            "비밀번호는 ",
            "암호: ",
            "Пароль от базы — ",
            "пароль = ",
            "Hasło do bazy to ",
            "haslo: ",
            "Het wachtwoord van de db is ",
            "Wachtwoord: ",
            "Veritabanı şifresi: ",
            "Parola ",
            "A senha do banco é ",
            "palavra-passe: ",
            "كلمة المرور: ",
            "كلمة السر هي ",
            "Password：",
            "| 服务 | 密码 |\n|---|---|\n| db | ",
            "ConvertTo-SecureString -AsPlainText -String '",
            "convertto-securestring ",
        )
    ),
    f"'{PEPPERED}' | ConvertTo-SecureString -AsPlainText",
    *(
        f"{label}{some(36)}"
        for label in (
            "API 密钥：",
            "访问令牌是 ",
            "アクセストークン: ",
            "APIキー：",
            "액세스 토큰: ",
            "Токен доступа: ",
            "Ключ API: ",
            "klucz API: ",
            "API-sleutel: ",
            "API anahtarı: ",
            "chave de API: ",
            "مفتاح API: ",
            "token：",
            "SESSION=",
            "SESSION_ID=",
            "ASP.NET_SessionId=",
            "laravel_session=",
            "Cookie: PHPSESSID=",
            "MC4CAQAwBQYDK2VwBCIEI" + "8fQ2",
            "client-key-data: 8a" + "K2",
            "SSH_KEY_B64=8a" + "K2",
            "tls_key_pem_base64: 8a" + "K2",
            "id_ed25519: 8a" + "K2",
            "keystore.p12: 8a" + "K2",
            "MHcCAQEEI" + "B3kz",
        )
    ),
    f"client-key-data: {b64encode(b'-----BEGIN PRIVATE KEY-----' + some(24).encode()).decode()}",
    f"MIIEvQIBADANBgkqhkiG9w0BAQEF{'AASC'}{some(60)}",
    f"MIIEpAIBAAKCAQEA{some(60)}",
    f"b3BlbnNzaC1rZXktdjEAAAAA{some(80)}",
    f"Authorization: SSWS 00{some(40)}",
    f"https://outlook.office.com/webhook/{some(36, HEX)}@{some(36, HEX)}/IncomingWebhook/{some(32, HEX)}/x",
    f"SECRET_KEY = env('KEY', default='{some(50)}')",
    f"SECRET_KEY = env('SECRET_KEY', default='{some(40)}(=+')",
    f"django-insecure-{some(24, 'abc123')}#(=+{some(22, 'xyz789')}",
    f"The wallet seed words are {' '.join(planted.COMMON[:12])}",
    f"助记词：{' '.join(planted.COMMON[:12])}",
    "seed:\n"
    + "\n".join(f"{number}. {word}" for number, word in enumerate(planted.COMMON[:12], 1)),
    f"max: what is the pw?\nina: {'copper' + 'lantern'}",
    f"snmpwalk -v2c -c {PEPPERED} 10.0.0.1",
    f"token = {some(40, HEX)}",
    f"The access token is {some(40, HEX)}",
    f"Reverted it. The token: {some(40, HEX)}",
    f"[log](https://ci.internal/run?token={some(40, HEX)})",
    f"[[notes/ci?token={some(40, HEX)}]]",
    f"https://app.internal/#access_token={some(32)}",
    f"[the key](https://git.internal/a/b/gh{'p_'}{some(36)})",
    f"[[decisions/ci#gh{'p_'}{some(36)}]]",
    f"src/app.py:12 password={PEPPERED}",
    f"The session cookie is {some(40, HEX)}1a",
    f"Cookie: theme=dark; sid={some(32, HEX)}",
    f"cookies = {{'session': '{some(32)}'}}",
    f"The recovery codes are {some(4, 'bcdf')}-{some(5, '13579')} and no other.",
    *(
        f"client-key-data: {b64encode(f'-----BEGIN {kind}PRIVATE KEY-----{some(300)}'.encode()).decode()}"
        for kind in ("", "EC ", "RSA ", "OPENSSH ", "ENCRYPTED ")
    ),
]
"""What stands beside a value and says what it is."""

NOT_SECRET = [
    "Commits of the first pass were rewritten to `ca277b1`/`294068b`.",
    "password: required", "api_key: YOUR_API_KEY", "api_key = xxxx", "token: <token>", "TOKEN=${TOKEN}",
    "AKIAIOSFODNN7" + "EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCY" + "EXAMPLEKEY is the aws secret key",
    "password: ********", "password=$DB_PASSWORD", "password: {{ vault_pw }}", "`GITHUB_TOKEN`: set it in CI",
    "export API_KEY=your-api-key-here", "token = os.environ['TOKEN']", "The password is stored in 1Password.",
    "The password is hashed with bcrypt.", "secret: projects/123/secrets/db-password/versions/latest",
    "postgres://user:password@localhost/db", "postgres://postgres:postgres@db", "redis://:password@host",
    "password: string", "password?: string", "token: str | None = None", "Password must have 8 characters",
    "Authorization: Bearer <token>", "Authorization: Bearer $TOKEN", "ghp_" + "x" * 36, "sk-...",
    "https://hooks.slack.com/services/" + "T00000000/B00000000/" + "X" * 24, "max_tokens: 4096",
    "commit 3f2504e04f8911d39a0c0305e82c3301aabbccdd", "tokens: 19,979 instead of 5,234", "primary key: id",
    "key = sha256(content)", "-----BEGIN RSA " + "PRIVATE KEY-----\n...\n-----END RSA PRIVATE KEY-----",
    "sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg==",
    "secrets.GITHUB_TOKEN", "${{ secrets.NPM_TOKEN }}", "token: null", "API key: see vault",
    "password: see 1Password item db-prod-01", "auth: OAuth2/OIDC", "password = getpass.getpass()",
    "token = jwt.encode(payload, key, algorithm='HS256')", "const apiKey = process.env.API_KEY_PROD_2024;",
    "SECRET_KEY=change-me-in-production", "token type: JWT (RS256)", "passes: 12/12", "token count: 4fa3",
    "Secret ARN: arn:aws:secretsmanager:eu-west-1:123456789012:secret:prod/db-AbCdEf", "monkey=Banana42x",
    "AZURE_TENANT_ID=72f988bf-86f1-41af-91ab-2d7cd011db47", "tokenizer: cl100k_base", "id: 4f1c9be07a52",
    "idempotency key: 7c9e6679-7425-40de-944b-e07fc1f90ae7", "https://user:pass@example.com",
    "token: eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwi"
    "aWF0IjoxNTE2MjM5MDIyfQ.SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_" + "adQssw5c",
    "Authorization: Basic gICAgICAgICA", "echo kx9!vlqwm2z | sh",
    "access key id: see the wiki", "password: Optional[str] = None", 'password: ""', "Bearer token authentication",
    "Log in as root with sudo -i.", "Sign in with GitHub!", "Log in with OAuth2Proxy or Auth0", "Anmelden mit Microsoft365",
    "aliases:\n  - Recovery codes\nid: 44db902cd9e3\nimported_hash: c2bb91d774628153\n---\nx",
    "Documented edge case for users with pre-#3042 string IDs.",
    "The recovery codes are in the vault", "recovery code: XXXX-XXXX-XXXX", "recovery codes of 2024-2025, 2026-01-31",
    "TOTP after RFC6238 with SHA1, 6 digits", "otpauth://totp/ACME?secret=JBSWY3DPEHPK3PXP", "WIFI:T:WPA;S:lab;P:password;;",
    "session cookie: HttpOnly, SameSite=Lax", "Cookie: sessionid=<id>", "localhost:5432:db:user:password",
    "src/main.c:120:5:error:undeclared", "The password is authenticated by LDAP.", "Das Passwort ist hinterlegt.",
    "POSTGRES_PASSWORD=postgres", "user admin, password required", "seed phrase: twelve words of a list", "admin / viewer",
    "WPA2-PSK with AES256", "user_id: usr_2Ab9XkQ3Lm", "The user opens `dQw4w9WgXcQ`", "login: alice@Example1.org",
    "account 0x52908400098527886E0F7030069857D2E4169EE7", "Pass the cert to cryptography", "pin to `urllib3`",
    "密码：至少8位字符", "密码是用bcrypt哈希后存储的", "口令：见1Password", "密码: ${DB_PASSWORD}", "パスワードは8文字以上で、argon2idで保存する",
    "アクセストークン：有効期限15分", "비밀번호: 최소 10자", "토큰은 15분 후 만료", "Пароль — минимум 12 символов", "Пароль от базы — в 1Password",
    "Hasło to bcrypt z kosztem 12", "klucz obcy: orders.customer_id", "Wachtwoord: minimaal 12 tekens", "sleutel: customer_id2",
    "Şifreleme: AES-256-GCM", "anahtar: cache:v2:users:42", "minha senha de criptografia?", "A senha é obrigatória?",
    "chave: cache:v2:users:42", "كلمة المرور: 12 حرفا", "session_id: 7f3c1e52-9a4b-4f6e-8d21-0c5b7a9e3f10",
    "SESSION_ID=7f3c1e52-9a4b-4f6e-8d21-0c5b7a9e3f10", "SESSION_COOKIE_NAME=memory_bank_session_v2",
    "パスワード「再設定」ボタン", f"public_key_b64={some(60)}", f"id_rsa.pub: {some(60)}", "kubeconfig: /home/ada/.kube/clusters/production/kubeconfig",
    "session=SessionLocal()", "client-key-data: REDACTED", "Use ConvertTo-SecureString before passing credentials on.",
    "ConvertTo-SecureString $env:PW -AsPlainText -Force", "SECRET_KEY = env('K', default='change-me-in-production-please')",
    "certificate-authority-data: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUM1ekNDQWMrZ0F3SUJBZ0lCQURB",
    "public key MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAu1SU1LfVLPHCozMxH2Mo4lgOEePzNm0tRgeLezV6",
    "seed: run make seed before the tests so that every shop has some orders and users to show",
    "The seed words are stored in a sealed envelope that only the two owners can open together",
    'secrets.allow = ["4f1c9be07a52d3e8"]', "`secrets.allow`: `4f1c9be07a52d3e8`",
    '[secrets]\nallow = [\n  "4f1c9be07a52d3e8",\n]', "config secrets.allow '[\"4f1c9be07a52d3e8\"]'",
    "[Json Web Tokens (JWT)](https://datatracker.ietf.org/doc/html/rfc7519)", "password policy: NIST800-63B",
]  # fmt: skip
COMMIT = "3f2504e04f8911d39a0c0305e82c3301a1b2c7d9"
CITED = [
    f"The session cookie is set in {COMMIT}.", f"Cookies are signed since `{COMMIT}`", f"cookie: {COMMIT}",
    "cookie: sym-4f1c9be07a52", "The cookie is read by [[sym-4f1c9be07a52]]", "password: `test-4f1c9be07a52`",
    f"Cookies: {COMMIT[:12]}..{COMMIT[12:24]}", f"fix(auth): {COMMIT}", "fix(auth): `TestParam2HTML5Format` was slow",
    f"secret: see commit {COMMIT}", f"This reverts commit {COMMIT}, the token was right.", f"token: HEAD is {COMMIT}",
    f"[the cookie](https://git.example.org/a/b/blob/{COMMIT}/src/app.py?plain=1#L12)",
    f"token: https://git.example.org/a/b/commit/{COMMIT}", f"Auth: <https://git.example.org/a/b/commit/{COMMIT}>",
    f"token: actions/create-github-app-token@{COMMIT}", "Passwords: [[decisions/x-4fa9]]", "token: [[4f1c9be07a52]]",
    "api key: docs/how-to/get_an_api_key2.md", "token: `src/tok3n_x9.rs:120`", "password: `CHANGES.rst:12`",
    f"2FA: compared in {COMMIT}", f"Recovery codes are made in {COMMIT[:12]} and [[src/codes-v2.py]]",
    "refactor: delete the dead-post-seam-42de", f"session cookie digest sha256={COMMIT}{COMMIT[:24]}",
    "For the passphrase protected borg keys are\nstored in base64.",
]  # fmt: skip
"""Commits, symbols, files and links in sentences about access, as notes cite them."""

HOSTILE = [
    "password=", "password=a1b2 ", "password a b c d e f ", "password:\n", "://", "://a:b", "eyJ-",
    "eyJaaaaaaa.eyJ", "a.", "xoxb-", "-----BEGIN RSA " + "PRIVATE KEY-----\n", "login a password ", "curl -u ",
    "curl a b ", "basic QUJD", "`a as a ", "|-----\n", "| password |\n|---|\n", "123456789:", "password'\"`*",
    "password" + " " * 50, "A/" * 43, "=", "token is ", "AKIA" + "ABCDEFGHIJKLMNO7 ", "password (((((", "secret ",
    "root ", "root with ", "log in as a with ", "pw?\n", "root / A1b", "recovery code ", "recovery code 1234-", "otp ", "otp ABCD ",
    "cookie ", "cookie=a1B", ":5432:a:b:", "WIFI:", "WIFI:P:", "seed: word ", "passphrase: word ", "echo ", "|-", "| -\n",
    "пароль a ", "密码 (", "sess", "session=", "convertto-securestring -a ", "seed: word, ", "wallet a ", "seed:\n1. word\n",
    "token: [[", "token: ](", "cookie a=", "token: commit ", "token: a/", "password: x/",
]  # fmt: skip


@pytest.mark.parametrize("text", SAID)
def test_a_value_is_a_secret_where_the_text_says_so(text: str) -> None:
    assert secrets.find(text)


@pytest.mark.parametrize("text", [*NOT_SECRET, *CITED])
def test_placeholders_examples_and_talk_of_secrets_are_none(text: str) -> None:
    assert secrets.find(text) == []


@pytest.mark.parametrize("seed", [1, 20, 300])
def test_of_150_planted_secrets_95_in_100_are_found(seed: int) -> None:
    pages = list(planted.own().values())
    all_of_them = list(planted.plant(random.Random(seed), pages))
    missed = [(one.kind, one.where) for one in all_of_them if not planted.found(one)]
    assert len(all_of_them) == 150
    assert len({one.kind for one in all_of_them}) >= 30
    assert len(missed) <= 0.05 * len(all_of_them), missed


def test_this_repository_has_no_false_alarm() -> None:
    assert planted.alarms(planted.own()) == []


@pytest.mark.slow
@pytest.mark.parametrize("archive", [planted.VAULT, planted.PROJECTS], ids=lambda path: path.name)
def test_real_notes_have_at_most_one_false_alarm_in_a_thousand(archive: Path) -> None:
    if not archive.exists():
        pytest.skip(f"{archive} is not here: false alarms on real notes are NOT tested")
    pages = planted.markdown(archive)
    alarms = planted.alarms(pages)
    assert len(alarms) <= len(pages) / 1000, alarms


def test_a_found_secret_shows_no_value_in_its_repr() -> None:
    value = "gh" + f"p_{some(36)}"
    (found,) = secrets.find(f"Use {value} there")
    assert (found.kind, found.start, found.value) == ("GitHub token", 4, value)
    assert value not in repr(found)
    assert value not in str(found)


def test_a_fingerprint_is_16_digits_and_blind_to_white_space() -> None:
    assert len(secrets.fingerprint("one two")) == 16
    assert secrets.fingerprint("one\n  two") == secrets.fingerprint("onetwo")
    assert secrets.fingerprint("one") != secrets.fingerprint("two")


@pytest.mark.slow
@pytest.mark.parametrize("piece", HOSTILE)
def test_time_grows_with_the_length_of_a_hostile_text(piece: str) -> None:
    def took(size: int) -> float:
        text = (piece * (size // len(piece) + 1))[:size]
        before = time.process_time()
        secrets.find(text)
        return time.process_time() - before

    assert times_as_long(took, 25_000, 100_000, enough=0.05, most=8) < 8


@pytest.mark.slow
@pytest.mark.parametrize("piece", ["password=", "://", "eyJaaaaaaa.eyJ"])
def test_two_megabytes_of_marks_are_looked_through_in_seconds(piece: str) -> None:
    before = time.process_time()
    secrets.find(piece * (2_000_000 // len(piece)))
    assert time.process_time() - before < 4


def test_nothing_of_it_is_loaded_before_a_write() -> None:
    code = (
        "import sys, memory_bank.bank, memory_bank.memory.retrieval.recall, memory_bank.notes.storage.store;"
        "print([name for name in sys.modules if 'notes.secret' in name])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
