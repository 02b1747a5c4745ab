// @slow: it starts, stops and breaks processes of the platform.
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, expect, test } from 'vitest';
import { config } from '../../../shared/config/config.ts';
import { query } from '../../../shared/db/client.ts';
import * as apiKeys from '../../../shared/domain/api-keys/api-keys.ts';
import * as callers from '../../../shared/domain/api-keys/callers.ts';
import * as smsBatches from '../../../shared/domain/sms/batches/batches.ts';
import { attempt } from '../../../shared/domain/sms/delivery/delivery.ts';
import * as waiting from '../../../shared/domain/work/waiting.ts';
import { idFromBytes, idToBytes } from '../../../shared/formats/ids.ts';
import { clientOf } from '../../support/api/api-client.ts';
import { importForm } from '../../support/api/form.ts';
import { type Client, startApi } from '../../support/api/start-api.ts';
import { batchOf, messagesTo, newBatch, statusesOf, workOff } from '../../support/data/new-batch.ts';
import { textingWorkspace } from '../../support/data/new-sms.ts';
import { type CommitCut, startCommitCut } from '../../support/database/commit-cut.ts';
import { forgetRedis, useDatabase } from '../../support/database/database.ts';
import { startWeb, startWorkerProcess } from '../../support/processes/processes.ts';
import { advanceClock } from '../../support/time/advance-clock.ts';
import { waitFor } from '../../support/time/wait-for.ts';
import { sized } from '../long-form.ts';
import { randomOf } from '../storm/random.ts';

useDatabase();

let mysql: CommitCut;
let survivor: Client;
let doomed: Awaited<ReturnType<typeof startWeb>>[];
beforeAll(async () => {
  mysql = await startCommitCut(config.MYSQL_URL);
  survivor = await startApi();
  // One process for each moment of an import at which the test below kills it; all start at once.
  const settings = { MYSQL_URL: mysql.url };
  doomed = await Promise.all(moments.map(() => startWeb(settings)));
});

type Work = { reached: () => Promise<unknown>; begin: (web: Client) => Promise<unknown> };

/** Lets a web process begin one work after the other, each of which comes to a moment, and then kills the process. */
async function killedAt(works: Work[]): Promise<void> {
  const web = doomed.pop()!;
  const cut: Promise<unknown>[] = [];
  for (const { reached, begin } of works) {
    const moment = reached();
    cut.push(begin(clientOf(web.url)).catch(() => null));
    await moment;
  }
  await web.kill();
  await Promise.all(cut);
}

const rowsOf = async (workspaceId: string) => {
  const [found] = await query('SELECT COUNT(*) AS found FROM sms_batch_rows WHERE workspace_id = ?', [
    idToBytes(workspaceId),
  ]);
  return Number(found!['found']);
};
const waitingOf = async (workspaceId: string) => (await waiting.find(workspaceId)).waiting.messages;
const postFile = (api: Client, key: string, idempotencyKey: string) =>
  api.request('POST', '/v2/sms/batches/import', {
    key,
    body: form.body,
    headers: { ...form.headers, 'idempotency-key': idempotencyKey },
  });
const browser = { 'user-agent': 'Mozilla/5.0 (iPhone) AppleWebKit/605.1.15' };
/** After this time the rows of an unfinished import count as abandoned. */
const leftAfterMs = 11 * 60_000;

/** Rows are written and deleted 2,000 at a time, so this number takes two chunks. */
const length = 2_100;
const csv = `number\n${Array.from({ length }, (_, index) => `+44740${`${index}`.padStart(7, '0')}`).join('\n')}\n`;
const form = importForm({ content: 'Hello' }, csv);

/** Makes a text with a short link. Returns how to follow the link, and the clicks that the platform shows. */
async function linked() {
  const own = await textingWorkspace();
  const { id } = await newBatch(survivor, own, {
    content: 'See https://x.example/a',
    messages: [{ recipient: '+447400123456' }],
    shortenLinks: true,
  });
  await workOff(id);
  const [text] = await query<{ id: Buffer; content: string }[]>(
    'SELECT id, content FROM sms_messages WHERE batch_id = ?',
    [idToBytes(id)],
  );
  await attempt(idFromBytes('sms', text!.id));
  const path = /\/l\/[0-9A-Za-z]{9}/.exec(text!.content)![0];
  const before = await batchOf(survivor, own, id);
  return {
    follow: async (api: Client) => {
      const answer = await api.request('GET', path, { headers: browser });
      expect(answer.headers['location']).toBe('https://x.example/a');
    },
    /** Also checks that the batch is as it was. */
    shown: async () => {
      expect(await batchOf(survivor, own, id)).toEqual(before);
      const { body } = await survivor.request('GET', `/v2/sms/batches/${id}/links`, { key: own.key });
      const [{ clicks, clickedMessages }] = body.data;
      return { clicks, clickedMessages };
    },
  };
}

