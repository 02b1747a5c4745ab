# Sends one signed request. Python 3.9 or later, no packages:
#
#   python3 signed_request.py POST /v2/email '{"sender": "…", "recipient": "…", "subject": "…", "content": {"text": "…"}}'
#
#   API_URL         the address of the API, as in https://messaging.example
#   API_KEY         the key, msg_…
#   API_KEY_ID      its id, key_…
#   SIGNING_SECRET  its signing secret, sig_…
import base64
import hashlib
import hmac
import os
import sys
import time
import urllib.error
import urllib.request
import uuid
from urllib.parse import urlsplit

API_KEY_ID = os.environ["API_KEY_ID"]
SIGNING_SECRET = os.environ["SIGNING_SECRET"].encode()


def authority_of(url):
    host = url.netloc.lower()
    is_default = url.port == {"http": 80, "https": 443}[url.scheme]
    return host.rpartition(":")[0] if is_default else host


def signed_headers(method, url, body, idempotency_key):
    """The headers that sign a request, with those that it must carry because they are signed."""
    signed = {}
    if body is not None:
        digest = base64.b64encode(hashlib.sha256(body).digest()).decode()
        signed["content-digest"] = f"sha-256=:{digest}:"
        signed["content-type"] = "application/json"
    if idempotency_key is not None:
        signed["idempotency-key"] = idempotency_key

    parts = urlsplit(url)
    components = {
        "@method": method,
        "@authority": authority_of(parts),
        "@path": parts.path,
        "@query": f"?{parts.query}",
        **signed,
    }
    names = " ".join(f'"{name}"' for name in components)
    # created and keyid are needed. A nonce makes the request good for one time only.
    params = f'({names});created={int(time.time())};keyid="{API_KEY_ID}";nonce="{uuid.uuid4()}"'
    lines = [f'"{name}": {value}' for name, value in components.items()]
    base = "\n".join([*lines, f'"@signature-params": {params}'])
    signature = base64.b64encode(hmac.new(SIGNING_SECRET, base.encode(), hashlib.sha256).digest()).decode()
    return {**signed, "signature-input": f"sig={params}", "signature": f"sig=:{signature}:"}


method, path = sys.argv[1:3]
body = sys.argv[3].encode() if len(sys.argv) > 3 else None
url = os.environ["API_URL"].rstrip("/") + path
# A key in strict mode wants one with every POST and PATCH: see the guide "Retry safely".
idempotency_key = str(uuid.uuid4()) if method in ("POST", "PATCH") else None
headers = {
    "authorization": f"Bearer {os.environ['API_KEY']}",
    **signed_headers(method, url, body, idempotency_key),
}
try:
    response = urllib.request.urlopen(urllib.request.Request(url, body, headers, method=method))
except urllib.error.HTTPError as error:
    response = error
print(response.status, response.read().decode())
sys.exit(0 if response.status < 300 else 1)
