// @slow: it starts, stops and breaks processes of the platform.
import { randomUUID } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { now } from '../../../../shared/common/clock.ts';
import { problem } from '../../../../shared/common/errors.ts';
import { query, transaction } from '../../../../shared/db/client.ts';
import * as db from '../../../../shared/db/requests/idempotency.ts';
import { findWorkspaceForUpdate } from '../../../../shared/db/workspace/workspaces.ts';
import * as idempotency from '../../../../shared/domain/requests/idempotency.ts';
import { startApi } from '../../../support/api/start-api.ts';
import { workspace } from '../../../support/data/factory.ts';
import { newEmail } from '../../../support/data/new-email.ts';
import { useDatabase } from '../../../support/database/database.ts';
import { withoutWaiting } from '../../../support/database/lock-wait.ts';
import { type PlatformProcess, startWeb } from '../../../support/processes/processes.ts';
import { waitFor } from '../../../support/time/wait-for.ts';
import { ask, codeOf, essence, type Question, type Reply } from './ask.ts';
import { startEffectsApi } from './effects-api.ts';

useDatabase();

let effectsApi: Awaited<ReturnType<typeof startEffectsApi>>;
let own: Awaited<ReturnType<typeof workspace>>;
/** The API in another process, and the API in this process. */
let webs: { url: string }[];
beforeAll(async () => {
  [effectsApi, own, ...webs] = await Promise.all([startEffectsApi(), workspace(), startWeb(), startApi()]);
});

const question = (changes: Partial<Question> = {}): Question => ({
  key: own.key,
  idempotencyKey: randomUUID(),
  ...changes,
});
const emailsOf = async (clientReference: string) =>
  (
    await ask(webs[0]!.url, {
      key: own.key,
      method: 'GET',
      path: `/v2/email?clientReference=${clientReference}`,
    })
  ).json().data as { id: string }[];
const find = (key: string) => db.findRecord(own.workspaceId, own.keyId, key, now());

function expectInProgress(reply: Reply): void {
  expect([reply.status, codeOf(reply), reply.headers['retry-after']]).toEqual([
    409,
    'idempotency_in_progress',
    '1',
  ]);
}

test('50 equal requests at once over two processes: one is done, the others get its answer or 409', async () => {
  for (const clientReference of ['crowd-1', 'crowd-2', 'crowd-3']) {
    const same = question({ body: newEmail(own, { clientReference }) });
    const replies = await Promise.all(
      Array.from({ length: 50 }, (_, index) => ask(webs[index % 2]!.url, same)),
    );
    const [done, ...more] = replies.filter(({ status, isReplayed }) => status === 201 && !isReplayed);
    expect(more).toEqual([]);
    for (const reply of replies)
      if (reply.status === 201) expect(essence(reply)).toEqual(essence(done!));
      else expectInProgress(reply);
    for (const { url } of webs) {
      const later = await ask(url, same);
      expect([essence(later).text, later.isReplayed]).toEqual([done!.text, true]);
    }
    expect((await emailsOf(clientReference)).map(({ id }) => id)).toEqual([done!.json().id]);
  }
});

test('50 different keys at once do not hinder each other', async () => {
  const replies = await Promise.all(
    Array.from({ length: 50 }, (_, index) =>
      ask(webs[index % 2]!.url, question({ body: newEmail(own, { clientReference: 'apart' }) })),
    ),
  );
  expect(replies.map(({ status }) => status)).toEqual(Array(50).fill(201));
  expect(await emailsOf('apart')).toHaveLength(50);
});

test.each(['prepare', 'handle'] as const)(
  'while a request is in progress (%s) its equals are told so, and other keys are not held up',
  async (step) => {
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
    const { promise: over, resolve: end } = Promise.withResolvers<void>();
    const name = `held in ${step}`;
    const same = question({ path: '/v2/effects', body: { name } });
    effectsApi.behave({
      [step]: () => {
        begin();
        return over;
      },
    });
    const first = ask(effectsApi.url, same);
    await begun;
    effectsApi.behave();
    for (const reply of await Promise.all(Array.from({ length: 20 }, () => ask(effectsApi.url, same))))
      expectInProgress(reply);
    expect((await ask(effectsApi.url, { ...same, idempotencyKey: randomUUID() })).status).toBe(201);
    end();
    const done = await first;
    expect([done.status, done.isReplayed]).toEqual([201, false]);
    expect(essence(await ask(effectsApi.url, same))).toEqual(essence(done));
    expect(await effectsApi.effects(name)).toBe(2);
  },
);

/** Makes the process take the key and hang in the middle of its transaction. The result waits for the reply. */
async function hangWith(
  web: PlatformProcess & { url: string },
  same: Question,
): Promise<() => Promise<Reply | null>> {
  const { promise: locked, resolve: lock } = Promise.withResolvers<void>();
  const { promise: over, resolve: end } = Promise.withResolvers<void>();
  // Creating a webhook locks its workspace, so the request waits there.
  const holder = transaction(async () => {
    await findWorkspaceForUpdate(own.workspaceId);
    lock();
    await over;
  });
  await locked;
  const reply = ask(web.url, same).catch(() => null);
  await waitFor('it has the key', async () => (await find(same.idempotencyKey!)) === 'locked');
  web.freeze();
  end();
  await holder;
  return () => reply;
}

