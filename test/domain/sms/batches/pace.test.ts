import { beforeAll, beforeEach, expect, test } from 'vitest';
import { query } from '../../../../shared/db/client.ts';
import { nextPace } from '../../../../shared/domain/sms/batches/work/pace.ts';
import { idToBytes } from '../../../../shared/formats/ids.ts';
import { type Client, startApi } from '../../../support/api/start-api.ts';
import { messagesTo, newBatch, workOff } from '../../../support/data/new-batch.ts';
import { sendSms, textingWorkspace } from '../../../support/data/new-sms.ts';
import { forgetRedis, useDatabase } from '../../../support/database/database.ts';
import { waitFor } from '../../../support/time/wait-for.ts';

useDatabase();

let api: Client;
let own: Awaited<ReturnType<typeof textingWorkspace>>;
beforeAll(async () => {
  api = await startApi();
});
beforeEach(async () => {
  await forgetRedis();
  own = await textingWorkspace();
});

/** Returns the sizes of the chunks in which a new batch made its messages; those of a chunk have one creation time. */
async function chunksOf(rows: number): Promise<number[]> {
  const { id } = await newBatch(api, own, { messages: messagesTo(rows) });
  await workOff(id);
  const chunks = await query(
    'SELECT COUNT(*) AS messages FROM sms_messages WHERE batch_id = ? GROUP BY created_at ORDER BY created_at',
    [idToBytes(id)],
  );
  return chunks.map(({ messages }) => Number(messages));
}

test('a batch that nobody stands beside is made in chunks of 500', async () => {
  await waitFor('no single text is remembered', async () => (await nextPace()).rows === 500);
  expect(await chunksOf(600)).toEqual([500, 100]);
});

test("while another's single text waits to go out, chunks are a tenth of that, and the batch still comes to its end", async () => {
  const other = await textingWorkspace();
  await sendSms(api, other);
  // A process looks at the waiting texts only from time to time.
  await waitFor('it is seen', async () => (await nextPace()).rows === 50);
  expect(await chunksOf(120)).toEqual([50, 50, 20]);
});

test('a text that is scheduled for later does not slow a batch down', async () => {
  await waitFor('no single text is remembered', async () => (await nextPace()).rows === 500);
  const scheduledAt = new Date(Date.now() + 6 * 60_000).toISOString();
  await sendSms(api, own, { scheduledAt });
  expect(await chunksOf(150)).toEqual([150]);
});
