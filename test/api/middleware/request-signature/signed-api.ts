import { randomUUID } from 'node:crypto';
import { beforeAll, expect } from 'vitest';
import { now } from '../../../../shared/common/clock.ts';
import { type SignatureOptions, signRequest } from '../../../support/api/sign-request.ts';
import { ecdsaKey, hmacKey, type SignedKey } from '../../../support/api/signed-key.ts';
import { type Answer, type Client, startApi } from '../../../support/api/start-api.ts';
import { workspace } from '../../../support/data/factory.ts';
import { newEmail } from '../../../support/data/new-email.ts';
import { waitFor } from '../../../support/time/wait-for.ts';
import { parseRaw, sendRaw } from '../../endpoint/small-api.ts';

/** A request to send. A header may occur twice. */
export type Sent = { method: string; target: string; headers: [string, string][]; body: string };
export type Outcome = Pick<Answer, 'status' | 'body'>;

type World = Awaited<ReturnType<typeof start>>;

/** An API and strict keys of both algorithms, for the tests of a file. Call it at the top, after useDatabase. */
export function useSignedApi(): World {
  const world = {} as World;
  beforeAll(async () => {
    Object.assign(world, await start());
  });
  return world;
}

async function start() {
  const api: Client = await startApi();
  const own = await workspace();
  const hmac = await hmacKey(own.workspaceId);
  const ecdsa = await ecdsaKey(own.workspaceId);
  return { api, own, hmac, ecdsa, keys: { hmac, ecdsa } as const };
}

/** Returns a signed request that sends an email and is accepted; each request has a new email. */
export function signedPost(
  { api, own }: Pick<World, 'api' | 'own'>,
  { key, signer }: SignedKey,
  options: SignatureOptions = {},
  { headers = {}, target = '/v2/email', publicUrl = api.url }: SendOptions = {},
): Sent {
  const body = JSON.stringify(newEmail(own));
  const all = {
    authorization: `Bearer ${key}`,
    'content-type': 'application/json',
    'idempotency-key': randomUUID(),
    ...headers,
  };
  const outgoing = { method: 'POST', url: publicUrl + target, headers: all, body };
  return { method: 'POST', target, headers: Object.entries(signRequest(outgoing, signer, options)), body };
}

type SendOptions = { headers?: Record<string, string>; target?: string; publicUrl?: string };

/** Returns a signed request without a body. */
export function signedGet(
  { api }: Pick<World, 'api'>,
  { key, signer }: SignedKey,
  options: SignatureOptions = {},
  { headers = {}, target = '/v2/email?limit=1', publicUrl = api.url }: SendOptions = {},
): Sent {
  const all = { authorization: `Bearer ${key}`, ...headers };
  const outgoing = { method: 'GET', url: publicUrl + target, headers: all };
  return { method: 'GET', target, headers: Object.entries(signRequest(outgoing, signer, options)), body: '' };
}

/** Sends the request byte for byte: nothing normalizes the target, joins the headers or checks their bytes. */
export async function send(
  api: Pick<Client, 'url'>,
  { method, target, headers, body }: Sent,
): Promise<Outcome> {
  const lines = [['host', 'proxy.internal'], ...headers];
  if (body !== '') lines.push(['content-length', String(Buffer.byteLength(body))]);
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  const port = Number(new URL(api.url).port);
  const answer = parseRaw(
    await sendRaw(port, Buffer.from(`${method} ${target} HTTP/1.1\r\n${head}\r\n`, 'latin1'), body),
  );
  return { status: answer.status, body: answer.json() };
}

export function headerOf({ headers }: Sent, name: string): string {
  return headers.find(([each]) => each === name)?.[1] ?? '';
}

/** Returns the request with some headers changed; undefined removes a header. */
export function withHeaders(sent: Sent, changes: Record<string, string | undefined>): Sent {
  const kept = sent.headers.filter(([name]) => !(name in changes));
  const added = Object.entries(changes).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value]],
  );
  return { ...sent, headers: [...kept, ...(added as [string, string][])] };
}

/** Returns one request with the signatures of both: the first one's, then the second one's. */
export function withBoth(first: Sent, second: Sent, sent = first): Sent {
  const joined = (name: string) => `${headerOf(first, name)}, ${headerOf(second, name)}`;
  return withHeaders(sent, { signature: joined('signature'), 'signature-input': joined('signature-input') });
}

export function expectAccepted(answer: Outcome): void {
  expect(answer, JSON.stringify(answer.body)).toMatchObject({
    status: expect.toSatisfy((status) => status < 300),
  });
}

/** Expects a good signature: only an authenticated caller is told that a query has an unknown parameter. */
export function expectAdmitted(answer: Outcome): void {
  if (answer.status !== 400) return expectAccepted(answer);
  expect(answer.body.errors, JSON.stringify(answer.body)).toBeDefined();
}

export function expectRefused(answer: Outcome, detail: string | RegExp): void {
  expect([answer.status, answer.body.type?.split('/problems/')[1]], JSON.stringify(answer.body)).toEqual([
    401,
    'signature_invalid',
  ]);
  expect(answer.body.detail).toMatch(detail);
}

/**
 * Runs the work within one second of the platform's clock, and repeats it until it was quick enough. The clock is a
 * sample that steps by up to 250 ms, so the work keeps away from both ends of the second.
 */
export async function withinOneSecond<T>(work: (second: number) => Promise<T>): Promise<T> {
  const into = () => now().getTime() % 1000;
  for (;;) {
    await waitFor('the middle of a second', () => into() > 300 && into() < 500, { intervalMs: 5 });
    const second = Math.floor(now().getTime() / 1000);
    const result = await work(second);
    const afterMs = now().getTime() - second * 1000;
    if (afterMs > 300 && afterMs < 700) return result;
  }
}
