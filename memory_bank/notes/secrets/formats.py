"""Detect secrets by the formats that their issuers document: a fixed mark, then random characters.

Written from the vendors' documentation. Lengths are lower bounds: an issuer may lengthen what it
hands out, and a token that was cut is no use to leave in a note either.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import cache
from itertools import islice
from typing import NamedTuple

from memory_bank.base.plugins import pattern


class Format(NamedTuple):
    """One kind of secret: a text that is always in it, and its pattern.

    The pattern's group 1, where there is one, is the part that was drawn at random.
    """

    kind: str
    mark: str
    pattern: str
    near: str = ""
    """A word required within 80 characters, in lower case, if the format alone proves nothing."""


# No pattern has a repetition without an upper bound before another part: a search that fails
# looks at a bounded number of characters from each place where the mark stands.
FORMATS = tuple(
    Format(*row)
    for row in (
        ("AWS access key", "A", r"A(?:KIA|SIA|BIA|CCA|3T[A-Z0-9])([A-Z0-9]{16})(?![A-Za-z0-9])"),
        ("AWS access key", "akia", r"akia([a-z2-7]{16})(?![A-Za-z0-9])"),
        ("AWS session token", "IQoJb3JpZ2lu", r"IQoJb3JpZ2lu([A-Za-z0-9+/=]{80,})"),
        ("AWS session token", "FwoGZXIvYXdz", r"FwoGZXIvYXdz([A-Za-z0-9+/=]{80,})"),
        ("AWS MWS token", "amzn.mws.", r"amzn\.mws\.([0-9a-f]{8}-[0-9a-f-]{27})"),
        ("Amazon Bedrock key", "ABSK", r"ABSK([A-Za-z0-9+/]{80,}={0,2})"),
        ("Amazon Bedrock key", "bedrock-api-key-", r"bedrock-api-key-([A-Za-z0-9+/]{24,}={0,2})"),
        ("GitHub token", "gh", r"gh[pousr]_([A-Za-z0-9]{30,})"),
        ("GitHub token", "github_pat_", r"github_pat_([A-Za-z0-9_]{40,})"),
        ("GitLab token", "gl", r"gl(?:pat|dt|rt|rtr|cbt|ptt|ft|soat|imt|agent|oas|ffct|wt)-([\w.-]{20,})"),
        ("GitLab token", "GR1348941", r"GR1348941([\w-]{20,})"),
        ("Slack token", "xox", r"xox[abceoprsd](?:\.xox[a-z])?-((?:[0-9A-Za-z]{1,40}-){0,4}[0-9A-Za-z]{10,})"),
        ("Slack token", "xapp-", r"xapp-(\d-[A-Z0-9]{5,20}-\d{5,20}-[0-9A-Za-z]{20,})"),
        (
            "Slack webhook",
            "hooks.slack",
            r"hooks\.slack(?:-gov)?\.com/(?:services|workflows|triggers)/(T?[A-Za-z0-9]{6,20}/[A-Za-z0-9]{6,24}/[A-Za-z0-9/]{16,})",
        ),
        ("Google API key", "AIza", r"AIza([\w-]{35})(?![A-Za-z0-9])"),
        ("Google OAuth secret", "GOCSPX-", r"GOCSPX-([\w-]{24,})"),
        ("Google OAuth token", "ya29.", r"ya29\.([\w.-]{30,})"),
        ("Google OAuth token", "1//0", r"1//0([\w-]{30,})"),
        ("Azure client secret", "Q~", r"[A-Za-z0-9_~.]{3}[0-9]Q~([\w~.-]{31,40})"),
        ("Azure storage key", "==", r"([A-Za-z0-9+/]{86}==)", r"storage|azure|key(?!-)"),
        ("Azure storage key", "AccountKey=", r"AccountKey=([A-Za-z0-9+/]{40,}={0,2})"),
        ("Azure access key", "SharedAccessKey=", r"SharedAccessKey=([A-Za-z0-9+/]{30,}={0,2})"),
        ("Azure SAS signature", "sig=", r"sig=([A-Za-z0-9%+/_-]{40,}={0,2})"),
        ("Azure key", "AzCa", r"[A-Za-z0-9+/]{20,60}(\+?AzCa[A-Za-z0-9]{6,})"),
        ("Azure key", "JQQJ9", r"([A-Za-z0-9]{52}JQQJ9[9D][A-Za-z0-9]{20,})"),
        ("Azure DevOps token", "AZDO", r"([A-Za-z0-9]{70,80}AZDO[A-Za-z0-9]{4})"),
        ("Stripe key", "sk_", r"sk_(?:live|test|prod)_([A-Za-z0-9]{10,})"),
        ("Stripe key", "rk_", r"rk_(?:live|test|prod)_([A-Za-z0-9]{10,})"),
        ("Stripe webhook secret", "whsec_", r"whsec_([A-Za-z0-9+/]{24,}={0,2})"),
        ("Anthropic key", "sk-ant-", r"sk-ant-(?:[a-z]{3,8}\d{2}-)?([\w-]{20,})"),
        ("OpenAI key", "sk-", r"sk-(?:proj|svcacct|admin|None|service)-([\w-]{20,})"),
        ("OpenRouter key", "sk-or-", r"sk-or-v\d-([0-9a-f]{40,})"),
        ("Langfuse key", "sk-lf-", r"sk-lf-([0-9a-f-]{30,})"),
        ("API key (sk-)", "sk-", r"sk-([A-Za-z0-9]{20,})"),
        ("Hugging Face token", "hf_", r"hf_([A-Za-z0-9]{30,})"),
        ("Hugging Face token", "api_org_", r"api_org_([A-Za-z0-9]{30,})"),
        ("npm token", "npm_", r"npm_([A-Za-z0-9]{30,})"),
        ("PyPI token", "pypi-", r"pypi-([\w-]{40,})"),
        ("RubyGems key", "rubygems_", r"rubygems_([0-9a-f]{40,})"),
        ("crates.io token", "cio", r"cio([A-Za-z0-9]{32})(?![A-Za-z0-9])"),
        ("NuGet key", "oy2", r"oy2([a-z0-9]{43})(?![A-Za-z0-9])"),
        ("Clojars token", "CLOJARS_", r"CLOJARS_([0-9a-z]{50,})"),
        ("Docker Hub token", "dckr_", r"dckr_(?:pat|oat)_([\w-]{20,})"),
        ("Twilio key", "SK", r"SK([0-9a-f]{32})(?![A-Za-z0-9])"),
        ("Twilio account", "AC", r"AC([0-9a-f]{32})(?![A-Za-z0-9])"),
        ("SendGrid key", "SG.", r"SG\.([\w-]{16,40}\.[\w-]{32,})"),
        ("Mailgun key", "key-", r"key-([0-9a-z]{32})(?![A-Za-z0-9])"),
        ("Mailgun key", "-", r"([0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8})(?![\w-])"),
        ("Mailchimp key", "-us", r"([0-9a-f]{32})-us\d{1,2}(?!\w)"),
        ("Brevo key", "x", r"x(?:keysib|smtpsib)-([0-9a-f]{40,}-[A-Za-z0-9]{10,})"),
        ("Resend key", "re_", r"re_([A-Za-z0-9]{8}_[A-Za-z0-9]{20,})"),
        ("DigitalOcean token", "_v1_", r"do[opr]_v1_([0-9a-f]{40,})"),
        ("Heroku key", "HRKU-", r"HRKU-([\w-]{30,})"),
        ("Telegram bot token", ":", r"[0-9]{7,11}:(AA[\w-]{31,36}(?![A-Za-z0-9])|[\w-]{35}(?![\w-]))"),
        ("Discord bot token", ".", r"([MNO][\w-]{22,28}\.[\w-]{5,8}\.[\w-]{27,})"),
        ("Discord token", "mfa.", r"mfa\.([\w-]{80,})"),
        (
            "Discord webhook",
            "/api/webhooks/",
            r"discord(?:app)?\.com/api/webhooks/([0-9]{16,21}/[\w-]{40,})",
        ),
        (
            "Microsoft Teams webhook",
            "webhook.office.com",
            r"webhook\.office\.com/webhookb2/([\w-]{36}@[\w-]{36}/\w{1,40}/[0-9a-f]{32})",
        ),
        (
            "private key in base64",
            "LS0tLS1CRUdJTi",
            r"LS0tLS1CRUdJTi[A-Za-z0-9+/]{1,30}?(?:BSSVZBVEUgS0VZ|QUklWQVRFIEtFWS|UFJJVkFURSBLRVkt?)([A-Za-z0-9+/]{60,})",
        ),
        ("age secret key", "AGE-SECRET-KEY-", r"AGE-SECRET-KEY-(?:PQ-)?(1[0-9A-Z]{50,})"),
        ("Vault token", "hv", r"hv[sbr]\.([\w-]{20,})"),
        ("Vault token", "s.", r"[sbr]\.([A-Za-z0-9]{24})(?![\w.-])", r"vault|root token|unseal"),
        ("password hash", "$", r"\$(?:apr1|[156y]|2[aby])\$((?:[\w=./]{1,40}\$){0,2}[A-Za-z0-9./]{22,90})(?![\w$])"),
        ("Terraform token", ".atlasv1.", r"([A-Za-z0-9]{14}\.atlasv1\.[\w-]{40,})"),
        ("Databricks token", "dapi", r"dapi([0-9a-f]{32})(?:-\d)?"),
        ("Databricks secret", "dose", r"dose([0-9a-f]{32})(?![A-Za-z0-9])"),
        ("Shopify token", "shp", r"shp(?:at|ca|pa|ss|ua|tka)_([0-9a-zA-Z]{30,})"),
        ("Square token", "sq0", r"sq0[a-z]{3}-([\w-]{20,})"),
        ("Square token", "EAAA", r"EAAA([\w-]{56,64})(?![\w-])"),
        ("Facebook token", "EAA", r"EAA([A-Za-z0-9]{80,})"),
        ("Linear key", "lin_", r"lin_(?:api|oauth|wh)_([A-Za-z0-9]{30,})"),
        ("Notion token", "ntn_", r"ntn_([A-Za-z0-9]{40,})"),
        ("Notion token", "secret_", r"secret_([A-Za-z0-9]{43})(?![A-Za-z0-9])"),
        ("Atlassian token", "AT", r"AT(?:ATT|CTT|OATT)3?([\w=-]{40,})"),
        ("Bitbucket token", "ATBB", r"ATBB([A-Za-z0-9_=-]{24,})"),
        ("Trello token", "ATTA", r"ATTA([0-9a-f]{60,})"),
        ("Cloudflare token", "cf", r"cf(?:k|ut|at)_([A-Za-z0-9_-]{40,})"),
        ("Cloudflare origin key", "v1.0-", r"v1\.0-([0-9a-f]{24}-[0-9a-f]{100,})"),
        ("Supabase token", "sbp_", r"sbp_((?:v0_)?[0-9a-f]{40,})"),
        ("Supabase key", "sb_secret_", r"sb_secret_([\w-]{20,})"),
        ("Sentry token", "sntrys_", r"sntrys_([\w+/=-]{40,})"),
        ("Sentry token", "sntryu_", r"sntryu_([0-9a-f]{40,})"),
        ("New Relic key", "NR", r"NR(?:AK|II|IQ|RA|SP|BR|AA)-([A-Za-z0-9_-]{24,})"),
        ("New Relic key", "NRJS-", r"NRJS-([0-9a-f]{19})"),
        ("New Relic key", "NRAL", r"([0-9a-z]{30,36})NRAL(?![A-Za-z0-9])"),
        ("Grafana token", "glsa_", r"glsa_([A-Za-z0-9]{32}_[A-Fa-f0-9]{8})"),
        ("Grafana token", "glc_", r"glc_([A-Za-z0-9+/]{32,}={0,2})"),
        ("Grafana key", "eyJrIjoi", r"eyJrIjoi([A-Za-z0-9]{60,}={0,2})"),
        ("PlanetScale token", "pscale_", r"pscale_(?:tkn|pw|oauth)_([\w=.-]{30,})"),
        ("Doppler token", "dp.", r"dp\.(?:pt|st|ct|sa|scim|audit)\.([\w.-]{40,})"),
        ("Postman key", "PMAK-", r"PMAK-([0-9a-f]{24}-[0-9a-f]{34})"),
        ("Pulumi token", "pul-", r"pul-([0-9a-f]{40})"),
        ("Fly.io token", "fo1_", r"fo1_([\w-]{40,})"),
        ("Fly.io token", "fm", r"fm[12][ar]?_([A-Za-z0-9+/]{60,}={0,3})"),
        ("Netlify token", "nfp_", r"nfp_([A-Za-z0-9]{36,})"),
        ("Vercel token", "vc", r"vc[pikrc]_([A-Za-z0-9]{24,})"),
        ("Replicate token", "r8_", r"r8_([A-Za-z0-9]{30,})"),
        ("Groq key", "gsk_", r"gsk_([A-Za-z0-9]{40,})"),
        ("Perplexity key", "pplx-", r"pplx-([A-Za-z0-9]{40,})"),
        ("xAI key", "xai-", r"xai-([A-Za-z0-9]{60,})"),
        ("NVIDIA key", "nvapi-", r"nvapi-([\w-]{40,})"),
        ("Pinecone key", "pcsk_", r"pcsk_([\w-]{40,})"),
        ("LangSmith key", "lsv2_", r"lsv2_(?:pt|sk)_([0-9a-f]{32}_[0-9a-f]{10})"),
        ("Tavily key", "tvly-", r"tvly-(?:dev-|prod-)?([A-Za-z0-9]{30,})"),
        ("Figma token", "fig", r"fig(?:d|o|or|oh|u)_([\w-]{36,})"),
        ("Airtable token", "pat", r"pat([A-Za-z0-9]{14}\.[0-9a-f]{60,})"),
        ("Asana token", "/", r"[12]/([0-9]{13,17}(?:/[0-9]{13,17})?:[0-9a-f]{32})"),
        ("Dropbox token", "sl.", r"sl\.(?:u\.)?([\w-]{120,})"),
        ("HubSpot token", "pat-", r"pat-(?:na|eu|ap)\d-([0-9a-f]{8}-[0-9a-f-]{27})"),
        ("Contentful token", "CFPAT-", r"CFPAT-([\w-]{40,})"),
        ("CircleCI token", "CCI", r"CCI(?:PAT|PRJ)_([A-Za-z0-9]{20,}_[0-9a-f]{40})"),
        ("Buildkite token", "bkua_", r"bkua_([0-9a-f]{40})"),
        ("Artifactory key", "AKCp", r"AKCp([A-Za-z0-9]{60,})"),
        ("Artifactory token", "cmVmd", r"cmVmd([A-Za-z0-9]{59})(?![A-Za-z0-9])"),
        ("SonarQube token", "sq", r"sq[upa]_([0-9a-f]{40})"),
        ("Tailscale key", "tskey-", r"tskey-([a-z]{2,12}-[A-Za-z0-9]{8,}-?[A-Za-z0-9]{10,})"),
        ("Plaid token", "access-", r"access-(?:sandbox|development|production)-([0-9a-f]{8}-[0-9a-f-]{27})"),
        ("Razorpay key", "rzp_", r"rzp_(?:live|test)_([A-Za-z0-9]{14,})"),
        ("Braintree token", "access_token$", r"access_token\$(?:production|sandbox)\$([0-9a-z]{16}\$[0-9a-f]{32})"),
        ("Shippo token", "shippo_", r"shippo_(?:live|test)_([0-9a-f]{40})"),
        ("Sourcegraph token", "sgp_", r"sgp_((?:[0-9a-f]{16}_|local_)?[0-9a-f]{40})"),
        ("Adobe secret", "p8e-", r"p8e-([A-Za-z0-9-]{30,})"),
        ("Alibaba access key", "LTAI", r"LTAI([A-Za-z0-9]{12,26})(?![A-Za-z0-9])"),
        ("1Password token", "ops_eyJ", r"ops_eyJ([\w+/=-]{100,})"),
        ("1Password secret key", "A3-", r"A3-([A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3})"),
        ("Mapbox secret token", "sk.eyJ", r"sk\.(eyJ[\w-]{40,200}\.[\w-]{16,})"),
        ("LaunchDarkly key", "-", r"(?:sdk|mob|api)-([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})"),
        ("Typeform token", "tfp_", r"tfp_([\w.-]{40,})"),
        ("Prefect key", "pnu_", r"pnu_([A-Za-z0-9]{36})"),
        ("ReadMe key", "rdme_", r"rdme_([a-z0-9]{60,})"),
        ("Adafruit key", "aio_", r"aio_([A-Za-z0-9]{28})(?![A-Za-z0-9])"),
        ("EasyPost key", "EZ", r"EZ[AT]K([A-Za-z0-9]{54})"),
        ("Flutterwave key", "FLWSECK", r"FLWSECK(?:_TEST)?-([0-9a-z]{12,})"),
        ("Infracost key", "ico-", r"ico-([A-Za-z0-9]{32})(?![A-Za-z0-9])"),
        ("Frame.io token", "fio-u-", r"fio-u-([\w=-]{50,})"),
        ("Duffel token", "duffel_", r"duffel_(?:test|live)_([\w=-]{40,})"),
        ("Dynatrace token", "dt0", r"dt0[a-z]\d{2}\.([A-Z0-9]{24}\.[A-Z0-9]{50,})"),
        ("Datadog key", "dd", r"dd(?:api|app|pat|sat)_([A-Za-z0-9_]{30,})"),
        ("ElevenLabs key", "sk_", r"sk_([0-9a-f]{48})(?![A-Za-z0-9])"),
        ("Scalingo token", "tk-us-", r"tk-us-([\w-]{40,})"),
        ("Rootly key", "rootly_", r"rootly_([0-9a-f]{60,})"),
        ("OpenShift token", "sha256~", r"sha256~([\w-]{43})(?![\w-])"),
    )
)  # fmt: skip

_RUN = pattern(r"[A-Za-z0-9_.:/+~=$%@-]{16,}")
"""What can hold any of the forms: a few parts in a hundred of most texts, looked through alone."""

_NEAR = 80

_MOST = 20_000
"""Maximum matches of one format that are examined in one text."""


class FormatMatch(NamedTuple):
    """A match of a format, and its random part."""

    kind: str
    start: int
    end: int
    body: str


def matches(text: str) -> Iterator[FormatMatch]:
    """Find all matches of the formats, in time linear in the text."""
    starts, ends, runs, size = list[int](), list[int](), list[str](), 0
    for run in _RUN.finditer(text):
        starts.append(run.start())
        ends.append(size)
        runs.append(run[0])
        size += len(run[0]) + 1
    joined = "\n".join(runs)
    for one in FORMATS:
        if one.mark not in joined:
            continue
        for found in islice(_fitting(joined, one), _MOST):
            number = bisect_right(ends, found.start()) - 1
            moved = starts[number] - ends[number]
            start, end = found.start() + moved, found.end() + moved
            around = text[max(0, start - _NEAR) : end + _NEAR].lower() if one.near else ""
            if not one.near or re.search(one.near, around):
                yield FormatMatch(one.kind, start, end, found[1])


def _fitting(text: str, one: Format) -> Iterator[re.Match[str]]:
    """Try a pattern only where its mark stands, if it starts with it: `str.find` is fastest."""
    fits = compiled(one.pattern)
    if not one.pattern.replace("\\", "").startswith(one.mark):
        yield from fits.finditer(text)
        return
    at = text.find(one.mark)
    while at >= 0:
        found = fits.match(text, at)
        if found is not None:
            yield found
        at = text.find(one.mark, found.end() if found else at + len(one.mark))


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """Return the pattern, which matches only at the start of a word."""
    return re.compile(rf"(?<![A-Za-z0-9])(?:{pattern})")
