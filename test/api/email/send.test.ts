import { beforeAll, expect, test } from 'vitest';
import { query } from '../../../shared/db/client.ts';
import * as emailDomains from '../../../shared/domain/email/domains/domains.ts';
import { idToBytes } from '../../../shared/formats/ids.ts';
import { type Client, startApi } from '../../support/api/start-api.ts';
import { workspace } from '../../support/data/factory.ts';
import { postEmail, sendEmail } from '../../support/data/new-email.ts';
import { useDatabase } from '../../support/database/database.ts';

useDatabase();

let api: Client;
let own: Awaited<ReturnType<typeof workspace>>;

beforeAll(async () => {
  api = await startApi();
  own = await workspace();
});

const utc = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

test('an email is answered with 201, its whole record, and its absolute address', async () => {
  const answer = await postEmail(api, own, {
    recipient: 'Ada.Lovelace@Example.com',
    subject: 'Your receipt',
    content: { html: '<p>Paid</p>', text: 'Paid' },
    clientReference: 'Order #1 – é',
    clientTag: 'Receipts 2026',
  });
  expect(answer.status).toBe(201);
  expect(answer.headers['location']).toBe(`${api.url}/v2/email/${answer.body.id}`);
  expect(answer.headers['content-type']).toMatch(/^application\/json/);
  const time = expect.stringMatching(utc);
  expect(answer.body).toStrictEqual({
    id: expect.stringMatching(/^email_[0-7][0-9a-hjkmnp-tv-z]{25}$/),
    kind: 'transactional',
    sender: own.sender,
    recipient: 'Ada.Lovelace@Example.com',
    subject: 'Your receipt',
    content: { html: null, text: 'Paid' },
    status: 'queued',
    clientReference: 'Order #1 – é',
    clientTag: 'receipts-2026',
    openCount: 0,
    createdAt: time,
    scheduledAt: null,
    sentAt: null,
    deliveredAt: null,
    openedAt: null,
    updatedAt: time,
  });
});

test('the address in Location serves the same record', async () => {
  const sent = await postEmail(api, own, { clientReference: 'same' });
  const read = await api.request('GET', new URL(sent.headers['location']!).pathname, { key: own.key });
  expect(read.status).toBe(200);
  expect(read.body).toStrictEqual(sent.body);
});

test('what is left out, and what is null, gets its default', async () => {
  const nothing = {
    template: null,
    format: null,
    kind: null,
    clientReference: null,
    clientTag: null,
    scheduledAt: null,
    trackOpens: null,
    bypassSuppressions: null,
    attachments: null,
  };
  const record = await sendEmail(api, own, { ...nothing, content: { text: 'x', html: null } });
  expect(record).toMatchObject({
    kind: 'transactional',
    clientReference: null,
    clientTag: null,
    scheduledAt: null,
  });
});

test('a sender may carry a display name, and is kept exactly as sent', async () => {
  const sender = `"Acme, Inc." <Hello@${own.domain.toUpperCase()}>`;
  expect((await sendEmail(api, own, { sender })).sender).toBe(sender);
});

test('fields that are not known are ignored', async () => {
  expect(await sendEmail(api, own, { colour: 'blue', openCount: 7, status: 'sent' })).toMatchObject({
    openCount: 0,
    status: 'queued',
  });
});

// Shows A37
test('Liquid in subject, html and text is rendered with template.data; only html is escaped', async () => {
  const record = await sendEmail(api, own, {
    subject: 'Hi {{ name }}',
    content: {
      html: '<p>{{ name }} {{ name | raw }}</p>',
      text: '{% for item in items %}{{ item }}, {% endfor %}{{ name }}',
    },
    template: { data: { name: '<b>"Ada" & \'co\'</b>', items: [1, 2] } },
  });
  const escaped = '&lt;b&gt;&#34;Ada&#34; &amp; &#39;co&#39;&lt;/b&gt;';
  expect(record.subject).toBe('Hi <b>"Ada" & \'co\'</b>');
  expect(record.content).toStrictEqual({ html: null, text: '1, 2, <b>"Ada" & \'co\'</b>' });
  expect(await bodyOf(record.id)).toStrictEqual({
    html: `<p>${escaped} <b>"Ada" & 'co'</b></p>`,
    text: '1, 2, <b>"Ada" & \'co\'</b>',
  });
});

test('without a text the excerpt is made of the html, without its markup', async () => {
  const html = '<style>p{}</style><h1>Hello</h1><p>Ada &amp; <a href="https://example.com">co</a></p>';
  const { content } = await sendEmail(api, own, { content: { html } });
  expect(content.html).toBeNull();
  expect(content.text).toMatch(/^hello\s+Ada & co$/i);
});

