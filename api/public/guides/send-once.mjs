// Sends a POST so that it takes effect once, however often it has to be tried. Node 18 or later, no packages:
//
//   node send-once.mjs order-1234-confirmation /v2/email '{"sender": "…", "recipient": "…", …}'
//
//   API_URL  the address of the API, as in https://messaging.example
//   API_KEY  the key, msg_…
import { setTimeout as sleep } from 'node:timers/promises';

const { API_URL, API_KEY } = process.env;
const maxTries = 8;
// A limit that is used up may ask for a wait of hours or days; that is for you to decide.
const longestWaitMs = 5 * 60_000;

/**
 * The answer to the request, or an error once it has been tried often enough. A refusal that asks for a wait of more
 * than five minutes is an answer, too. `idempotencyKey` says what this is: the same for every try, and another for
 * whatever else you send. Keep it with the order, not in memory.
 */
async function sendOnce(idempotencyKey, path, body) {
  for (let tried = 1; ; tried += 1) {
    const outcome = await post(idempotencyKey, path, body);
    if (!outcome.isRetryable || outcome.retryAfterMs > longestWaitMs) return outcome;
    if (tried === maxTries) throw new Error(`Given up after ${tried} tries: ${outcome.text}`);
    // Not all at the same moment, and no sooner than the service asks for.
    const pauseMs = Math.min(1000 * 2 ** tried, 60_000) * (0.5 + Math.random() / 2);
    await sleep(Math.max(pauseMs, outcome.retryAfterMs));
  }
}

async function post(idempotencyKey, path, body) {
  let response;
  let text;
  try {
    response = await fetch(new URL(API_URL.replace(/\/+$/, '') + path), {
      method: 'POST',
      body,
      headers: {
        authorization: `Bearer ${API_KEY}`,
        'content-type': 'application/json',
        'idempotency-key': idempotencyKey,
      },
      signal: AbortSignal.timeout(60_000),
    });
    text = await response.text();
  } catch (error) {
    // The connection broke. Nobody knows whether the request took effect; the next try finds out.
    return { isRetryable: true, text: String(error), retryAfterMs: 0 };
  }
  const { status, headers } = response;
  // The first try is still being worked on; or the service is busy, or away.
  const isRetryable =
    status === 408 ||
    status === 429 ||
    status >= 500 ||
    (status === 409 && text.includes('/problems/idempotency_in_progress'));
  return { isRetryable, status, text, retryAfterMs: msOf(headers.get('retry-after') ?? '') };
}

/** Retry-After is a number of seconds or a date. */
function msOf(retryAfter) {
  const ms = /^\d+$/.test(retryAfter) ? Number(retryAfter) * 1000 : Date.parse(retryAfter) - Date.now();
  return ms > 0 ? ms : 0;
}

const { status, text } = await sendOnce(...process.argv.slice(2));
console.log(status, text);
process.exitCode = status < 300 ? 0 : 1;
