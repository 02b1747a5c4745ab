# Sends a POST so that it takes effect once, however often it has to be tried. Python 3.9 or later, no packages:
#
#   python3 send_once.py order-1234-confirmation /v2/email '{"sender": "…", "recipient": "…", …}'
#
#   API_URL  the address of the API, as in https://messaging.example
#   API_KEY  the key, msg_…
import email.utils
import http.client
import os
import random
import re
import sys
import time
import urllib.error
import urllib.request

MAX_TRIES = 8
# A limit that is used up may ask for a wait of hours or days; that is for you to decide.
LONGEST_WAIT = 5 * 60


def send_once(idempotency_key, path, body):
    """The answer to the request, or an error once it has been tried often enough. A refusal that asks for a wait of
    more than five minutes is an answer, too. `idempotency_key` says what this is: the same for every try, and another
    for whatever else you send. Keep it with the order, not in memory."""
    tried = 0
    while True:
        tried += 1
        status, text, retry_after = post(idempotency_key, path, body)
        if not is_retryable(status, text) or retry_after > LONGEST_WAIT:
            return status, text
        if tried == MAX_TRIES:
            raise RuntimeError(f"Given up after {tried} tries: {text}")
        # Not all at the same moment, and no sooner than the service asks for.
        pause = min(2**tried, 60) * random.uniform(0.5, 1)
        time.sleep(max(pause, retry_after))


def post(idempotency_key, path, body):
    headers = {
        "authorization": f"Bearer {os.environ['API_KEY']}",
        "content-type": "application/json",
        "idempotency-key": idempotency_key,
    }
    request = urllib.request.Request(os.environ["API_URL"].rstrip("/") + path, body.encode(), headers, method="POST")
    try:
        try:
            response = urllib.request.urlopen(request, timeout=60)
        except urllib.error.HTTPError as error:
            response = error
        return response.status, response.read().decode(), seconds_of(response.headers.get("Retry-After", ""))
    except (OSError, http.client.HTTPException) as error:
        # The connection broke. Nobody knows whether the request took effect; the next try finds out.
        return None, str(error), 0


def seconds_of(retry_after):
    """Retry-After is a number of seconds or a date."""
    try:
        if re.fullmatch("[0-9]+", retry_after):
            return float(retry_after)
        return max(0, email.utils.mktime_tz(email.utils.parsedate_tz(retry_after)) - time.time())
    except (TypeError, ValueError, OverflowError):
        # Not to be read: the usual pause will do.
        return 0


def is_retryable(status, text):
    """The first try is still being worked on; or the service is busy, or away."""
    if status == 409:
        return "/problems/idempotency_in_progress" in text
    return status is None or status in (408, 429) or status >= 500


status, text = send_once(*sys.argv[1:4])
print(status, text)
sys.exit(0 if status < 300 else 1)
