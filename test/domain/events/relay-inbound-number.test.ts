import { expect, test } from 'vitest';
import { now } from '../../../shared/common/clock.ts';
import { insertEvents } from '../../../shared/db/events/events.system.ts';
import { make } from '../../../shared/domain/events/events.ts';
import * as relay from '../../../shared/domain/events/relay.ts';
import { newId } from '../../../shared/formats/ids.ts';
import { deliveriesOf, makeWebhook } from '../../support/data/deliveries.ts';
import { workspace } from '../../support/data/factory.ts';
import { useDatabase } from '../../support/database/database.ts';

useDatabase();

const [one, other] = ['+447700900100', '+447700900200'];

test('a webhook for one number gets the texts to that number, one without a number gets all', async () => {
  const [own, foreign] = await Promise.all([workspace(), workspace()]);
  const url = 'https://example.com/inbound';
  const forOne = await makeWebhook(own, url, ['sms.received'], { inboundNumber: one });
  const forOther = await makeWebhook(own, url, ['sms.received'], { inboundNumber: other });
  const forAll = await makeWebhook(own, url, ['sms.received', 'sms.sent']);
  const ofForeign = await makeWebhook(foreign, url, ['sms.received'], { inboundNumber: one });

  const received = (from: { workspaceId: string }, recipient: string | null) => ({
    workspaceId: from.workspaceId,
    event: make('sms.received', { id: newId('sms', now()), seq: 1, data: { recipient } }, now()),
  });
  const events = [
    received(own, one),
    received(own, other),
    received(own, '+447700900300'),
    received(own, null),
  ];
  const elsewhere = received(foreign, one);
  await insertEvents([...events, elsewhere]);
  await relay.relayAll();

  const eventsOf = async (webhook: { id: string }) =>
    (await deliveriesOf(webhook.id)).map(({ eventId }) => eventId);
  expect(await eventsOf(forOne)).toEqual([events[0]!.event.id]);
  expect(await eventsOf(forOther)).toEqual([events[1]!.event.id]);
  expect(await eventsOf(forAll)).toEqual(events.map(({ event }) => event.id));
  expect(await eventsOf(ofForeign)).toEqual([elsewhere.event.id]);
});
