// @slow: it starts processes or servers of its own.
import { expect, test } from 'vitest';
import { config } from '../../../shared/config/config.ts';
import { query } from '../../../shared/db/client.ts';
import { listEventsOfRecord } from '../../../shared/db/events/events.ts';
import { idToBytes } from '../../../shared/formats/ids.ts';
import { startApi } from '../../support/api/start-api.ts';
import { sendSms, textingWorkspace } from '../../support/data/new-sms.ts';
import { forgetRedis, useDatabase } from '../../support/database/database.ts';
import { startWorkerProcess } from '../../support/processes/processes.ts';
import { runWorkers } from '../../support/processes/run-workers.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { advanceClock } from '../../support/time/advance-clock.ts';
import { waitFor } from '../../support/time/wait-for.ts';

useDatabase();

const texts = 60;
/** The phone that answers each text. */
const answering = '+447700900007';

test('a worker is killed and Redis emptied amid many texts: each phone has each text once, and one answer to it comes', async () => {
  const own = await textingWorkspace();
  const api = await startApi();
  changeSettings({ SIMULATOR_SECONDS: 0 });
  const sent: { id: string }[] = [];
  // Few at a time: on a busy machine the API refuses more writes of one workspace at once.
  for (let start = 0; start < texts; start += 10)
    sent.push(
      ...(await Promise.all(
        Array.from({ length: 10 }, (_, place) =>
          sendSms(api, own, {
            recipient: (start + place) % 3 === 0 ? answering : `+447700900${100 + start + place}`,
            content: `Text ${start + place}`,
          }),
        ),
      )),
    );
  const onPhones = async (direction: string): Promise<string[]> => {
    const rows = await query<{ content: string }[]>(
      'SELECT content FROM simulator_messages WHERE workspace_id = ? AND direction = ?',
      [idToBytes(own.workspaceId), direction],
    );
    return rows.map((row) => row['content']);
  };

  const worker = await startWorkerProcess(['send-sms', 'simulator-answer', 'sweep'], {
    SMS_CONCURRENCY: '5',
  });
  await waitFor('some have arrived', async () => (await onPhones('outbound')).length >= texts / 4, {
    intervalMs: 1,
  });
  await worker.kill();
  await forgetRedis();
  await advanceClock(config.LEASE_SECONDS * 1000 + 3_000);
  const workers = await runWorkers();

  const statuses = async () => {
    const { body } = await api.request('GET', '/v2/sms?direction=outbound&limit=200', { key: own.key });
    return body.data.filter(({ status }: { status: string }) => status === 'delivered').length;
  };
  await waitFor('all are delivered', async () => (await statuses()) === texts, { timeoutMs: 120_000 });
  await waitFor('all answers have come', async () => (await onPhones('inbound')).length >= texts / 3);

  await workers.stop();
  const arrived = await onPhones('outbound');
  expect([arrived.length, new Set(arrived).size]).toEqual([texts, texts]);
  const { body } = await api.request('GET', '/v2/sms?direction=inbound&limit=200', { key: own.key });
  expect(body.data).toHaveLength(texts / 3);
  for (const { id } of sent) {
    const events = await listEventsOfRecord(own.workspaceId, id);
    expect(events.map(({ type }) => type)).toEqual(['sms.queued', 'sms.sent', 'sms.delivered']);
  }
});
