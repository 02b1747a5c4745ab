import { beforeAll, beforeEach, expect, test } from 'vitest';
import type { Submission } from '../../../shared/transports/sms.ts';
import { codeOf } from '../../support/api/contract.ts';
import { type Answer, type Client, startApi } from '../../support/api/start-api.ts';
import { workspace } from '../../support/data/factory.ts';
import { sampleContent } from '../../support/data/sender-codes.ts';
import { useDatabase } from '../../support/database/database.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { useTextGateway } from '../../support/servers/text-gateway.ts';

useDatabase();

let api: Client;
let own: Awaited<ReturnType<typeof workspace>>;
let network: ReturnType<typeof useTextGateway>;
beforeAll(async () => {
  api = await startApi();
  network = useTextGateway();
});
beforeEach(async () => {
  own = await workspace();
  network.says = network.works;
  changeSettings({ SMS_TIMEOUT_SECONDS: 10, SMS_SYSTEM_SENDER: 'Messaging' });
});

type Own = typeof own;
let made = 0;
const newMobile = () => `07403${(made += 1).toString().padStart(6, '0')}`;

const request = (name: string, { key }: Own = own, headers = {}): Promise<Answer> =>
  api.request('POST', '/v2/senders', { key, body: { name, sampleContent }, headers });
const verify = (id: string, code: string, { key }: Own = own, headers = {}) =>
  api.request('POST', `/v2/senders/${id}/verify`, { key, body: { code }, headers });
const list = async ({ key }: Own = own) => (await api.request('GET', '/v2/senders', { key })).body.data;

const textsTo = (name: string) =>
  network.taken.filter(({ recipient }) => recipient === `+44${name.slice(1)}`);
const codeTo = (name: string) => textsTo(name).at(-1)!.content.slice(0, 6);

const failures: Record<string, () => Promise<Submission>> = {
  refused: () => Promise.resolve({ kind: 'refused', code: 'no', retryable: false, detail: 'No such number' }),
  busy: () => Promise.resolve({ kind: 'later', detail: 'Busy' }),
  unavailable: () => Promise.resolve({ kind: 'unavailable', detail: 'Down' }),
  broken: () => Promise.reject(new Error('ECONNREFUSED')),
  silent: () => new Promise<never>(() => {}),
};

test.each(Object.keys(failures))(
  'where the gateway is %s: 503 with Retry-After, nothing is left of a new sender, and the key is free for the retry',
  async (how) => {
    changeSettings({ SMS_TIMEOUT_SECONDS: how === 'silent' ? 0.3 : 10 });
    const name = newMobile();
    const headers = { 'idempotency-key': `codes-${how}` };
    network.says = failures[how]!;
    for (const sent of [{}, headers]) {
      const refused = await request(name, own, sent);
      expect([refused.status, codeOf(refused.body)]).toEqual([503, 'verification_not_sent']);
      expect(Number(refused.headers['retry-after'])).toBe(60);
      expect(refused.headers).not.toHaveProperty('location');
      expect(await list()).toEqual([]);
    }
    network.says = network.works;
    changeSettings({ SMS_TIMEOUT_SECONDS: 10 });
    const done = await request(name, own, headers);
    expect([done.status, done.body.status]).toEqual([201, 'awaiting_verification']);
    expect(done.headers).not.toHaveProperty('idempotent-replayed');
    const replayed = await request(name, own, headers);
    expect([replayed.status, replayed.headers['idempotent-replayed']]).toEqual([201, 'true']);
    expect(replayed.body).toEqual(done.body);
    expect(textsTo(name)).toHaveLength(3);
    expect((await verify(done.body.id, codeTo(name))).status).toBe(200);
  },
);

test('where another code cannot be sent, the one before stays good, and the sender stays', async () => {
  const name = newMobile();
  const { id } = (await request(name)).body;
  const before = codeTo(name);
  network.says = failures['unavailable']!;
  expect((await request(name)).status).toBe(503);
  expect(await list()).toMatchObject([{ id, status: 'awaiting_verification' }]);
  expect((await verify(id, before)).status).toBe(200);
});

test('a code that the gateway did not take counts for nothing; one that nobody knows of counts', async () => {
  const [refused, unknown] = [newMobile(), newMobile()];
  network.says = failures['refused']!;
  for (let round = 0; round < 5; round += 1) expect((await request(refused)).status).toBe(503);
  network.says = failures['busy']!;
  for (let round = 0; round < 5; round += 1) expect((await request(refused)).status).toBe(503);
  network.says = failures['unavailable']!;
  for (let round = 0; round < 3; round += 1) expect((await request(unknown)).status).toBe(503);
  expect((await request(unknown)).status).toBe(429);
  network.says = network.works;
  expect((await request(refused)).status).toBe(201);
});

/** Tries a wrong code; which one is no matter, since a try counts whatever comes of it. */
const guess = async (name: string) => {
  const { id } = (await list()).find((sender: { name: string }) => sender.name === name);
  const { status } = await verify(id, codeTo(name) === '000000' ? '000001' : '000000');
  expect(status).toBe(400);
};

test('a code that was guessed at counts, though the gateway did not take it', async () => {
  const name = newMobile();
  network.says = async () => {
    await guess(name);
    return failures['busy']!();
  };
  for (let round = 0; round < 3; round += 1) expect((await request(name)).status).toBe(503);
  expect((await request(name)).status).toBe(429);
});

/** Asks twice at once, and the gateway refuses the first code before the second. */
async function askTwice(name: string): Promise<number[]> {
  const codes = [0, 1].map(() => ({
    begun: Promise.withResolvers<void>(),
    goOn: Promise.withResolvers<void>(),
  }));
  const answers: Promise<Answer>[] = [];
  for (const { begun, goOn } of codes) {
    network.says = async () => {
      begun.resolve();
      await goOn.promise;
      return failures['busy']!();
    };
    const answer = request(name);
    answers.push(answer);
    await Promise.race([begun.promise, answer]);
  }
  const statuses: number[] = [];
  for (const [index, { goOn }] of codes.entries()) {
    goOn.resolve();
    statuses.push((await answers[index]!).status);
  }
  return statuses;
}

test('a code that another replaced counts, though the gateway took neither', async () => {
  const name = newMobile();
  expect([await askTwice(name), await askTwice(name), await askTwice(name)]).toEqual([
    [503, 503],
    [503, 503],
    [503, 429],
  ]);
});

test('while the code is on its way, a repeated request under the same key is in progress, and is texted no second one', async () => {
  const name = newMobile();
  const headers = { 'idempotency-key': 'codes-slow' };
  const { promise: goOn, resolve } = Promise.withResolvers<void>();
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  network.says = async () => {
    begin();
    await goOn;
    return network.works();
  };
  const first = request(name, own, headers);
  await begun;
  // The sender is committed before its code is sent, so everybody sees it.
  expect(await list()).toMatchObject([{ name, status: 'awaiting_verification' }]);
  const second = await request(name, own, headers);
  expect([second.status, codeOf(second.body)]).toEqual([409, 'idempotency_in_progress']);
  resolve();
  expect((await first).status).toBe(201);
  expect(textsTo(name)).toHaveLength(1);
});
