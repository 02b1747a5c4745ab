import { beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { query } from '../../../shared/db/client.ts';
import * as senders from '../../../shared/domain/senders/senders.ts';
import { attempt } from '../../../shared/domain/sms/delivery/delivery.ts';
import * as smsGateways from '../../../shared/domain/sms/gateways/gateways.ts';
import { type Client, startApi } from '../../support/api/start-api.ts';
import { sendSms, textingWorkspace } from '../../support/data/new-sms.ts';
import { useDatabase } from '../../support/database/database.ts';
import * as carrier from '../../support/servers/smpp-carrier.ts';
import { type Smsc, startSmsc } from '../../support/servers/smsc.ts';
import { waitFor } from '../../support/time/wait-for.ts';

useDatabase();

const person = '+447407000001';
const number = '+447407000099';

let api: Client;
let own: Awaited<ReturnType<typeof textingWorkspace>>;
let smsc: Smsc;
beforeAll(async () => {
  api = await startApi();
  own = await textingWorkspace();
  const { id } = await senders.addNumber(own.workspaceId, ['GB']);
  await senders.assignNumber(id, number);
});
beforeEach(async () => {
  smsc = await startSmsc();
  onTestFinished(() => smsc.close());
  await carrier.useCarrier(smsc);
});

const deliver = (content: string) => smsc.deliver(carrier.textFrom(person, number, Buffer.from(content)));
const countOf = async (sql: string, values: unknown[] = []) => {
  const [row] = await query<{ n: number }[]>(`SELECT COUNT(*) AS n FROM ${sql}`, values);
  return row!.n;
};
const kept = (content: string) =>
  countOf("sms_messages WHERE direction = 'inbound' AND content = ?", [content]);
const records = () => countOf('sms_inbound_unanswered');

/** The carrier answers a text of ours, and so has read all that came before it. */
async function letItRead(): Promise<void> {
  const before = smsc.taken.length;
  const { id } = await sendSms(api, own, { recipient: '+447407000002' });
  await attempt(id);
  expect(smsc.taken).toHaveLength(before + 1);
}

async function cutLine(): Promise<void> {
  const binds = smsc.binds.length;
  smsc.cut();
  smsc.isDeaf = false;
  await waitFor('the line is there again', () => smsc.binds.length > binds);
}

test('a text whose answer the line has swallowed comes again and is kept once; the next one with its words is another', async () => {
  smsc.isDeaf = true;
  deliver('Swallowed');
  await waitFor('it is answered', async () => (await kept('Swallowed')) === 1 && (await records()) === 0);
  await cutLine();
  await waitFor('it is remembered', async () => (await records()) === 1);
  expect(await smsc.answerOf(deliver('Swallowed'))).toBe(0);
  expect(await kept('Swallowed')).toBe(1);
  expect(await smsc.answerOf(deliver('Swallowed'))).toBe(0);
  expect(await kept('Swallowed')).toBe(2);
});

test('once the carrier has read the answer, the same words are another text, though the line is cut', async () => {
  expect(await smsc.answerOf(deliver('Read'))).toBe(0);
  await letItRead();
  await cutLine();
  expect(await smsc.answerOf(deliver('Read'))).toBe(0);
  expect(await kept('Read')).toBe(2);
});

test('an answered text is forgotten though the database failed meanwhile, so the same words are another text', async () => {
  await query(`CREATE TRIGGER refuse_deletes BEFORE DELETE ON sms_inbound_unanswered FOR EACH ROW
    SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = 1026, MESSAGE_TEXT = 'As a test wants it'`);
  expect(await smsc.answerOf(deliver('Yes'))).toBe(0);
  expect(await records()).toBe(1);
  await query('DROP TRIGGER refuse_deletes');
  await waitFor('it is forgotten', async () => (await records()) === 0);
  await letItRead();
  await cutLine();
  expect(await smsc.answerOf(deliver('Yes'))).toBe(0);
  expect(await kept('Yes')).toBe(2);
});

test('a stop leaves no record of an answered text', async () => {
  const all = Array.from({ length: 20 }, (_, index) => deliver(`Text ${index}`));
  await Promise.all(all.map(smsc.answerOf));
  await smsGateways.stop();
  expect(await records()).toBe(0);
});
