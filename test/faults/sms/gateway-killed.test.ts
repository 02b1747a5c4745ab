import { setTimeout as sleep } from 'node:timers/promises';
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
const everyMs = 10;
const receipts = 15;
const unanswered = 5;

/** Delivers each content to the newest connection, one every 10 ms, and repeats it until it is acknowledged. */
function carrierOf(smsc: Smsc, contents: readonly string[]) {
  const out = new Map<number, string>();
  const left = [...contents];
  const acknowledged = new Set<string>();
  let isOver = false;
  const note = () => {
    for (const [sequence, content] of out) {
      const answer = smsc.answers.get(sequence);
      if (!answer) continue;
      out.delete(sequence);
      if (answer.status === 0) acknowledged.add(content);
      else left.push(content);
    }
  };
  const run = async () => {
    while (!isOver) {
      note();
      const content = smsc.connections() > 0 ? left.shift() : undefined;
      if (content !== undefined) {
        const isReceipt = content.startsWith('id:');
        const sequence = smsc.deliver({
          esmClass: isReceipt ? 4 : 0,
          source: { ton: 1, npi: 1, address: person },
          destination: { ton: 1, npi: 1, address: number.slice(1) },
          message: Buffer.from(content),
        });
        out.set(sequence, content);
      }
      await sleep(everyMs);
    }
  };
  const running = run();
  return {
    acknowledged,
    /** Notes that the connection is lost, so that contents without an answer are delivered again. */
    lineIsGone: () => {
      note();
      left.unshift(...out.values());
      out.clear();
    },
    stop: () => {
      isOver = true;
      return running;
    },
  };
}

// Shows F49
test('a worker is killed amid 100 texts and receipts a second: none is lost, none is acknowledged before it is kept, none is there twice', async () => {
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
  // A receipt with every fifth text.
  const texts = Array.from({ length: 5 * receipts }, (_, index) => `Text ${index}`);
  const contents = texts.flatMap((text, index) =>
    index % 5 === 0 ? [text, `id:m${index / 5 + 1} stat:DELIVRD`] : [text],
  );
  const carrier = carrierOf(smsc, contents);
  await waitFor('some are acknowledged', () => carrier.acknowledged.size >= 2 * receipts, { intervalMs: 1 });
  await worker.kill();
  await waitFor('the line is gone', () => smsc.connections() === 0);
  carrier.lineIsGone();
  const kept = new Set([...(await received()), ...(await delivered())]);
  expect([...carrier.acknowledged].filter((content) => !kept.has(content))).toEqual([]);

  smsc.submit = (_, count) => ({ id: `m${count}` });
  changeSettings({ SMS_GATEWAYS: gatewayList.parse(list) });
  await advanceClock(config.LEASE_SECONDS * 1000 + 3_000);
  const workers = await runWorkers(['send-sms', 'sweep']);
  await waitFor('all are acknowledged', () => carrier.acknowledged.size === contents.length, {
    timeoutMs: 120_000,
  });
  await carrier.stop();
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