const ofClick = { behind: /^UPDATE [^]*STRAIGHT_JOIN short_links/ };
const lastOfImport = { behind: /DELETE FROM sms_imports/ };
type Reached = () => Promise<unknown>;
/** Where a process is killed: in an import, and perhaps in the writing of a click, too. */
const moments: [string, isMade: boolean, inImport: Reached, inClick?: { kept: number; reached: Reached }][] =
  [
    [
      'between two chunks of its rows, when it has written a click',
      false,
      () => mysql.holdNext('after', /^COMMIT$/i, { behind: /INTO sms_batch_rows/ }),
      { kept: 1, reached: () => mysql.holdNext('after', /^COMMIT$/i, ofClick) },
    ],
    [
      'before its last COMMIT, while it writes a click',
      false,
      () => mysql.holdNext('before', /^COMMIT$/i, lastOfImport),
      { kept: 0, reached: () => mysql.holdNext('before', /^COMMIT$/i, ofClick) },
    ],
    ['after its last COMMIT', true, () => mysql.holdNext('after', /^COMMIT$/i, lastOfImport)],
  ];

// Shows F47, F48
test.each(moments)(
  'a web process killed in an import, %s: nothing half done is seen, the retry makes one batch, and only clicks that were not written are lost',
  async (_name, isMade, inImport, inClick) => {
    const own = await textingWorkspace();
    const link = await linked();
    const post = (api: Client) => postFile(api, own.key, 'import');
    const batches = async () =>
      (await survivor.request('GET', '/v2/sms/batches', { key: own.key })).body.data;
    const rows = () => rowsOf(own.workspaceId);
    const clicking = inClick ? [{ reached: inClick.reached, begin: link.follow }] : [];
    await killedAt([...clicking, { reached: inImport, begin: post }]);
    const kept = inClick?.kept ?? 0;
    expect(await link.shown()).toEqual({ clicks: kept, clickedMessages: kept });
    expect(await rows()).toBeGreaterThan(0);
    expect(await batches()).toHaveLength(isMade ? 1 : 0);

    const made = await waitFor('the retry is answered', async () => {
      const answer = await post(survivor);
      return answer.status === 201 && answer;
    });
    expect(made.headers['idempotent-replayed']).toBe(isMade ? 'true' : undefined);
    expect((await batches()).map(({ id }: { id: string }) => id)).toEqual([made.body.id]);
    expect(made.body.counts).toMatchObject({ total: length, waiting: length });

    // The dead process cannot release its rows, so they are found only after `leftAfterMs`.
    await advanceClock(leftAfterMs);
    await smsBatches.deleteLeftImports();
    expect(await rows()).toBe(length);
    expect(await waitingOf(own.workspaceId)).toBe(length);
    expect(await query('SELECT 1 FROM sms_imports')).toEqual([]);
    await workOff(made.body.id);
    expect(await statusesOf(made.body.id)).toEqual({ queued: length });
    expect((await batchOf(survivor, own, made.body.id)).counts).toMatchObject({ queued: length, waiting: 0 });

    // The next click counts once, beside what was kept.
    await link.follow(survivor);
    await waitFor('the next click is written', async () => (await link.shown()).clicks > kept);
    expect(await link.shown()).toEqual({ clicks: kept + 1, clickedMessages: 1 });
  },
);

// Shows F48
test('an emptied Redis loses no click', async () => {
  const { follow, shown } = await linked();
  for (const clicks of [1, 2]) {
    await forgetRedis();
    await follow(survivor);
    await waitFor('the click is written', async () => (await shown()).clicks >= clicks);
    expect(await shown()).toEqual({ clicks, clickedMessages: 1 });
  }
});

// Shows F50
test('a worker killed while it deletes what an import has left: no row is forgotten, none counted twice', async () => {
  const { workspaceId } = await textingWorkspace();
  const { key } = await apiKeys.issue(workspaceId, {});
  const caller = (await callers.authenticate(key, async () => true))!;
  async function* file() {
    yield Buffer.from(csv);
  }
  await smsBatches.prepareImport(caller, { content: 'Hello' }, file);
  expect(await waitingOf(workspaceId)).toBe(length);
  await advanceClock(leftAfterMs);
  const someDeleted = /^DELETE FROM sms_batch_rows/;
  for (const moment of ['before', 'after'] as const) {
    // With an empty Redis the worker makes the repeating jobs anew when it starts, so that they run at once.
    await forgetRedis();
    const reached = mysql.holdNext(moment, /^COMMIT$/i, { behind: someDeleted });
    const worker = await startWorkerProcess(['purge-expired'], { MYSQL_URL: mysql.url });
    await reached;
    await worker.kill();
    const rest = moment === 'before' ? length : length - 2_000;
    // MySQL rolls back the open transaction of the dead worker.
    await waitFor('its rows are free', async () => (await rowsOf(workspaceId)) === rest);
    expect(await waitingOf(workspaceId)).toBe(rest);
  }
  await smsBatches.deleteLeftImports();
  expect([await rowsOf(workspaceId), await waitingOf(workspaceId)]).toEqual([0, 0]);
  expect(await query('SELECT 1 FROM sms_imports')).toEqual([]);
  const counts = 'SELECT 1 FROM sms_batch_counts WHERE workspace_id = ?';
  expect(await query(counts, [idToBytes(workspaceId)])).toEqual([]);
});

