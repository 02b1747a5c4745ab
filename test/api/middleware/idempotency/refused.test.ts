import { beforeAll, expect, test } from 'vitest';
import { type ErrorCode, problem } from '../../../../shared/common/errors.ts';
import { query } from '../../../../shared/db/client.ts';
import { type Client, startApi } from '../../../support/api/start-api.ts';
import { workspace } from '../../../support/data/factory.ts';
import { newEmail } from '../../../support/data/new-email.ts';
import { useDatabase } from '../../../support/database/database.ts';
import { ask, codeOf, essence } from './ask.ts';
import { startEffectsApi } from './effects-api.ts';

useDatabase();

let api: Client;
let effectsApi: Awaited<ReturnType<typeof startEffectsApi>>;
let own: Awaited<ReturnType<typeof workspace>>;
beforeAll(async () => {
  api = await startApi();
  effectsApi = await startEffectsApi();
  own = await workspace();
});

const isKept = async (key: string) =>
  (await query('SELECT 1 FROM idempotency_records WHERE idempotency_key = ?', [Buffer.from(key)])).length > 0;

const faults = [
  ...(
    [
      'validation_failed',
      'sending_blocked',
      'not_found',
      'name_taken',
      'recipient_suppressed',
      'limit_reached',
      'verification_not_sent',
    ] satisfies ErrorCode[]
  ).map((code) => problem(code)),
  new Error('a fault of ours'),
];

test.each(faults)(
  'after “%s” nothing is left, and the same request is done when it can be',
  async (fault) => {
    for (const step of ['prepare', 'handle'] as const) {
      const name = `${step} ${fault.message}`.replaceAll(/[^a-z]+/gi, '-').slice(0, 60);
      const question = { key: own.key, idempotencyKey: name, path: '/v2/effects', body: { name } };
      effectsApi.behave({
        [step]: () => {
          throw fault;
        },
      });
      for (let again = 0; again < 2; again += 1) {
        const refused = await ask(effectsApi.url, question);
        expect(refused.status).toBeGreaterThanOrEqual(400);
        expect(refused.isReplayed).toBe(false);
        expect([await effectsApi.effects(name), await isKept(name)]).toEqual([0, false]);
      }
      effectsApi.behave();
      const done = await ask(effectsApi.url, question);
      expect([done.status, done.isReplayed]).toEqual([201, false]);
      expect(essence(await ask(effectsApi.url, question))).toEqual(essence(done));
      expect(await effectsApi.effects(name)).toBe(1);
    }
  },
);

test('after a refusal the key may go with the corrected request', async () => {
  const wrong = newEmail(own, { recipient: 'nobody', clientReference: 'corrected' });
  const question = { key: own.key, idempotencyKey: 'corrected' };
  const refused = await ask(api.url, { ...question, body: wrong });
  expect([refused.status, codeOf(refused)]).toEqual([400, 'validation_failed']);
  for (const body of ['{not JSON', '{"sender":1}']) {
    const again = await ask(api.url, { ...question, body });
    expect(again.status).toBe(400);
  }
  const corrected = { ...question, body: { ...wrong, recipient: 'somebody@example.com' } };
  const done = await ask(api.url, corrected);
  expect([done.status, done.isReplayed]).toEqual([201, false]);
  expect((await ask(api.url, corrected)).text).toBe(done.text);
  // The wrong body is now a different request under a used key, so its fields are not even checked.
  expect(codeOf(await ask(api.url, { ...question, body: wrong }))).toBe('idempotency_key_reused');
});

test('a request that is refused while the key is free does not take the key', async () => {
  const question = { key: own.key, idempotencyKey: 'not-taken', body: newEmail(own) };
  const reader = await workspace({ scopes: ['email.read'] });
  expect((await ask(api.url, { ...question, key: reader.key })).status).toBe(403);
  expect((await ask(api.url, { ...question, key: 'msg_wrong' })).status).toBe(401);
  expect((await ask(api.url, { ...question, headers: { 'service-version': '2001-01-01' } })).status).toBe(
    400,
  );
  expect((await ask(api.url, { ...question, headers: { 'content-type': 'text/plain' } })).status).toBe(415);
  expect(await isKept('not-taken')).toBe(false);
  expect((await ask(api.url, question)).isReplayed).toBe(false);
});

// Shows F24
test('a deadlock in the middle is tried again under the same key, and is done once', async () => {
  let rounds = 0;
  effectsApi.behave({
    handle: async () => {
      rounds += 1;
      // The error that MySQL gives to the transaction that it rolls back in a deadlock.
      if (rounds < 3) await query("SIGNAL SQLSTATE '40001' SET MYSQL_ERRNO = 1213");
    },
  });
  const question = {
    key: own.key,
    idempotencyKey: 'deadlock',
    path: '/v2/effects',
    body: { name: 'deadlock' },
  };
  const done = await ask(effectsApi.url, question);
  effectsApi.behave();
  expect([done.status, done.isReplayed, rounds]).toEqual([201, false, 3]);
  expect(await effectsApi.effects('deadlock')).toBe(1);
  expect((await ask(effectsApi.url, question)).text).toBe(done.text);
});
