import net from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { attachmentOf, inboundToken, nineWords, plainEmail } from '../content.ts';
import { serve } from '../serve.ts';
import type { Answers } from './http-load.ts';

/** A tenant that asks for the most expensive work without pause, until it is stopped. */
export interface Attack {
  kind: 'search' | 'lists' | 'mjml' | 'keys' | 'trickle' | 'mail' | 'domains';
  port: number;
  key: string;
}
let isStopping = false;
/** `lost`: requests that were not answered. */
let answers: Answers = {};
let running: Promise<unknown>[] = [];
let agent = new Agent();

function note(status: string | number): void {
  answers[status] = (answers[status] ?? 0) + 1;
}

async function ask(
  { port, key }: Pick<Attack, 'port' | 'key'>,
  method: 'GET' | 'POST',
  path: string,
  body?: string,
  type = 'application/json',
): Promise<void> {
  try {
    const answer = await request(`http://127.0.0.1:${port}${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': type },
      ...(body === undefined ? {} : { body }),
      dispatcher: agent,
    });
    await answer.body.dump();
    note(answer.statusCode);
    // A tenant that obeys Retry-After would make less work; this one hardly waits.
    if (answer.statusCode >= 400) await delay(50);
  } catch {
    note('lost');
    await delay(50);
  }
}

/** Runs `callers` loops at once, each with one request after the other. */
function keepAsking(callers: number, one: (turn: number) => Promise<void>): void {
  let turn = 0;
  const call = async () => {
    while (!isStopping) await one((turn += 1));
  };
  running.push(...Array.from({ length: callers }, call));
}

const search = `/v2/contacts?${new URLSearchParams({ limit: '50', search: nineWords }).toString()}`;

/** MJML that takes longer than its compiler may: each rule looks at all siblings of all siblings. */
const slowMjml = `<mjml><mj-head><mj-style inline="inline">${'i~i~i~i~i~i{color:red}'.repeat(100)}</mj-style></mj-head><mj-body><mj-section><mj-column><mj-raw>${'<i></i>'.repeat(9_000)}</mj-raw></mj-column></mj-section></mj-body></mjml>`;

/** Returns a mail in two forms, the second one with tags within tags. Parsers that render HTML took minutes for it. */
function mailOf(bytes: number): string {
  const start =
    'From: a@example.com\r\nTo: fbl@example.com\r\nMIME-Version: 1.0\r\nContent-Type: multipart/alternative; boundary=b\r\n\r\n' +
    '--b\r\nContent-Type: text/plain\r\n\r\nHello\r\n--b\r\nContent-Type: text/html\r\n\r\n<a ';
  return `${start.padEnd(bytes, 'href=')}\r\n--b--\r\n`;
}

/**
 * Sends the body of a large email a byte at a time, and connects again when the connection is closed. The attack uses
 * 26 such connections.
 */
async function trickle({ port, key }: Attack): Promise<void> {
  while (!isStopping) {
    const socket = net.connect({ port, host: '127.0.0.1', noDelay: true });
    const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
    socket.on('error', () => {});
    socket.on('data', (chunk: Buffer) => note(chunk.toString('latin1').slice(9, 12)));
    socket.write(
      `POST /v2/email HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: 40000000\r\n\r\n{"subject":"`,
    );
    const timer = setInterval(() => (isStopping ? socket.destroy() : socket.write('a')), 100);
    await closed;
    clearInterval(timer);
  }
}

/** Continues the attack until `stop`. */
async function start(attack: Attack): Promise<void> {
  [isStopping, answers, running, agent] = [false, {}, [], new Agent({ headersTimeout: 0, bodyTimeout: 0 })];
  switch (attack.kind) {
    case 'search':
      return keepAsking(8, () => ask(attack, 'GET', search));
    case 'lists':
      return keepAsking(4, () => ask(attack, 'GET', '/v2/contact-lists?limit=50'));
    case 'mjml': {
      const content = attachmentOf(1_200_000).toString('base64');
      const attachments = [{ filename: 'a.bin', contentType: 'application/octet-stream', content }];
      // Each has a source of its own, so that all of them have to be compiled.
      return keepAsking(50, (turn) =>
        ask(
          attack,
          'POST',
          '/v2/email',
          JSON.stringify({
            ...plainEmail(turn),
            format: 'mjml',
            content: { html: `${slowMjml}<!-- ${turn} -->` },
            attachments,
          }),
        ),
      );
    }
    case 'keys': {
      const data = Object.fromEntries(Array.from({ length: 900_000 }, (_, index) => [`k${index}`, 1]));
      const body = JSON.stringify({ ...plainEmail(0), template: { data } });
      return keepAsking(2, () => ask(attack, 'POST', '/v2/email', body));
    }
    case 'trickle':
      running = Array.from({ length: 26 }, () => trickle(attack));
      return;
    case 'mail': {
      const mail = mailOf(256_000);
      const strange = { ...attack, key: inboundToken };
      return keepAsking(8, () =>
        ask(strange, 'POST', '/inbound/email?recipient=fbl%40example.com', mail, 'message/rfc822'),
      );
    }
    case 'domains':
      return keepAsking(150, (turn) =>
        ask(attack, 'POST', '/v2/email/domains', JSON.stringify({ name: `d${turn}-${Date.now()}.example` })),
      );
  }
}

async function stop(): Promise<Answers> {
  isStopping = true;
  await agent.destroy();
  await Promise.all(running);
  return answers;
}

serve({ start, stop });