const kills = sized(1, 20);
/** SMS_IMPORT_SEED repeats a run. */
const seed = Number(process.env['SMS_IMPORT_SEED'] ?? Date.now() % 100_000);
const linksPerKill = 40;

// Shows F47, F48
test(
  `web killed at any moment of imports and clicks: each file is one batch, each click counts once, and only the last of each process are lost (seed ${seed})`,
  async () => {
    const random = randomOf(seed);
    const own = await textingWorkspace();
    const { id } = await newBatch(survivor, own, {
      content: 'See https://x.example/a',
      messages: messagesTo(kills * linksPerKill),
      shortenLinks: true,
    });
    await workOff(id);
    // Marks all texts as handed over, so that nothing is left to send.
    await query('UPDATE sms_messages SET handover_at = created_at WHERE batch_id = ?', [idToBytes(id)]);
    const texts = await query('SELECT id, content FROM sms_messages WHERE batch_id = ? ORDER BY id', [
      idToBytes(id),
    ]);
    const paths = texts.map(({ content }) => /\/l\/[0-9A-Za-z]{9}/.exec(String(content))![0]);

    const asked: number[] = [];
    for (let round = 0; round < kills; round += 1) {
      const web = await startWeb();
      const api = clientOf(web.url);
      const cut = postFile(api, own.key, `file-${round}`).catch(() => null);
      const clicking = (async () => {
        for (const place of Array(linksPerKill).keys()) {
          asked[round] = place + 1;
          await api.request('GET', paths[round * linksPerKill + place]!, { headers: browser });
          await sleep(random() * 60);
        }
      })().catch(() => null);
      await sleep(random() * 1_500);
      await web.kill();
      await Promise.all([cut, clicking]);
      // A dead import occupies one of the two places for imports for a minute.
      await advanceClock(61_000);
    }

    const made: string[] = [];
    for (let round = 0; round < kills; round += 1) {
      const answer = await waitFor('the retry is answered', async () => {
        const one = await postFile(survivor, own.key, `file-${round}`);
        return one.status === 201 && one;
      });
      expect(answer.body.counts.total).toBe(length);
      made.push(answer.body.id);
    }
    const { body } = await survivor.request('GET', '/v2/sms/batches?limit=200', { key: own.key });
    const shown: string[] = body.data.map((batch: { id: string }) => batch.id);
    expect(new Set(shown)).toEqual(new Set([id, ...made]));
    expect(shown).toHaveLength(made.length + 1);
    await advanceClock(leftAfterMs);
    await smsBatches.deleteLeftImports();
    for (const batchId of made) {
      const [found] = await query(
        'SELECT COUNT(*) AS found, COUNT(DISTINCT position) AS places, COUNT(DISTINCT number) AS numbers FROM sms_batch_rows WHERE batch_id = ?',
        [idToBytes(batchId)],
      );
      expect([found!['found'], found!['places'], found!['numbers']].map(Number)).toEqual([
        length,
        length,
        length,
      ]);
    }
    expect(await waitingOf(own.workspaceId)).toBe(kills * (length + linksPerKill));
    expect(await query('SELECT 1 FROM sms_imports')).toEqual([]);

    const links = await query('SELECT clicks FROM short_links WHERE batch_id = ? ORDER BY sms_id', [
      idToBytes(id),
    ]);
    const clicks = links.map((link) => Number(link['clicks']));
    for (let round = 0; round < kills; round += 1) {
      const counted = clicks.slice(round * linksPerKill, (round + 1) * linksPerKill);
      const kept = counted.indexOf(0) < 0 ? linksPerKill : counted.indexOf(0);
      expect(kept).toBeLessThanOrEqual(asked[round] ?? 0);
      expect(counted).toEqual(counted.map((_, place) => (place < kept ? 1 : 0)));
    }
    const [total] = await query('SELECT clicks, clicked_messages FROM short_link_totals WHERE batch_id = ?', [
      idToBytes(id),
    ]);
    const sum = clicks.reduce((all, one) => all + one, 0);
    expect([Number(total!['clicks']), Number(total!['clicked_messages'])]).toEqual([sum, sum]);
  },
  120_000 + kills * 30_000,
);
