// @slow: it starts processes or servers of its own.
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, expect, test } from 'vitest';
import { type Client, startApi } from '../../support/api/start-api.ts';
import { sendSms, smsOf, storeTexts, textingWorkspace } from '../../support/data/new-sms.ts';
import { useDatabase } from '../../support/database/database.ts';
import { startWorkerProcess } from '../../support/processes/processes.ts';
import { startSmsc } from '../../support/servers/smsc.ts';
import { waitFor } from '../../support/time/wait-for.ts';

useDatabase();

/** A carrier that takes two texts a second, while a batch has very many. */

const answerMs = 500;
const ofBatch = 1_000;

let api: Client;
beforeAll(async () => {
  api = await startApi();
});

test('a single text is among the next few that a slow carrier takes, however many of batches wait for it', async () => {
  const smsc = await startSmsc();
  smsc.submit = (_, count) => sleep(answerMs, { id: `m${count}` });
  const [large, small] = [await textingWorkspace(), await textingWorkspace()];
  const phone = (index: number) => `+4474000${String(index).padStart(5, '0')}`;
  const like = await smsOf(large, (await sendSms(api, large, { recipient: phone(0) })).id);
  await storeTexts({ ...like, lineageId: null, parked: true }, ofBatch, (index) => ({
    lane: 'bulk',
    recipient: phone(index + 1),
  }));
  const url = `smpp://acme:secret@127.0.0.1:${smsc.port}`;
  const worker = await startWorkerProcess(['send-sms', 'sweep'], {
    SMS_GATEWAYS: JSON.stringify([{ name: 'carrier', type: 'smpp', url, window: 1 }]),
  });
  await waitFor('the batch goes out', () => smsc.taken.length > 8, { timeoutMs: 60_000 });
  for (const [index, own] of [large, small].entries()) {
    const recipient = phone(90_000 + index);
    await sendSms(api, own, { recipient });
    const before = smsc.taken.length;
    const place = await waitFor(
      'it is taken',
      () => smsc.taken.findIndex(({ destination }) => destination.address === recipient.slice(1)) + 1,
      { timeoutMs: 60_000 },
    );
    expect(place - before).toBeLessThanOrEqual(4);
  }
  await worker.stop();
});
