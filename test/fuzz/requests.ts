import { endpoints } from '../../api/routes/index.ts';
import { pick } from '../faults/storm/random.ts';
import type { Random } from '../faults/storm/types.ts';
import { exampleOf } from '../support/api/fields.ts';
import { bodySchemaOf, description } from '../support/api/operations.ts';
import { type Grammar, integer, maybe, oddNumber, oddText, oneOf, sequence, word } from './grammar.ts';
import { crafted } from './grammars/bodies.ts';
import { jsonValue } from './grammars/json.ts';
import { digest, host, mailboxText, phone, signature, url } from './grammars/lines.ts';
import { liquid } from './grammars/liquid.ts';
import { address, mail } from './grammars/mail.ts';
import { html, mjml } from './grammars/mjml.ts';
import { randomFor } from './inputs.ts';
import { mutated } from './mutate.ts';
import { inboundToken, returnPathDomain, targetOfHttp, targetOfSmtp } from './settings.ts';

/**
 * Requests for a running platform. A value that depends on the run (the key, an id) is a name in braces, so that the
 * same seed always makes the same text.
 */

const odd: readonly Grammar[] = [word, oddText, oddNumber, liquid, mjml, html, mailboxText, phone, url, host];

/** Changes, removes or adds one value of the body. */
function changed(random: Random, value: unknown, depth = 0): unknown {
  if (typeof value !== 'object' || value === null || (depth > 0 && random() < 0.2)) return another(random);
  const names = Object.keys(value);
  const copy = structuredClone(value) as Record<string, unknown>;
  if (names.length === 0 || random() < 0.1) {
    const name = word(random);
    if (Array.isArray(copy)) copy.push(another(random));
    else Object.defineProperty(copy, name, { value: another(random), enumerable: true, configurable: true });
    return copy;
  }
  const name = pick(random, names);
  if (random() < 0.1) delete copy[name];
  else copy[name] = changed(random, copy[name], depth + 1);
  return copy;
}

/** Makes a value that is too large to be read in one piece, or exceeds the limit of values. */
function large(random: Random, text: string): unknown {
  const many = integer(random, 1_000, 60_000);
  return pick(random, [
    () => text.padEnd(1_500_000, text || 'x').slice(0, 1_500_000),
    () => Array.from({ length: many }, (_, index) => (index % 2 ? index : text.slice(0, 20))),
    () =>
      Object.fromEntries(Array.from({ length: many }, (_, index) => [`${text.slice(0, 9)}${index}`, index])),
  ])();
}

function another(random: Random): unknown {
  if (random() < 0.3) return jsonValue(random);
  const text = pick(random, odd)(random);
  if (random() < 0.05) return text.repeat(integer(random, 2, 200));
  if (random() < 0.02) return large(random, text);
  return text;
}

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'];
const publicPaths = oneOf(
  '/',
  '/docs',
  '/docs/guides',
  '/problems/not_found',
  '/openapi.json',
  '/health/ready',
  sequence('/u/', word),
  sequence('/o/', word, '.gif'),
  sequence('/confirm/', word),
  sequence('/assets/', word),
  sequence('/ops/', oneOf('metrics', 'queues', word)),
);

const encoded: Grammar = (random) => encodeURIComponent(word(random).toWellFormed());
const oneLine =
  (grammar: Grammar): Grammar =>
  (random) =>
    grammar(random).replace(/[^\x20-\x7e]/g, '?');
const header = oneOf(
  sequence('Idempotency-Key: ', oneLine(word), '\r\n'),
  sequence('Service-Version: ', oneOf('2026-11-01', oneLine(word)), '\r\n'),
  sequence('Content-Digest: ', oneLine(digest), '\r\n'),
  (random) => {
    const [input = '', value = ''] = signature(random).split('\n');
    return `Signature-Input: ${input.replace(/[^\x20-\x7e]/g, '?')}\r\nSignature: ${value.replace(/[^\x20-\x7e]/g, '?')}\r\n`;
  },
  sequence('Request-Id: ', oneLine(word), '\r\n'),
  sequence('Accept: ', oneOf('text/html', '*/*;q=0.1', oneLine(word)), '\r\n'),
  sequence('If-None-Match: ', oneLine(word), '\r\n'),
  sequence('Range: bytes=', oneLine(oddNumber), '-', oneLine(oddNumber), '\r\n'),
  sequence('Expect: ', oneOf('100-continue', oneLine(word)), '\r\n'),
  sequence('X-Forwarded-For: ', oneLine(word), '\r\n'),
);

function raw(line: string, headers: string, type: string, body: Buffer | null): Buffer {
  const length = body ? `Content-Type: ${type}\r\nContent-Length: ${body.length}\r\n` : '';
  const head = `${line} HTTP/1.1\r\nHost: fuzz\r\nConnection: close\r\n${headers}${length}\r\n`;
  return Buffer.concat([Buffer.from(head), body ?? Buffer.alloc(0)]);
}