// Shows F5
test('a process that hangs with a key holds up nobody, and whether it goes on or dies there is one effect', async () => {
  const web = await startWeb();
  for (const ending of ['goes-on', 'dies']) {
    const url = `https://example.com/${ending}`;
    const same = question({ path: '/v2/webhooks', body: { url, events: ['email.sent'] } });
    const replied = await hangWith(web, same);
    for (const { url: other } of webs) expectInProgress(await withoutWaiting(() => ask(other, same)));
    const others = Array.from({ length: 10 }, () => ask(webs[0]!.url, question({ body: newEmail(own) })));
    for (const { status } of await Promise.all(others)) expect(status).toBe(201);

    if (ending === 'goes-on') web.thaw();
    else await web.kill();
    expect((await replied())?.status).toBe(ending === 'goes-on' ? 201 : undefined);
    const done = await waitFor('it is done', async () => {
      const again = await ask(webs[1]!.url, same);
      return again.status === 201 && again;
    });
    expect(done.isReplayed).toBe(ending === 'goes-on');
    const listed = await ask(webs[0]!.url, { key: own.key, method: 'GET', path: '/v2/webhooks' });
    expect(listed.json().data.filter((webhook: { url: string }) => webhook.url === url)).toHaveLength(1);
  }
});

/** Sends an equal request to another process while this process is between its look-up and its transaction. */
async function meanwhile(other: Partial<Question>, prepare: () => unknown = () => undefined) {
  const same = question({ body: newEmail(own) });
  let first: Reply | undefined;
  effectsApi.behave({
    prepare: async () => {
      first = await ask(webs[0]!.url, { ...same, ...other });
      await prepare();
    },
  });
  const before = await effectsApi.effects('email');
  const second = await ask(effectsApi.url, same);
  effectsApi.behave();
  expect(first?.status).toBe(201);
  expect(await effectsApi.effects('email')).toBe(before);
  return { first: first!, second };
}

test('who finds the key taken when it comes to write gets the answer of who was first', async () => {
  const { first, second } = await meanwhile({});
  expect([essence(second), second.isReplayed]).toEqual([essence(first), true]);
});

test('who finds the key taken by another request is told so', async () => {
  const { second } = await meanwhile({ body: newEmail(own, { subject: 'Another' }) });
  expect([second.status, codeOf(second)]).toEqual([409, 'idempotency_key_reused']);
});

test('a refusal for what the same request did meanwhile gives way to the answer', async () => {
  const { first, second } = await meanwhile({}, () => {
    throw problem('name_taken');
  });
  expect([essence(second), second.isReplayed]).toEqual([essence(first), true]);
});

test('who waits in vain for the key is told that it is in progress, after one wait and with nothing done', async () => {
  const key = randomUUID();
  const fingerprint = Buffer.alloc(32);
  const attempt = { workspaceId: own.workspaceId, lineageId: own.keyId, key, fingerprint };
  const { promise: taken, resolve: take } = Promise.withResolvers<void>();
  const { promise: over, resolve: end } = Promise.withResolvers<void>();
  let holder: Promise<unknown> | undefined;
  const prepare = async () => {
    holder = transaction(async () => {
      await db.insertRecord(own.workspaceId, own.keyId, key, { fingerprint, expiresAt: now() });
      take();
      await over;
    });
    await taken;
    return async () => ({ answer: { status: 200, location: null, body: 'done' }, ending: null });
  };
  let transactions = 0;
  const impatient = <T>(work: () => Promise<T>) =>
    transaction(async () => {
      transactions += 1;
      await query('SET SESSION innodb_lock_wait_timeout = 1');
      try {
        return await work();
      } finally {
        await query('SET SESSION innodb_lock_wait_timeout = 5');
      }
    });
  await expect(idempotency.once(attempt, prepare, impatient)).rejects.toMatchObject({
    code: 'idempotency_in_progress',
  });
  expect(transactions).toBe(1);
  end();
  await holder;
});

test('a request that goes on after its first commit is in progress, until its time has run out', async () => {
  const body = newEmail(own, { clientReference: 'goes-on-later' });
  const same = question({ body });
  const done = await ask(webs[0]!.url, same);
  const changeRecord = (change: string) =>
    query(`UPDATE idempotency_records SET ${change} WHERE idempotency_key = ?`, [
      Buffer.from(same.idempotencyKey!),
    ]);
  await changeRecord('answer = NULL');
  expectInProgress(await ask(webs[1]!.url, same));
  const other = await ask(webs[1]!.url, { ...same, body: { ...body, subject: 'Another' } });
  expect(codeOf(other)).toBe('idempotency_key_reused');
  await changeRecord("expires_at = '2020-01-01'");
  const anew = await ask(webs[1]!.url, same);
  expect([anew.status, anew.isReplayed]).toEqual([201, false]);
  expect(anew.json().id).not.toBe(done.json().id);
});
