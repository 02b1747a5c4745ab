import { beforeAll, expect, test } from 'vitest';
import { config } from '../../../shared/config/config.ts';
import { query } from '../../../shared/db/client.ts';
import * as smsBatches from '../../../shared/domain/sms/batches/batches.ts';
import { attempt } from '../../../shared/domain/sms/delivery/delivery.ts';
import * as waiting from '../../../shared/domain/work/waiting.ts';
import { idFromBytes, idToBytes } from '../../../shared/formats/ids.ts';
import { clientOf } from '../../support/api/api-client.ts';
import { importForm } from '../../support/api/form.ts';
import { type Client, startApi } from '../../support/api/start-api.ts';
import { batchOf, newBatch, statusesOf, workOff } from '../../support/data/new-batch.ts';
import { textingWorkspace } from '../../support/data/new-sms.ts';
import { type CommitCut, startCommitCut } from '../../support/database/commit-cut.ts';
import { forgetRedis, useDatabase } from '../../support/database/database.ts';
import { startWeb } from '../../support/processes/processes.ts';
import { advanceClock } from '../../support/time/advance-clock.ts';
import { waitFor } from '../../support/time/wait-for.ts';

useDatabase();

let mysql: CommitCut;
let survivor: Client;
beforeAll(async () => {
  mysql = await startCommitCut(config.MYSQL_URL);
  survivor = await startApi();
});

/** Starts a process, has it begin a piece of work, and kills it once the moment has come. */
async function killedAt(
  reached: () => Promise<unknown>,
  begin: (web: Client) => Promise<unknown>,
): Promise<void> {
  const web = await startWeb({ MYSQL_URL: mysql.url });
  const moment = reached();
  const cut = begin(clientOf(web.url)).catch(() => null);
  await moment;
  await web.kill();
  await cut;
}

const length = 3_000;
const csv = `number\n${Array.from({ length }, (_, index) => `+44740${`${index}`.padStart(7, '0')}`).join('\n')}\n`;

const moments: [string, isMade: boolean, reached: () => Promise<unknown>][] = [
  [
    'between two chunks of its rows',
    false,
    () => mysql.holdNext('after', /^COMMIT$/i, { behind: /INTO sms_batch_rows/ }),
  ],
  [
    'before its last COMMIT',
    false,
    () => mysql.holdNext('before', /^COMMIT$/i, { behind: /DELETE FROM sms_imports/ }),
  ],
  [
    'after its last COMMIT',
    true,
    () => mysql.holdNext('after', /^COMMIT$/i, { behind: /DELETE FROM sms_imports/ }),
  ],
];

// Shows F47
test.each(moments)(
  'a web process killed in an import, %s: nothing half done is seen, and the retry makes one batch',
  async (_name, isMade, reached) => {
    const own = await textingWorkspace();
    const form = importForm({ content: 'Hello' }, csv);
    const post = (api: Client) =>
      api.request('POST', '/v2/sms/batches/import', {
        key: own.key,
        body: form.body,
        headers: { ...form.headers, 'idempotency-key': 'import' },
      });
    const batches = async () =>
      (await survivor.request('GET', '/v2/sms/batches', { key: own.key })).body.data;
    const rows = async () => {
      const [found] = await query('SELECT COUNT(*) AS found FROM sms_batch_rows WHERE workspace_id = ?', [
        idToBytes(own.workspaceId),
      ]);
      return Number(found!['found']);
    };
    await killedAt(reached, post);
    expect(await rows()).toBeGreaterThan(0);
    expect(await batches()).toHaveLength(isMade ? 1 : 0);

    const made = await waitFor('the retry is answered', async () => {
      const answer = await post(survivor);
      return answer.status === 201 && answer;
    });
    expect(made.headers['idempotent-replayed']).toBe(isMade ? 'true' : undefined);
    expect((await batches()).map(({ id }: { id: string }) => id)).toEqual([made.body.id]);
    expect(made.body.counts).toMatchObject({ total: length, waiting: length });

    // The dead process cannot give up its rows: they are found once they have been left alone for long enough.
    await advanceClock(11 * 60_000);
    await smsBatches.deleteLeftImports();
    expect(await rows()).toBe(length);
    expect((await waiting.find(own.workspaceId)).waiting.messages).toBe(length);
    expect(await query('SELECT 1 FROM sms_imports')).toEqual([]);
    await workOff(made.body.id);
    expect(await statusesOf(made.body.id)).toEqual({ queued: length });
    expect((await batchOf(survivor, own, made.body.id)).counts).toMatchObject({ queued: length, waiting: 0 });
  },
  120_000,
);

// Shows F48
test('a web process killed while it writes clicks loses those alone, and an emptied Redis loses none', async () => {
  const own = await textingWorkspace();
  const { id } = await newBatch(survivor, own, {
    content: 'See https://x.example/a',
    messages: [{ recipient: '+447400123456' }],
    shortenLinks: true,
  });
  await workOff(id);
  const [text] = await query('SELECT id, content FROM sms_messages WHERE batch_id = ?', [idToBytes(id)]);
  await attempt(idFromBytes('sms', text!['id']));
  const path = /\/l\/[0-9A-Za-z]{9}/.exec(String(text!['content']))![0];
  const follow = async (api: Client) => {
    const headers = { 'user-agent': 'Mozilla/5.0 (iPhone) AppleWebKit/605.1.15' };
    expect((await api.request('GET', path, { headers })).headers['location']).toBe('https://x.example/a');
  };
  const shown = async () => {
    const { body } = await survivor.request('GET', `/v2/sms/batches/${id}/links`, { key: own.key });
    return body.data.map(({ clicks, clickedMessages }: any) => ({ clicks, clickedMessages }));
  };
  const before = await batchOf(survivor, own, id);

  const writesClicks = /^UPDATE [^]*STRAIGHT_JOIN short_links/;
  const written = () => mysql.holdNext('after', /^COMMIT$/i, { behind: writesClicks });
  const writing = () => mysql.holdNext('before', /^COMMIT$/i, { behind: writesClicks });
  await killedAt(written, follow);
  expect(await shown()).toEqual([{ clicks: 1, clickedMessages: 1 }]);
  await killedAt(writing, follow);
  expect(await shown()).toEqual([{ clicks: 1, clickedMessages: 1 }]);
  await forgetRedis();
  await follow(survivor);
  await waitFor('the click is written', async () => (await shown())[0].clicks > 1);
  expect(await shown()).toEqual([{ clicks: 2, clickedMessages: 1 }]);
  expect(await batchOf(survivor, own, id)).toEqual(before);
}, 120_000);
