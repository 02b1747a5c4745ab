import { expect } from 'vitest';
import { now } from '../../../shared/common/clock.ts';
import { listBatchRows } from '../../../shared/db/sms/batches/rows.ts';
import { attachmentsOf } from '../../../shared/domain/email/delivery/attachments.ts';
import type { Client } from '../../support/api/start-api.ts';
import type { Own } from '../../support/data/records.ts';

type Told = { api: Client; own: Own; sent: any; answer: any };
type Promised = (told: Told) => void | Promise<void>;

const has =
  (fields: object): Promised =>
  ({ answer }) =>
    expect(answer).toMatchObject(fields);

/** Expects the message to wait for the requested time, which is about a day away. */
const tomorrow =
  (status: string): Promised =>
  ({ sent, answer }) => {
    const at = Date.parse(sent.scheduledAt);
    expect(Math.abs(at - now().getTime() - 24 * 3_600_000)).toBeLessThan(3_600_000);
    expect(answer).toMatchObject({ status, scheduledAt: new Date(at).toISOString() });
  };

async function attaches({ sent, answer }: Told): Promise<void> {
  const [given] = sent.attachments;
  const [stored] = await attachmentsOf(answer.id, sent.attachments.length);
  const chunks: Buffer[] = [];
  for await (const chunk of stored!.open()) chunks.push(chunk);
  expect([stored!.filename, Buffer.concat(chunks).toString('base64')]).toEqual([
    given.filename,
    given.content,
  ]);
}

async function compiles({ api, own, sent, answer }: Told): Promise<void> {
  expect(answer).toMatchObject({ format: 'mjml', html: sent.html, sampleData: sent.sampleData });
  const { body } = await api.request('POST', `/v2/email/templates/${answer.id}/render`, {
    key: own.key,
    body: {},
  });
  expect(body.html).toMatch(/<table.*Dear Ada/s);
  expect(body.html).not.toContain('<mj-');
}

async function shortens({ api, own, answer }: Told): Promise<void> {
  const { body } = await api.request('GET', `/v2/sms/${answer.id}/links`, { key: own.key });
  const [link] = body.data;
  expect(link.url).toBe('https://shop.example/orders/7');
  expect(answer.content).toBe(`Follow your parcel: ${link.shortUrl}`);
}

async function keepsData({ own, sent, answer }: Told): Promise<void> {
  const rows = await listBatchRows(own.workspaceId, answer.id, { from: 0, to: 10, limit: 10 });
  expect(rows.map(({ number, data }) => ({ recipient: number, data }))).toEqual(sent.messages);
}

/**
 * An example must do what its name and summary say: the answer, or the stored record, must show this. Each example has
 * an entry here, except the first one of an operation, which is only the minimum that works.
 */
export const promises: Readonly<Record<string, Readonly<Record<string, Promised>>>> = {
  createEmailTemplate: { mjml: compiles },
  renderEmailTemplate: {
    subject: has({ subject: 'Good news, Ada' }),
  },
  sendEmail: {
    data: has({ subject: 'Your order 7', content: { text: 'Dear Ada, order 7 is on its way.' } }),
    template: has({
      subject: 'Welcome, Ada',
      content: { text: 'Welcome, Ada. It is good to have you here.' },
    }),
    attachment: attaches,
    scheduled: tomorrow('queued'),
  },
  previewSms: { cost: has({ cost: { gbp: '0.0345', eur: '0.0412' } }) },
  previewSmsBatch: {
    data: has({
      samples: [
        { content: 'Dear Ada, your parcel is here.' },
        { content: 'Dear Grace, your parcel is here.' },
      ],
    }),
    // A preview has no time: its numbers are the same for a batch at any time.
    scheduled: has({ recipients: 1, errorCount: 0 }),
  },
  createSmsBatch: { data: keepsData, scheduled: tomorrow('scheduled') },
  sendSms: {
    template: has({ templateName: 'Appointment reminder', content: 'Dear Ada, see you on Monday.' }),
    links: shortens,
    scheduled: tomorrow('queued'),
  },
  createWebhook: { replies: has({ events: ['sms.received'], active: true }) },
  createSuppression: {
    number: has({ number: '+447700900199', email: null, scope: 'all' }),
    marketing: has({ number: null, email: 'alan@example.com', scope: 'marketing' }),
  },
  createContact: {
    named: has({ firstName: 'Ada', lastName: 'Lovelace', email: 'ada@example.com', tags: ['vip'] }),
  },
  createContactList: {
    dynamic: has({ kind: 'dynamic', filter: { search: null, tag: 'vip', clientReference: null } }),
  },
  createApiKey: {
    strict: has({
      strictMode: true,
      signing: { algorithm: 'hmac_sha256' },
      signingSecret: expect.stringMatching(/^sig_/),
    }),
  },
};
