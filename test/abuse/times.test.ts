import { beforeAll, expect, test } from 'vitest';
import { type Answer, type Client, startApi } from '../support/api/start-api.ts';
import { makeWebhook } from '../support/data/deliveries.ts';
import { postEmail } from '../support/data/new-email.ts';
import { postSms, textingWorkspace } from '../support/data/new-sms.ts';
import { useDatabase } from '../support/database/database.ts';

useDatabase();

let api: Client;
let own: Awaited<ReturnType<typeof textingWorkspace>>;
let webhookId: string;
beforeAll(async () => {
  api = await startApi();
  own = await textingWorkspace();
  webhookId = (await makeWebhook(own, 'https://example.com/')).id;
});

const get = (path: string) => api.request('GET', path, { key: own.key });
const post = (path: string, body: object) => api.request('POST', path, { key: own.key, body });

/** Every place in the API that takes a time, by the name of its field. */
const places: [field: string, where: string, send: (time: string) => Promise<Answer>][] = [
  ['scheduledAt', 'an email', (scheduledAt) => postEmail(api, own, { scheduledAt })],
  ['scheduledAt', 'a text', (scheduledAt) => postSms(api, own, { scheduledAt })],
  ['activeFrom', 'a key', (activeFrom) => post('/v2/api-keys', { scopes: ['email.read'], activeFrom })],
  ['expiresAt', 'a key', (expiresAt) => post('/v2/api-keys', { scopes: ['email.read'], expiresAt })],
  ['since', 'recover', (since) => post(`/v2/webhooks/${webhookId}/recover`, { since })],
  ...['/v2/email', '/v2/sms'].flatMap((path) =>
    ['since', 'until'].map((field): (typeof places)[number] => [
      field,
      path,
      (time) => get(`${path}?${field}=${encodeURIComponent(time)}`),
    ]),
  ),
  ['since', '/v2/events', (since) => get(`/v2/events?since=${encodeURIComponent(since)}`)],
];

const noTimes = [
  '',
  'now',
  '2027-01-10',
  '2027-01-10T10:00:00',
  '2027-01-10T10:00Z',
  '2027-01-10 10:00:00Z',
  '2027-02-29T10:00:00Z',
  '2027-01-10T24:00:00Z',
  '2027-01-10T23:59:60Z',
  '2016-12-31T23:59:60Z',
  '2027-01-10T10:00:00+24:00',
  '2027-01-10T10:00:00+01',
  '2027-01-10T10:00:00+0100',
  '2027-01-10T10:00:00 +01:00',
  '2027-01-10T10:00:00[Europe/London]',
  '+002027-01-10T10:00:00Z',
  '12027-01-10T10:00:00Z',
  '1794998400',
  '２０２７-01-10T10:00:00Z',
];
/** Times that are valid with their offset, but whose year in UTC cannot be written with four digits. */
const beyond = ['0000-01-01T00:00:00+00:01', '0000-01-01T00:00:00+23:59', '9999-12-31T23:59:59-00:01'];

// Shows A55
test.each(places)(
  '%s of %s takes no text that is no time of RFC 3339, a leap second included',
  async (field, _where, send) => {
    for (const text of [...noTimes, ...beyond]) {
      const { status, body } = await send(text);
      expect([text, status, Object.keys(body.errors ?? {})]).toEqual([text, 400, [field]]);
    }
  },
);

test.each(places)('%s of %s is answered at the ends of the calendar', async (_field, _where, send) => {
  for (const text of [
    '0000-01-01T00:00:00Z',
    '0001-01-01T00:00:00Z',
    '1969-12-31T23:59:59Z',
    '9999-12-31T23:59:59.999Z',
  ])
    expect([200, 201, 400]).toContain((await send(text)).status);
});

// Shows A55
test('an offset says when it is, whatever the zone keeps to: the hour that is there twice is two times', async () => {
  // In London clocks are moved at 01:00 UTC on the last Sundays of March and October.
  for (const [since, meant] of [
    ['2025-10-26T01:30:00+01:00', '2025-10-26T00:30:00.000Z'],
    ['2025-10-26T01:30:00+00:00', '2025-10-26T01:30:00.000Z'],
    ['2025-03-30T01:30:00+00:00', '2025-03-30T01:30:00.000Z'],
    ['2025-03-30T01:30:00-00:00', '2025-03-30T01:30:00.000Z'],
  ])
    expect((await post(`/v2/webhooks/${webhookId}/recover`, { since })).body.since).toBe(meant);
});
