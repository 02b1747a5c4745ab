// @slow: it starts, stops and breaks processes of the platform.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { config } from '../../shared/config/config.ts';
import { query } from '../../shared/db/client.ts';
import { type Answer, type Client, clientOf } from '../support/api/api-client.ts';
import { startApi } from '../support/api/start-api.ts';
import { workspace } from '../support/data/factory.ts';
import { newEmail } from '../support/data/new-email.ts';
import { useDatabase } from '../support/database/database.ts';
import { startWeb } from '../support/processes/processes.ts';
import { startTcpProxy } from '../support/servers/tcp-proxy.ts';
import { waitFor } from '../support/time/wait-for.ts';

useDatabase();

/** As many kills as there are kinds of moments, and more only where none has met the rare kind. */
const [kills, mostKills] = [2, 8];
const requestsPerKill = 20;
/** Each statement is delayed both ways, so that a kill meets staggered requests at all of their steps. */
const delayMs = 20;

type Sent = { idempotencyKey: string; answer: Answer | null };
type Own = Awaited<ReturnType<typeof workspace>>;

function post(api: Client, own: Own, idempotencyKey: string): Promise<Answer> {
  return api.request('POST', '/v2/email', {
    key: own.key,
    headers: { 'idempotency-key': idempotencyKey },
    body: newEmail(own, { clientReference: idempotencyKey }),
  });
}

/** Starts a web process with a proxy of its own to the database, and opens its connections with some requests. */
async function startVictim(own: Own) {
  const line = await startTcpProxy(config.MYSQL_URL, 3306);
  const web = await startWeb({ MYSQL_URL: line.url });
  const api = clientOf(web.url);
  await Promise.all(Array.from({ length: requestsPerKill }, () => post(api, own, randomUUID())));
  return { web, api, line };
}

/** Returns whether MySQL has committed a request of the batch that has no answer, or none yet. */
async function oneIsUnanswered(batch: Sent[]): Promise<boolean> {
  const keys = batch.filter(({ answer }) => !answer).map(({ idempotencyKey }) => Buffer.from(idempotencyKey));
  const rows = await query<{ id: Buffer }[]>(
    'SELECT idempotency_key AS id FROM idempotency_records WHERE idempotency_key IN (?)',
    [keys],
  );
  return rows.some(({ id }) => batch.some((sent) => sent.idempotencyKey === id.toString() && !sent.answer));
}

// Shows F1, F2, F3
test('web processes killed with requests in flight: every retry ends with one email for its key', async () => {
  const own = await workspace();
  let next = startVictim(own);
  const survivor = await startApi();
  const sent: Sent[] = [];
  let isRareMet = false;
  for (let kill = 0; kill < kills || (!isRareMet && kill < mostKills); kill += 1) {
    const { web, api, line } = await (kill < kills ? next : startVictim(own));
    if (kill + 1 < kills) next = startVictim(own);
    line.delay(delayMs);
    const batch = Array.from(
      { length: requestsPerKill },
      (): Sent => ({ idempotencyKey: randomUUID(), answer: null }),
    );
    sent.push(...batch);
    const over = batch.map(async (one, index) => {
      // The pause puts the requests at different steps.
      await sleep(index * 2 * delayMs);
      one.answer = await post(api, own, one.idempotencyKey).catch(() => null);
    });
    // The second kill waits for the rare moment after the commit and before the answer. The answer may still come before
    // the kill does; then there is another kill.
    if (kill > 0) await waitFor('one is committed', () => oneIsUnanswered(batch), { intervalMs: 1 });
    else
      await waitFor('some are answered', () => batch.filter(({ answer }) => answer).length >= 4, {
        intervalMs: 1,
      });
    await web.kill();
    line.close();
    await Promise.all(over);
    isRareMet = kill > 0 && (await oneIsUnanswered(batch));
  }

  const retries = await Promise.all(
    sent.map((one) =>
      waitFor('the retry is answered', async () => {
        const retry = await post(survivor, own, one.idempotencyKey);
        if (![201, 409].includes(retry.status)) throw new Error(JSON.stringify(retry.body));
        return retry.status === 201 && { ...one, retry };
      }),
    ),
  );
  for (const { idempotencyKey, answer, retry } of retries) {
    const path = `/v2/email?clientReference=${idempotencyKey}`;
    const { body } = await survivor.request('GET', path, { key: own.key });
    expect(body.data.map(({ id }: { id: string }) => id)).toEqual([retry.body.id]);
    if (answer) expect([retry.body, retry.headers['idempotent-replayed']]).toEqual([answer.body, 'true']);
  }
  // The kills have met requests that were committed but not answered, and requests that were not committed.
  const unanswered = retries.filter(({ answer }) => answer === null);
  const replayed = unanswered.filter(({ retry }) => retry.headers['idempotent-replayed'] === 'true');
  expect(replayed.length).toBeGreaterThan(0);
  expect(replayed.length).toBeLessThan(unanswered.length);
});
