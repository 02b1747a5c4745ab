import { dkimVerify } from 'mailauth';
import PostalMime from 'postal-mime';
import { beforeAll, expect, test } from 'vitest';
import { attempt } from '../../../shared/domain/email/delivery/delivery.ts';
import * as emailDomains from '../../../shared/domain/email/domains/domains.ts';
import { linkOf, readLink } from '../../../shared/domain/email/tracking/links.ts';
import { newId } from '../../../shared/formats/ids.ts';
import { type Client, startApi } from '../../support/api/start-api.ts';
import { acceptEmail } from '../../support/data/accepted-email.ts';
import { workspace } from '../../support/data/factory.ts';
import { useDatabase } from '../../support/database/database.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { type SmtpSink, startSmtpSink } from '../../support/servers/smtp-sink.ts';

useDatabase();

let own: Awaited<ReturnType<typeof workspace>>;
let api: Client;
let sink: SmtpSink;
beforeAll(async () => {
  [sink, own, api] = [await startSmtpSink(), await workspace(), await startApi()];
  changeSettings({ SMTP_URL: sink.url });
});

let recipients = 0;
/** An email as the relay gets it, and its header fields, unfolded. */
async function sent(changes: Record<string, unknown>) {
  recipients += 1;
  const recipient = `reader-${recipients}@example.com`;
  const email = await acceptEmail(own, { recipient, ...changes });
  expect(await attempt(email.id)).toBe('done');
  const { raw } = sink.messages.find((message) => message.envelope.to.includes(recipient))!;
  const fields = raw
    .toString()
    .split('\r\n\r\n', 1)[0]!
    .replaceAll(/\r\n[ \t]+/g, ' ')
    .split('\r\n');
  const field = (name: string) => fields.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
  return { email, recipient, raw, field };
}

async function suppressionsOf(recipient: string) {
  const { body } = await api.request('GET', `/v2/suppressions?email=${encodeURIComponent(recipient)}`, {
    key: own.key,
  });
  return body.data as { scope: string; source: string }[];
}

const post = (url: string, body = 'List-Unsubscribe=One-Click') =>
  fetch(url, {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    redirect: 'manual',
  });

test('marketing email carries the signed headers of one click (RFC 8058), other email does not', async () => {
  const { raw, field } = await sent({ kind: 'marketing' });
  expect(field('List-Unsubscribe')).toMatch(/^<http:\/\/127\.0\.0\.1:\d+\/u\/[0-9a-z]{52}>$/);
  expect(field('List-Unsubscribe-Post')).toBe('List-Unsubscribe=One-Click');
  expect(field('DKIM-Signature')!.replaceAll(' ', '')).toContain('list-unsubscribe:list-unsubscribe-post');
  const domain = (await emailDomains.findByName(own.workspaceId, own.domain))!;
  const { results } = await dkimVerify(raw, { resolver: async () => [[domain.dkimPublicKey]] });
  expect(results.map(({ status }) => status.result)).toEqual(['pass']);
  for (const kind of ['transactional', 'authentication']) {
    const other = await sent({ kind });
    expect(other.field('List-Unsubscribe')).toBeUndefined();
    expect(other.field('List-Unsubscribe-Post')).toBeUndefined();
  }
});

test('{{ unsubscribeUrl }} is that link in html and text of a marketing email, also of a stored template', async () => {
  const template = {
    name: 'newsletter',
    html: '<p>Bye: <a href="{{ unsubscribeUrl }}">here</a></p>',
    text: 'Bye: {{ unsubscribeUrl }}',
  };
  const call = (path: string, body: object) => api.request('POST', path, { key: own.key, body });
  const { body: stored } = await call('/v2/email/templates', template);
  const mjml = `<mjml><mj-body><mj-section><mj-column><mj-text>${template.html}</mj-text></mj-column></mj-section></mj-body></mjml>`;
  const content = { html: template.html, text: template.text };
  // The caller's own value does not take the place of the link.
  const data = { unsubscribeUrl: 'https://elsewhere.example' };
  for (const changes of [
    { content },
    { content, template: { data } },
    { content: { ...content, html: mjml }, format: 'mjml' },
    { content: null, template: { name: 'newsletter', data } },
  ]) {
    const { raw, field } = await sent({ kind: 'marketing', ...changes });
    const url = field('List-Unsubscribe')!.slice(1, -1);
    const { html, text } = await PostalMime.parse(raw);
    expect(text).toContain(`Bye: ${url}`);
    expect(html).toContain(`<a href="${url}">here</a>`);
  }
  const receipt = await PostalMime.parse((await sent({ content, template: { data } })).raw);
  expect(receipt.text).toContain('Bye: https://elsewhere.example');
  const rendered = await call(`/v2/email/templates/${stored.id}/render`, {});
  expect(rendered.body.text).toMatch(/^Bye: http:\/\/127\.0\.0\.1:\d+\/u\/[0-9a-z]{52}$/);
});

