# Receives webhooks and checks that they are genuine. Python 3.9 or later, no packages: python3 receiver.py
#
#   WEBHOOK_URL      the url of the webhook, as the API shows it
#   WEBHOOK_SECRETS  its signing secret; during a rotation the new one and the old one, separated by a comma
#   PORT             where to listen; 8080 if not set
import base64
import hashlib
import hmac
import json
import os
import re
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

webhook_url = urlsplit(os.environ["WEBHOOK_URL"])
host = webhook_url.netloc.lower()
if webhook_url.port == {"http": 80, "https": 443}[webhook_url.scheme]:
    host = host.rpartition(":")[0]
secrets = [secret.encode() for secret in os.environ["WEBHOOK_SECRETS"].split(",")]


def handle(event):
    """Called once for each event. Store it and return: an answer after more than 10 seconds counts as a failure."""
    print(f"Event {event['id']}: {event['type']}", flush=True)


COVERED = '("@method" "@authority" "@path" "@query" "content-digest" "content-type" "webhook-id")'


def refusal_of(method, target, headers, body):
    """Why a request is not a genuine delivery; None when it is one."""
    digest = base64.b64encode(hashlib.sha256(body).digest()).decode()
    if headers.get("Content-Digest") != f"sha-256=:{digest}:":
        return "The body is not the one that was signed."
    path, _, query = target.partition("?")
    components = [
        f'"@method": {method}',
        f'"@authority": {host}',
        f'"@path": {path}',
        f'"@query": ?{query}',
        f'"content-digest": {headers["Content-Digest"]}',
        f'"content-type": {headers.get("Content-Type")}',
        f'"webhook-id": {headers.get("Webhook-Id")}',
    ]
    # During a rotation there are two, labelled sig and sig-prev. One that is good is enough.
    signatures = members_of(headers.get("Signature", ""))
    for label, params in members_of(headers.get("Signature-Input", "")).items():
        if not params.startswith(COVERED + ";"):
            continue
        expires = re.search(r";expires=(\d+)", params)
        if not expires or int(expires.group(1)) <= time.time():
            return "The signature has expired."
        base = "\n".join([*components, f'"@signature-params": {params}'])
        signature = signatures.get(label, "").encode()
        if any(hmac.compare_digest(signature, signed(secret, base)) for secret in secrets):
            return None
    return "No signature was made with a secret of ours."


def members_of(header):
    """The labels of a signature header and their values: `sig=…, sig-prev=…`. No value has a comma."""
    return dict(member.split("=", 1) for member in header.split(", ") if "=" in member)


def signed(secret, base):
    return b":" + base64.b64encode(hmac.new(secret, base.encode(), hashlib.sha256).digest()) + b":"


# A delivery can come more than once, always under the same Webhook-Id. Keep these ids where they outlive a restart,
# such as in a database column that is unique. The guide says under Duplicates how soon an id may be forgotten.
seen = set()
MAX_BODY_BYTES = 1024 * 1024


class Receiver(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        length = int(self.headers.get("Content-Length", 0))
        if length > MAX_BODY_BYTES:
            self.close_connection = True
            return self.answer(413, "The body is too large.")
        body = self.rfile.read(length)
        refusal = refusal_of(self.command, self.path, self.headers, body)
        if refusal:
            return self.answer(401, refusal)
        delivery_id = self.headers["Webhook-Id"]
        if delivery_id in seen:
            return self.answer(200, "We have it already.")
        try:
            handle(json.loads(body))
        except Exception as error:
            print(repr(error), file=sys.stderr)
            # Anything but 2xx is tried again: after 5 minutes, then 15 minutes, 1, 4, 8 and 12 hours.
            return self.answer(500, "Try again later.")
        seen.add(delivery_id)
        self.answer(200, "Thank you.")

    def answer(self, status, text):
        body = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


server = ThreadingHTTPServer(("", int(os.environ.get("PORT", 8080))), Receiver)
print(f"Listening on port {server.server_port}", flush=True)
server.serve_forever()
