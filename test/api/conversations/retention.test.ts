import { beforeAll, expect, test } from 'vitest';
import { now } from '../../../shared/common/clock.ts';
import { runAll } from '../../../shared/db/client/migrate.ts';
import { database, query } from '../../../shared/db/client.ts';
import { conversations as migration } from '../../../shared/db/migrations/0028_conversations.ts';
import * as conversations from '../../../shared/domain/conversations/conversations.ts';
import { idFromBytes, idToBytes } from '../../../shared/formats/ids.ts';
import { type Client, startApi } from '../../support/api/start-api.ts';
import { messagesTo, newBatch, workOff } from '../../support/data/new-batch.ts';
import { sendSms, textingWorkspace } from '../../support/data/new-sms.ts';
import { useDatabase } from '../../support/database/database.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { advanceClock } from '../../support/time/advance-clock.ts';

useDatabase();

type Own = Awaited<ReturnType<typeof textingWorkspace>>;
type Text = { number: string; id: string; direction: 'inbound' | 'outbound'; createdAt: string };

const dayMs = 86_400_000;
let api: Client;
beforeAll(async () => {
  changeSettings({ SIMULATOR_SECONDS: 3600 });
  api = await startApi();
});

const numberOf = (index: number) => `+4477009${`${index}`.padStart(5, '0')}`;

async function receive(own: Own, number: string, to = 'Acme'): Promise<Text> {
  const path = `/v2/simulator/phones/${encodeURIComponent(number)}/messages`;
  const { status, body } = await api.request('POST', path, {
    key: own.key,
    body: { content: 'Yes please', to },
  });
  expect(status).toBe(201);
  return { ...body, number };
}

async function send(own: Own, number: string, changes: object = {}): Promise<Text> {
  return { ...(await sendSms(api, own, { recipient: number, ...changes })), number };
}

async function listed(own: Own): Promise<any[]> {
  return (await api.request('GET', '/v2/conversations?limit=100', { key: own.key })).body.data;
}

/** Returns the conversations that are expected of these texts, computed from all of the texts. */
function told(texts: Text[]) {
  const last = (some: Text[]) =>
    some
      .map(({ createdAt }) => createdAt)
      .toSorted()
      .at(-1) ?? null;
  return Object.fromEntries(
    [...Map.groupBy(texts, ({ number }) => number)].map(([number, all]) => {
      const [inbound, outbound] = (['inbound', 'outbound'] as const).map((direction) =>
        all.filter((text) => text.direction === direction),
      );
      const newest = all
        .map(({ id }) => id)
        .toSorted()
        .at(-1)!;
      return [
        number,
        { inboundCount: inbound!.length, outboundCount: outbound!.length, newest, last: last(all) },
      ];
    }),
  );
}

const shown = async (own: Own) =>
  Object.fromEntries(
    (await listed(own)).map(({ number, inboundCount, outboundCount, lastMessage }) => [
      number,
      { inboundCount, outboundCount, newest: lastMessage.id, last: lastMessage.createdAt },
    ]),
  );

async function keptOf(own: Own, texts: Text[]): Promise<Text[]> {
  const rows = await query<{ id: Buffer }[]>('SELECT id FROM sms_messages WHERE workspace_id = ?', [
    idToBytes(own.workspaceId),
  ]);
  const kept = new Set(rows.map(({ id }) => idFromBytes('sms', id)));
  return texts.filter(({ id }) => kept.has(id));
}

test('what retention deletes leaves its conversation, two texts at a time, and the last one takes it along', async () => {
  const own = await textingWorkspace();
  const texts: Text[] = [];
  for (let index = 0; index < 4; index += 1) {
    texts.push(await send(own, numberOf(index)), await receive(own, numberOf(index)));
    if (index % 2 === 0) texts.push(await receive(own, numberOf(index)));
  }
  // This text still waits to be sent when newer texts are gone.
  const scheduledAt = new Date(now().getTime() + 60 * dayMs).toISOString();
  texts.push(await send(own, numberOf(0), { scheduledAt }), await receive(own, numberOf(0)));
  await query(
    "UPDATE sms_messages SET status = 'delivered' WHERE direction = 'outbound' AND scheduled_at IS NULL",
  );
  await advanceClock(20 * dayMs);
  texts.push(await receive(own, numberOf(1)), await receive(own, numberOf(2)));
  expect(await shown(own)).toEqual(told(texts));

  const until = new Date(now().getTime() - 10 * dayMs);
  let deleted: number;
  do {
    deleted = await conversations.deleteTextsBefore(until, 2);
    expect(await shown(own)).toEqual(told(await keptOf(own, texts)));
  } while (deleted > 0);
  // The first conversation keeps the waiting text, two others keep their later texts, and the last one keeps nothing.
  const kept = await keptOf(own, texts);
  expect(kept.map(({ number }) => number)).toEqual([numberOf(0), numberOf(1), numberOf(2)]);
  // A conversation that was deleted starts again with the next inbound text.
  const reply = await receive(own, numberOf(3));
  expect(await shown(own)).toEqual(told([...kept, reply]));
});

test('texts of before there were conversations are in them after the migration, by whatever name they went', async () => {
  const own = await textingWorkspace();
  const other = await textingWorkspace();
  for (let index = 0; index < 3; index += 1) {
    await send(own, numberOf(index));
    await receive(own, numberOf(index));
    await receive(other, numberOf(index), 'ACME');
  }
  await send(own, numberOf(1));
  const { id } = await send(own, numberOf(2));
  await query("UPDATE sms_messages SET sender = 'aCmE' WHERE id = ?", [idToBytes(id)]);
  // Nobody has answered this text.
  await send(own, numberOf(9));
  const withoutIds = async (one: Own) =>
    (await listed(one)).map((conversation) => ({ ...conversation, id: undefined }));
  const before = [await withoutIds(own), await withoutIds(other)];
  expect(before.map((some) => some.length)).toEqual([3, 3]);
  await runAll(database(), [...migration.down, ...migration.up]);
  expect([await withoutIds(own), await withoutIds(other)]).toEqual(before);
  // The migrated conversations go on like any other.
  await send(own, numberOf(0));
  expect((await listed(own))[0]).toMatchObject({ number: numberOf(0), inboundCount: 1, outboundCount: 2 });
});

test('texts of a batch are in the conversations of their numbers, chunk by chunk, also two to one number', async () => {
  const own = await textingWorkspace();
  const recipients = messagesTo(700).map(({ recipient }) => recipient);
  const [early, both, late] = [recipients[3]!, recipients[10]!, recipients[650]!];
  for (const number of [early, both, late]) await receive(own, number);
  const messages = [...recipients, both].map((recipient) => ({ recipient }));
  const batch = await newBatch(api, own, { messages, content: 'Hello', allowDuplicates: true });
  await workOff(batch.id);
  const counts = Object.fromEntries(
    (await listed(own)).map(({ number, inboundCount, outboundCount, lastMessage }) => [
      number,
      [inboundCount, outboundCount, lastMessage.batchId],
    ]),
  );
  expect(counts).toEqual({
    [early]: [1, 1, batch.id],
    [both]: [1, 2, batch.id],
    [late]: [1, 1, batch.id],
  });
});