// Shows A56
test('the link asks first and changes nothing; the post opts out, and the next marketing email is not sent', async () => {
  const { recipient, field } = await sent({ kind: 'marketing' });
  const url = field('List-Unsubscribe')!.slice(1, -1);
  const asked = await fetch(url);
  expect(asked.status).toBe(200);
  expect(asked.headers.get('cache-control')).toBe('no-store');
  const page = await asked.text();
  expect(page).toContain(own.sender);
  expect(page).toContain('<form method="post">');
  expect(page).not.toContain(recipient);
  expect(await suppressionsOf(recipient)).toEqual([]);

  const done = await post(url);
  expect(done.status).toBe(200);
  expect(await done.text()).toContain('You are unsubscribed');
  expect(await suppressionsOf(recipient)).toMatchObject([{ scope: 'marketing', source: 'web' }]);

  const next = await acceptEmail(own, { recipient, kind: 'marketing', bypassSuppressions: true });
  expect(await attempt(next.id)).toBe('done');
  expect((await next.read()).reason).toMatchObject({ category: 'suppressed' });
  const receipt = await acceptEmail(own, { recipient });
  expect(await attempt(receipt.id)).toBe('done');
  expect((await receipt.read()).status).toBe('sent');
});

// Shows A56
test('opting out many times at once makes one entry and one event', async () => {
  const { recipient, field } = await sent({ kind: 'marketing' });
  const url = field('List-Unsubscribe')!.slice(1, -1);
  const answers = await Promise.all(Array.from({ length: 20 }, () => post(url)));
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  expect(await suppressionsOf(recipient)).toHaveLength(1);
});

test('what the customer had entered becomes the recipient’s own word, which marketing never passes by', async () => {
  const { recipient, field } = await sent({ kind: 'marketing' });
  await api.request('POST', '/v2/suppressions', {
    key: own.key,
    body: { email: recipient, scope: 'marketing' },
  });
  expect(await suppressionsOf(recipient)).toMatchObject([{ source: 'api' }]);
  await post(field('List-Unsubscribe')!.slice(1, -1));
  expect(await suppressionsOf(recipient)).toMatchObject([{ source: 'web' }]);
});

test.each(['PUT', 'DELETE', 'PATCH'])('the link refuses %s', async (method) => {
  const url = linkOf('unsubscribe', newId('email', new Date()));
  const answer = await fetch(url, { method });
  expect(answer.status).toBe(405);
  expect(answer.headers.get('allow')).toBe('GET, HEAD, POST');
});

// Shows A56
test('a link that is altered, made for something else or of no email says so and does nothing', async () => {
  const { email, recipient } = await sent({ kind: 'marketing' });
  const good = linkOf('unsubscribe', email.id);
  const other = linkOf('unsubscribe', newId('email', new Date()));
  const bad = [
    good.slice(0, -1),
    `${good}0`,
    good.replace(/.$/, (last) => (last === '0' ? '1' : '0')),
    other.replace(/.{26}$/, good.slice(-26)),
    good.replace(/.{26}$/, linkOf('open', email.id).slice(-26)),
    other,
    good.replace(/\/u\/.*/, '/u/%00'),
  ];
  for (const url of bad)
    for (const answer of [await fetch(url), await post(url)])
      expect([url, answer.status, await answer.text()]).toEqual([
        url,
        404,
        expect.stringContaining('not known'),
      ]);
  expect(await suppressionsOf(recipient)).toEqual([]);
});

test('a token is read only as what it was made for', () => {
  const id = newId('email', new Date());
  const token = (kind: 'unsubscribe' | 'open') => linkOf(kind, id).slice(-52);
  expect(readLink('unsubscribe', token('unsubscribe'))).toBe(id);
  expect(readLink('open', token('open'))).toBe(id);
  expect(readLink('open', token('unsubscribe'))).toBeNull();
  expect(readLink('unsubscribe', token('open'))).toBeNull();
});
