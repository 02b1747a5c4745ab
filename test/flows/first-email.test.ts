import { createHmac, timingSafeEqual } from 'node:crypto';
import { httpbis } from 'http-message-signatures';
import { dkimVerify } from 'mailauth/lib/dkim/verify.js';
import { verifyWebhook } from 'messaging-service/client';
import { expect, test } from 'vitest';
import { findEmailDomainByName } from '../../shared/db/email/domains.ts';
import { verifyContentDigest } from '../../shared/formats/signatures/content-digest.ts';
import { customerOf } from '../support/api/customer.ts';
import { workspace } from '../support/data/factory.ts';
import { useDatabase } from '../support/database/database.ts';
import { startWeb, startWorkerProcess } from '../support/processes/processes.ts';
import { startSmtpSink } from '../support/servers/smtp-sink.ts';
import { startWebhookReceiver } from '../support/servers/webhook-receiver.ts';
import { waitFor } from '../support/time/wait-for.ts';

useDatabase();

test('an accepted email is sent, signed by DKIM, and its events reach the feed and a webhook that verifies', async () => {
  const [customer, sink, receiver] = await Promise.all([
    workspace(),
    startSmtpSink(),
    startWebhookReceiver(),
  ]);
  const web = await startWeb();
  await startWorkerProcess(['send-email', 'relay-events', 'deliver-webhook', 'sweep'], {
    SMTP_URL: sink.url,
    EMAIL_DELIVERED_ON: 'accept',
  });
  const api = customerOf(web.url, customer);
  const webhook = await api.post('/v2/webhooks', {
    body: {
      url: `${receiver.url}/hooks?from=a%20test`,
      events: ['email.queued', 'email.sent', 'email.delivered'],
    },
  });

  const email = await api.post('/v2/email', {
    body: {
      sender: customer.sender,
      recipient: 'ada@example.com',
      subject: 'Hello {{ name }}',
      content: { html: '<p>Hello {{ name }}</p>', text: 'Hello {{ name }}' },
      template: { data: { name: 'Ada & Co' } },
    },
  });
  expect(email).toMatchObject({ status: 'queued', subject: 'Hello Ada & Co' });

  await sink.waitFor(1);
  const raw = sink.messages[0]!.raw;
  expect(raw.toString()).toContain(`Message-ID: <${email.id}@${customer.domain}>`);
  expect(raw.toString()).toContain('<p>Hello Ada &amp; Co</p>');
  const domain = await findEmailDomainByName(customer.workspaceId, customer.domain);
  const { results } = await dkimVerify(raw, {
    resolver: async (name: string, type: string) => {
      expect([name, type]).toEqual([`${domain!.dkimSelector}._domainkey.${customer.domain}`, 'TXT']);
      return [[domain!.dkimPublicKey]];
    },
  });
  expect(results[0]?.status.result).toBe('pass');

  await receiver.waitFor(3);
  const delivered = receiver.requests.map((request) => JSON.parse(request.body.toString()));
  expect(delivered.map((event) => event.type as string).toSorted()).toEqual([
    'email.delivered',
    'email.queued',
    'email.sent',
  ]);
  for (const request of receiver.requests) {
    await verifyByTheBook(request, receiver.url, webhook.secret!);
    const { url, headers, body } = request;
    const { id, event } = verifyWebhook({ url: receiver.url + url, headers, body, secrets: webhook.secret! });
    expect([id, event]).toEqual([headers['webhook-id'], JSON.parse(body.toString())]);
  }

  const feed = await waitFor('the feed has all three events', async () => {
    const page = await api.get('/v2/events');
    return page.data.length === 3 && page;
  });
  expect(feed.data.map((event) => event.type)).toEqual(['email.queued', 'email.sent', 'email.delivered']);
  // The webhook gets the same events as the feed shows.
  for (const event of feed.data) expect(delivered).toContainEqual(event);
  const record = await api.get('/v2/email/{id}', { path: { id: email.id } });
  expect(record).toEqual(feed.data[2]!.data);
  expect(record.status).toBe('delivered');
});

type Received = Awaited<ReturnType<typeof startWebhookReceiver>>['requests'][number];

/** Verifies a request like a customer, with a library that shares no code with the signing one. */
async function verifyByTheBook(request: Received, baseUrl: string, secret: string): Promise<void> {
  expect(verifyContentDigest(request.headers['content-digest']!, request.body)).toBe(true);
  const isGood = await httpbis.verifyMessage(
    {
      keyLookup: async ({ keyid }) => ({
        id: keyid ?? '',
        algs: ['hmac-sha256'],
        verify: async (data: Buffer, signature: Buffer) =>
          timingSafeEqual(createHmac('sha256', secret).update(data).digest(), signature),
      }),
      requiredFields: [
        '@method',
        '@authority',
        '@path',
        '@query',
        'content-digest',
        'content-type',
        'webhook-id',
      ],
      requiredParams: ['created', 'expires', 'keyid', 'alg'],
    },
    { method: request.method, url: baseUrl + request.url, headers: request.headers },
  );
  expect(isGood).toBe(true);
  expect(request.headers['signature-input']).toContain('keyid="1"');
}
