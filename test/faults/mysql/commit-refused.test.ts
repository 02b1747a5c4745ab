// @apart: it makes the server refuse what every process of the platform sends, also while the file is closed.
// @slow: every kind of request meets a COMMIT that fails, at each of its places.
import { randomUUID } from 'node:crypto';
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { config } from '../../../shared/config/config.ts';
import { query } from '../../../shared/db/client.ts';
import { attempt as attemptEmail } from '../../../shared/domain/email/delivery/delivery.ts';
import * as relay from '../../../shared/domain/events/relay.ts';
import { idToBytes } from '../../../shared/formats/ids.ts';
import { codeOf } from '../../support/api/contract.ts';
import { type Client, startApi } from '../../support/api/start-api.ts';
import { acceptEmail } from '../../support/data/accepted-email.ts';
import { workspace } from '../../support/data/factory.ts';
import { newEmail } from '../../support/data/new-email.ts';
import { type CommitCut, startCommitCut } from '../../support/database/commit-cut.ts';
import { useDatabase } from '../../support/database/database.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { type SmtpSink, startSmtpSink } from '../../support/servers/smtp-sink.ts';
import { waitFor } from '../../support/time/wait-for.ts';

let line: CommitCut;
beforeAll(async () => {
  line = await startCommitCut(config.MYSQL_URL);
  changeSettings({ MYSQL_URL: line.url });
});
useDatabase();

let api: Client;
let sink: SmtpSink;
let own: Awaited<ReturnType<typeof workspace>>;
beforeAll(async () => {
  sink = await startSmtpSink();
  changeSettings({ SMTP_URL: sink.url });
  api = await startApi();
});
beforeEach(async () => {
  own = await workspace();
});
afterEach(async () => {
  line.pass();
  await query('DROP TRIGGER IF EXISTS refuse');
  await query('DROP PROCEDURE IF EXISTS commit_and_fail');
});

const say = (number: number) => `SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = ${number}`;

/** The size of the body decides how the email is committed: a small one together with others, a large one alone. */
const sizes = { small: 'A text', large: 'A text. '.repeat(20_000) };

function caller(text: string) {
  const idempotencyKey = randomUUID();
  return () =>
    api.request('POST', '/v2/email', {
      key: own.key,
      headers: { 'idempotency-key': idempotencyKey },
      body: newEmail(own, { content: { text } }),
    });
}

async function expectRefused(refused: Awaited<ReturnType<Client['request']>>): Promise<void> {
  expect(refused.status).toBe(503);
  expect(refused.body.type).toBe(`${api.url}/problems/service_unavailable`);
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
  expect(JSON.stringify(refused.body)).not.toMatch(/MariaDB|MySQL|SIGNAL|HY000|errno|unhandled/i);
}

async function expectOne(id: string): Promise<void> {
  const listed = await api.request('GET', '/v2/email', { key: own.key });
  expect(listed.body.data.map((email: { id: string }) => email.id)).toEqual([id]);
  const feed = await query('SELECT type FROM events WHERE workspace_id = ?', [idToBytes(own.workspaceId)]);
  expect(feed).toEqual([{ type: 'email.queued' }]);
}

// Shows F25, F39
test.each(
  [1047, 1290, 1792, 1836, 3100, 3101, 1180, 3032].flatMap((number) =>
    (['small', 'large'] as const).map((size) => [number, size] as const),
  ),
)(
  'a server that refuses every write with %i is a 503 to a %s email, which its retry sends once',
  async (number, size) => {
    const post = caller(sizes[size]);
    await query(`CREATE TRIGGER refuse BEFORE INSERT ON emails FOR EACH ROW ${say(number)}`);
    await expectRefused(await post());
    await query('DROP TRIGGER refuse');
    const accepted = await post();
    expect([accepted.status, accepted.headers['idempotent-replayed']]).toEqual([201, undefined]);
    await expectOne(accepted.body.id);
  },
);

// Shows F24
test.each(['small', 'large'] as const)(
  'where a group takes back the COMMIT of a %s email for another’s (3101), it is done again, and accepted once',
  async (size) => {
    const replaced = line.replaceNext(say(3101));
    const accepted = await caller(sizes[size])();
    await replaced;
    expect(accepted.status).toBe(201);
    await expectOne(accepted.body.id);
  },
);

// Shows F24
test('where every COMMIT is taken back for another’s, the caller is told to come back', async () => {
  const post = caller(sizes.large);
  for (let attempt = 1; attempt <= 5; attempt += 1) void line.replaceNext(say(3101));
  await expectRefused(await post());
  expect((await api.request('GET', '/v2/email', { key: own.key })).body.data).toEqual([]);
  expect((await post()).status).toBe(201);
});

// Shows F22
test.each(
  [1180, 3100].flatMap((number) =>
    (['small', 'large'] as const).flatMap((size) =>
      (['done', 'not done'] as const).map((fate) => [number, size, fate] as const),
    ),
  ),
)(
  'a COMMIT that fails with %i, of a %s email, and is %s all the same, is a 503, and its retry ends with one email',
  async (number, size, fate) => {
    await query(`CREATE PROCEDURE commit_and_fail() BEGIN COMMIT; ${say(number)}; END`);
    const post = caller(sizes[size]);
    const replaced = line.replaceNext(fate === 'done' ? 'CALL commit_and_fail()' : say(number));
    await expectRefused(await post());
    await replaced;
    // While the server still rolls back the refused transaction, the answer is idempotency_in_progress.
    const done = await waitFor('the first is over', async () => {
      const answer = await post();
      return codeOf(answer.body) !== 'idempotency_in_progress' && answer;
    });
    expect([done.status, done.headers['idempotent-replayed']]).toEqual([
      201,
      fate === 'done' ? 'true' : undefined,
    ]);
    await expectOne(done.body.id);
  },
);

// Shows F24
test.each([3101, 1213])(
  'an outcome whose COMMIT is taken back with %i is written again, and its email goes out once',
  async (number) => {
    const recipient = `${randomUUID()}@example.com`;
    const email = await acceptEmail(own, { recipient });
    const replaced = line.replaceNext(say(number));
    await attemptEmail(email.id);
    await replaced;
    expect(await email.read()).toMatchObject({ status: 'sent', dueAt: null });
    expect(await email.eventTypes()).toEqual(['email.queued', 'email.sent']);
    expect(sink.messages.filter(({ envelope }) => envelope.to.includes(recipient))).toHaveLength(1);
  },
);

test.each([3101, 1213])('events are numbered once where the COMMIT is taken back with %i', async (number) => {
  await acceptEmail(own);
  const replaced = line.replaceNext(say(number));
  await relay.relayAll();
  await replaced;
  const numbered = await query(
    'SELECT position FROM events WHERE workspace_id = ? AND position IS NOT NULL',
    [idToBytes(own.workspaceId)],
  );
  expect(numbered).toHaveLength(1);
});