const authorization = 'Authorization: Bearer {key}\r\n';
const withBody = endpoints.filter((endpoint) => bodySchemaOf(endpoint));
const ofLanguages = withBody.filter(({ id }) => id in crafted);

function operation(random: Random, bodies: ReadonlyMap<string, object>): Buffer {
  const kind = random();
  const endpoint = pick(random, kind < 0.4 ? ofLanguages : kind < 0.75 ? withBody : endpoints);
  const path = endpoint.path.replaceAll(/\{(\w+)\}/g, (_all, name: string) =>
    random() < 0.6 ? `{${endpoint.id}.${name}}` : encoded(random),
  );
  const query =
    random() < 0.3
      ? `?${pick(random, ['limit', 'cursor', 'search', 'tag', 'since', 'name', 'order'])}=${encoded(random)}`
      : '';
  const method = random() < 0.05 ? pick(random, methods) : endpoint.method.toUpperCase();
  const good = bodies.get(endpoint.id);
  let body: Buffer | null = null;
  if (good) {
    const craft = random() < 0.8 ? crafted[endpoint.id] : undefined;
    let value: unknown = craft ? craft(random, good as Record<string, unknown>) : good;
    for (let times = integer(random, 0, craft ? 1 : 3); times > 0; times -= 1) value = changed(random, value);
    const text = Buffer.from(JSON.stringify(value) ?? '');
    body = random() < 0.15 ? mutated(random, () => text) : text;
  }
  const headers = authorization + maybe(header, 0.3)(random);
  return raw(`${method} ${path}${query}`, headers, 'application/json', body);
}

/** Returns a valid body for each operation, by its id; the sender is that of the run. */
export function goodBodies(made: Readonly<Record<string, object>>): Map<string, object> {
  return new Map(
    withBody.map((endpoint) => [
      endpoint.id,
      made[endpoint.id] ?? exampleOf(description.resolve, bodySchemaOf(endpoint)!),
    ]),
  );
}

/** Makes a request as bytes, with names in braces for values that only the run knows. */
export function httpInput(seed: number, index: number, bodies: ReadonlyMap<string, object>): Buffer {
  const random = randomFor(seed, targetOfHttp, index);
  const kind = random();
  if (kind < 0.7) return operation(random, bodies);
  if (kind < 0.8) return mutated(random, () => operation(random, bodies));
  if (kind < 0.9) {
    const recipient = encodeURIComponent(
      `${oneOf('fbl', 'bounce+{token}', 'abuse')(random)}@${returnPathDomain}`,
    );
    const message = mutated(random, () => Buffer.from(mail(random)));
    return raw(
      `POST /inbound/email?recipient=${recipient}`,
      `Authorization: Bearer ${inboundToken}\r\n`,
      'message/rfc822',
      message,
    );
  }
  return raw(
    `${pick(random, methods)} ${publicPaths(random).replace(/[^!-~]/g, '%20')}`,
    maybe(header)(random),
    '',
    null,
  );
}

/** Makes a session with the inbound mail server, as bytes. */
export function smtpInput(seed: number, index: number): Buffer {
  const random = randomFor(seed, targetOfSmtp, index);
  const command = oneOf(
    'NOOP',
    'RSET',
    'VRFY a',
    'STARTTLS',
    'AUTH PLAIN AAAA',
    'HELP',
    'XCLIENT ADDR=1',
    word,
  );
  const session = sequence(
    oneOf('EHLO relay.example\r\n', 'HELO a\r\n', sequence('EHLO ', word, '\r\n')),
    maybe(sequence(command, '\r\n'), 0.1),
    oneOf(
      'MAIL FROM:<>\r\n',
      'MAIL FROM:<>\r\n',
      'MAIL FROM:<>\r\n',
      sequence(
        'MAIL FROM:<',
        address,
        '>',
        maybe(oneOf(' SIZE=99999999999', ' BODY=8BITMIME', ' RET=HDRS ENVID=a')),
        '\r\n',
      ),
    ),
    oneOf(
      `RCPT TO:<fbl@${returnPathDomain}>\r\n`,
      `RCPT TO:<fbl@${returnPathDomain}>\r\nRCPT TO:<abuse@${returnPathDomain}>\r\n`,
      `RCPT TO:<bounce+{token}@${returnPathDomain}>\r\n`,
      `RCPT TO:<bounce+{token}@${returnPathDomain}>\r\n`,
      sequence('RCPT TO:<', address, '>\r\n'),
    ),
    maybe(sequence(command, '\r\n'), 0.1),
    'DATA\r\n',
  );
  const end = Buffer.from('\r\n.\r\nQUIT\r\n');
  const whole = () =>
    Buffer.concat([Buffer.from(session(random)), mutated(random, () => Buffer.from(mail(random))), end]);
  return random() < 0.3 ? mutated(random, whole) : whole();
}
