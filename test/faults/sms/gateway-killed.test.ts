// @slow: it starts, stops and breaks processes of the platform.
import { expect, test } from 'vitest';
import { config } from '../../../shared/config/config.ts';
import { gatewayList } from '../../../shared/config/sms-gateways.ts';
import { query } from '../../../shared/db/client.ts';
import * as senders from '../../../shared/domain/senders/senders.ts';
import { startApi } from '../../support/api/start-api.ts';
import { sendSms, smsOf, textingWorkspace } from '../../support/data/new-sms.ts';
import { useDatabase } from '../../support/database/database.ts';
import { startWorkerProcess } from '../../support/processes/processes.ts';
import { runWorkers } from '../../support/processes/run-workers.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { type Smsc, startSmsc } from '../../support/servers/smsc.ts';
import { advanceClock } from '../../support/time/advance-clock.ts';
import { waitFor } from '../../support/time/wait-for.ts';

useDatabase();

const number = '+447407000099';
const [person, recipient] = ['447407000001', '+447407000002'];
const receipts = 15;
const unanswered = 5;
/** So many contents of the carrier have no acknowledgement, from the first moment until the worker is killed. */
const outstanding = 100;
/** The worker is killed at this acknowledgement. */
const lastAcknowledged = 30;

/** Delivers the contents to the newest connection, the next as soon as one is answered, until all are acknowledged. */
function carrierOf(smsc: Smsc, contents: readonly string[], acknowledge: (content: string) => void) {
  const out = new Map<number, string>();
  const left = [...contents];
  const deliver = () => {
    while (left.length > 0 && out.size < outstanding) {
      const content = left.shift()!;
      const sequence = smsc.deliver({
        esmClass: content.startsWith('id:') ? 4 : 0,
        source: { ton: 1, npi: 1, address: person },
        destination: { ton: 1, npi: 1, address: number.slice(1) },
        message: Buffer.from(content),
      });
      out.set(sequence, content);
    }
  };
  smsc.onAnswer = ({ sequence, status }) => {
    const content = out.get(sequence);
    if (content === undefined) return;
    out.delete(sequence);
    if (status !== 0) left.push(content);
    deliver();
    if (status === 0) acknowledge(content);
  };
  return {
    deliver,
    outstanding: () => out.size,
    /** Notes that the connection is lost, so that contents without an answer are delivered again. */
    lineIsGone: () => {
      left.unshift(...out.values());
      out.clear();
    },
  };
}

// Shows F49
test('a worker is killed while 100 texts and receipts wait for it all the time: none is lost, none is acknowledged before it is kept, none is there twice', async () => {
  const smsc = await startSmsc();
  const list = JSON.stringify([
    { name: 'carrier', type: 'smpp', url: `smpp://acme:secret@127.0.0.1:${smsc.port}`, window: 50 },
  ]);
  const [api, worker, own] = await Promise.all([
    startApi(),
    startWorkerProcess(['send-sms'], { SMS_GATEWAYS: list }),
    textingWorkspace(),
  ]);
  const { id } = await senders.addNumber(own.workspaceId, ['GB']);
  await senders.assignNumber(id, number);
  const send = async () => (await sendSms(api, own, { recipient, content: 'To a phone' })).id as string;
  const sent = await Promise.all(Array.from({ length: receipts }, send));
  await waitFor('all are sent', async () => {
    const rows = await query("SELECT COUNT(*) AS n FROM sms_messages WHERE status = 'sent'");
    return rows[0]!.n === receipts;
  });
  smsc.submit = () => 'silence';
  const silent = await Promise.all(Array.from({ length: unanswered }, send));
  await waitFor(
    'the carrier has those that it does not answer',
    // On a slow machine the first ones come again before the last one has come.
    () => smsc.taken.length >= receipts + unanswered,
  );

  const received = async () => {
    const rows = await query("SELECT content FROM sms_messages WHERE direction = 'inbound'");
    return rows.map((row) => row.content as string);
  };
  const delivered = async () => {
    const rows = await query<{ gateway_reference: string }[]>(
      "SELECT gateway_reference FROM sms_messages WHERE status = 'delivered'",
    );
    return rows.map((row) => `id:${row.gateway_reference} stat:DELIVRD`);
  };
  // A receipt with every tenth text.
  const texts = Array.from({ length: 10 * receipts }, (_, index) => `Text ${index}`);
  const contents = texts.flatMap((text, index) =>
    index % 10 === 0 ? [text, `id:m${index / 10 + 1} stat:DELIVRD`] : [text],
  );
  const acknowledged = new Set<string>();
  let outstandingAtKill = 0;
  const carrier = carrierOf(smsc, contents, (content) => {
    acknowledged.add(content);
    if (acknowledged.size !== lastAcknowledged) return;
    outstandingAtKill = carrier.outstanding();
    void worker.kill();
  });
  carrier.deliver();
  await waitFor(
    'the worker is killed, and the line is gone',
    () => !worker.isRunning() && smsc.connections() === 0,
  );
  expect(outstandingAtKill).toBe(outstanding);
  carrier.lineIsGone();
  const kept = new Set([...(await received()), ...(await delivered())]);
  expect([...acknowledged].filter((content) => !kept.has(content))).toEqual([]);

  smsc.submit = (_, count) => ({ id: `m${count}` });
  changeSettings({ SMS_GATEWAYS: gatewayList.parse(list) });
  await advanceClock(config.LEASE_SECONDS * 1000 + 3_000);
  const workers = await runWorkers(['send-sms', 'sweep']);
  await waitFor('a worker is bound again', () => smsc.binds.length === 2);
  carrier.deliver();
  await waitFor('all are acknowledged', () => acknowledged.size === contents.length, { timeoutMs: 120_000 });
  await waitFor('what had no answer goes out again', async () => {
    const ends = await Promise.all(silent.map((one) => smsOf(own, one)));
    return ends.every(({ status, uncertainCount }) => status === 'sent' && uncertainCount === 1);
  });
  await workers.stop();
  expect((await received()).toSorted()).toEqual(texts.toSorted());
  for (const one of sent)
    expect((await smsOf(own, one)).eventTypes).toEqual(['sms.queued', 'sms.sent', 'sms.delivered']);
  // Each text that had no answer has one more copy, and no other text has.
  expect(smsc.taken).toHaveLength(receipts + 2 * unanswered);
});