test('a part that renders to nothing is left out beside one that does not', async () => {
  const vip = '{% if vip %}<p>Thank you</p>{% endif %}\n';
  const trackOpens = true;
  const plain = await sendEmail(api, own, { content: { html: vip, text: 'On its way' }, trackOpens });
  expect(await bodyOf(plain.id)).toStrictEqual({ html: null, text: 'On its way' });
  const marked = await sendEmail(api, own, { content: { html: '<p>On its way</p>', text: ' {{ none }} ' } });
  expect(await bodyOf(marked.id)).toStrictEqual({ html: '<p>On its way</p>', text: null });
  expect(marked.content.text).toBe('On its way');
});

test('the excerpt ends after 2,000 characters, none of them halved', async () => {
  const { content } = await sendEmail(api, own, { content: { text: `a${'🙂'.repeat(2500)}` } });
  expect(content.text).toBe(`a${'🙂'.repeat(1999)}`);
});

test('the text is kept exactly: line ends, tabs, blanks and every alphabet', async () => {
  const text = '  Zeile 1\r\nline 2\n\tтри 四 🙂 \\ " \' %s ?? :name \u0007\n\n';
  const record = await sendEmail(api, own, { content: { text } });
  expect(record.content.text).toBe(text);
  expect((await bodyOf(record.id)).text).toBe(text);
});

// Shows A16
test('data that tries to reach the prototype is data like any other', async () => {
  const raw = JSON.stringify({
    sender: own.sender,
    recipient: 'ada@example.com',
    subject: 'S',
    content: { text: '[{{ polluted }}{{ constructor }}{{ __proto__.polluted }}{{ toString }}{{ name }}]' },
    template: { data: { PROTO: { polluted: 'yes' }, constructor: { prototype: { polluted: 'yes' } } } },
  }).replace('PROTO', '__proto__');
  const sent = await api.request('POST', '/v2/email', { key: own.key, body: raw });
  expect(sent.status).toBe(201);
  expect(sent.body.content.text).toMatch(/^\[.*\]$/s);
  expect(sent.body.content.text.startsWith('[yes')).toBe(false);
  expect(({} as { polluted?: string }).polluted).toBeUndefined();
  const next = await sendEmail(api, own, { content: { text: '[{{ polluted }}]' }, template: { data: {} } });
  expect(next.content.text).toBe('[]');
});

test('the email.queued event is there as soon as the email is', async () => {
  const record = await sendEmail(api, own);
  const { status, body } = await api.request('GET', `/v2/email/${record.id}/events`, { key: own.key });
  expect(status).toBe(200);
  expect(body).toStrictEqual({
    data: [
      {
        id: expect.stringMatching(/^event_/),
        type: 'email.queued',
        occurredAt: record.createdAt,
        apiVersion: '2026-11-01',
        workspaceId: own.workspaceId,
        data: record,
      },
    ],
    nextCursor: null,
  });
});

test('a refused email leaves no row behind', async () => {
  const count = async () =>
    (await query('SELECT (SELECT COUNT(*) FROM emails) + (SELECT COUNT(*) FROM events) AS n'))[0]?.['n'];
  const before = await count();
  expect((await postEmail(api, own, { subject: '' })).status).toBe(400);
  expect((await postEmail(api, own, { content: { text: '{% if %}' } })).status).toBe(400);
  expect(await count()).toBe(before);
});

test('a body of up to 42 MiB is read, one byte more is refused with 413', async () => {
  const limitBytes = 42 * 1024 * 1024;
  const start = `{"sender":"${own.sender}","recipient":"a@b.example","subject":"S","content":{"text":"T"},"padding":"`;
  const padded = (bytes: number) => `${start}${'x'.repeat(bytes - start.length - 2)}"}`;
  const largest = await api.request('POST', '/v2/email', { key: own.key, body: padded(limitBytes) });
  expect(largest.status).toBe(201);
  const larger = await api.request('POST', '/v2/email', { key: own.key, body: padded(limitBytes + 1) });
  expect(larger.status).toBe(413);
  expect(larger.body.type).toBe(`${api.url}/problems/payload_too_large`);
});

test('a sender whose domain is written in another alphabet is matched by its ASCII form', async () => {
  await emailDomains.addVerified(own.workspaceId, `xn--bcher-kva.${own.domain}`);
  const record = await sendEmail(api, own, { sender: `hello@Bücher.${own.domain}` });
  expect(record.sender).toBe(`hello@Bücher.${own.domain}`);
});

async function bodyOf(emailId: string): Promise<{ html: string | null; text: string | null }> {
  const [row] = await query('SELECT html, text FROM email_bodies WHERE email_id = ?', [idToBytes(emailId)]);
  return { ...row } as { html: string | null; text: string | null };
}
