import { randomBytes } from 'node:crypto';
import { Resolver } from 'node:dns/promises';
import { dkimVerify } from 'mailauth';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { now } from '../../../../shared/common/clock.ts';
import { attempt } from '../../../../shared/domain/email/delivery/delivery.ts';
import * as emailDomains from '../../../../shared/domain/email/domains/domains.ts';
import { type Client, startApi } from '../../../support/api/start-api.ts';
import { acceptEmail } from '../../../support/data/accepted-email.ts';
import { workspace } from '../../../support/data/factory.ts';
import { useDatabase } from '../../../support/database/database.ts';
import { changeSettings } from '../../../support/processes/settings.ts';
import { type SmtpSink, startSmtpSink } from '../../../support/servers/smtp-sink.ts';
import { startZone } from '../../../support/time/zone.ts';

useDatabase();

let api: Client;
let own: Awaited<ReturnType<typeof workspace>>;
let sink: SmtpSink;
let zone: Awaited<ReturnType<typeof startZone>>;
beforeAll(async () => {
  api = await startApi();
  own = await workspace();
  zone = await startZone();
  sink = await startSmtpSink();
  changeSettings({ SMTP_URL: sink.url });
});
beforeEach(() => {
  zone.answerAll(null);
  changeSettings({ RETURN_PATH_DOMAIN: 'bounces.platform.example' });
});

async function newDomain(key = own.key): Promise<any> {
  const name = `${randomBytes(6).toString('hex')}.example`;
  const { body } = await api.request('POST', '/v2/email/domains', { key, body: { name } });
  return body;
}
const verify = (id: string, key = own.key) => api.request('POST', `/v2/email/domains/${id}/verify`, { key });
const send = (name: string) =>
  api.request('POST', '/v2/email', {
    key: own.key,
    body: { sender: `hello@${name}`, recipient: 'a@example.com', subject: 'S', content: { text: 'T' } },
  });
const statuses = (domain: any) =>
  Object.fromEntries(domain.records.map((record: any) => [record.purpose, record.status]));

test('a domain is verified by its DKIM record alone, and may send from then on', async () => {
  const domain = await newDomain();
  expect((await send(domain.name)).status).toBe(400);
  const before = await verify(domain.id);
  expect([before.status, before.body.status, before.body.verifiedAt]).toEqual([200, 'pending', null]);
  expect(statuses(before.body)).toEqual({
    dkim: 'missing',
    return_path: 'missing',
    spf: 'missing',
    dmarc: 'missing',
  });
  expect(before.body.lastCheckedAt).toEqual(expect.any(String));

  zone.publish(domain, 'dkim');
  const { body } = await verify(domain.id);
  expect(body.status).toBe('verified');
  expect(statuses(body)).toMatchObject({ dkim: 'verified', spf: 'missing' });
  expect(body.verifiedAt).toBe(body.lastCheckedAt);
  expect((await send(domain.name)).status).toBe(201);
  const found = await api.request('GET', `/v2/email/domains/${domain.id}`, { key: own.key });
  expect(found.body).toEqual(body);
});

test('every record is verified as it was asked for', async () => {
  const domain = await newDomain();
  zone.publish(domain, 'dkim', 'return_path', 'spf', 'dmarc');
  const { body } = await verify(domain.id);
  expect(statuses(body)).toEqual({
    dkim: 'verified',
    return_path: 'verified',
    spf: 'verified',
    dmarc: 'verified',
  });
});

test('what is wrong with a record is said', async () => {
  const domain = await newDomain();
  const other = await newDomain();
  zone.set(domain.records[0].name, { texts: [other.records[0].value] });
  zone.set(`bounce.${domain.name}`, { alias: 'elsewhere.example' });
  zone.set(domain.name, { texts: ['v=spf1 include:_spf.elsewhere.example -all'] });
  zone.set(`_dmarc.${domain.name}`, { texts: ['v=DMARC1'] });
  const { body } = await verify(domain.id);
  expect(body.status).toBe('pending');
  expect(body.records.map(({ status, error }: any) => [status, error])).toEqual([
    ['invalid', 'The record holds another key'],
    ['invalid', 'It leads to elsewhere.example'],
    ['invalid', 'The SPF record lacks include:bounces.platform.example'],
    ['invalid', 'p= must be none, quarantine or reject'],
  ]);
});

test('the policy of the organization holds for a subdomain that has none of its own', async () => {
  const parent = `${randomBytes(6).toString('hex')}.example`;
  const { body: domain } = await api.request('POST', '/v2/email/domains', {
    key: own.key,
    body: { name: `mail.${parent}` },
  });
  const dmarc = async () => (await verify(domain.id)).body.records.at(-1);
  expect(await dmarc()).toMatchObject({ name: `_dmarc.mail.${parent}`, status: 'missing' });
  zone.set(`_dmarc.${parent}`, { texts: ['v=DMARC1; p=reject'] });
  expect(await dmarc()).toMatchObject({ status: 'verified', error: null });
  zone.set(`_dmarc.mail.${parent}`, { texts: ['v=DMARC1; p=what'] });
  expect(await dmarc()).toMatchObject({ status: 'invalid' });
  zone.set(`_dmarc.mail.${parent}`, 'failure');
  expect(await dmarc()).toMatchObject({ status: 'invalid', error: expect.stringMatching(/name servers/) });
});

test('a receiver verifies mail of the domain by the record that was published', async () => {
  const domain = await newDomain();
  zone.publish(domain, 'dkim');
  await verify(domain.id);
  const recipient = `reader@${domain.name}`;
  const accepted = await acceptEmail(own, { sender: `hello@${domain.name}`, recipient });
  expect(await attempt(accepted.id)).toBe('done');
  const { raw } = sink.messages.find(({ envelope }) => envelope.to.includes(recipient))!;
  const resolver = new Resolver();
  resolver.setServers([zone.address]);
  const { results } = await dkimVerify(raw, {
    curTime: now(),
    resolver: (name) => resolver.resolveTxt(name),
  });
  expect(results).toMatchObject([{ signingDomain: domain.name, status: { result: 'pass' } }]);
});

test('trouble with the DNS changes no status, and is told', async () => {
  const domain = await newDomain();
  zone.publish(domain, 'dkim', 'dmarc');
  const good = (await verify(domain.id)).body;
  for (const answer of ['failure', 'silent'] as const) {
    zone.answerAll(answer);
    // A check of silent name servers lasts until its timeout, so the timeout is short here.
    if (answer === 'silent') changeSettings({ DNS_TIMEOUT_SECONDS: 0.3 });
    const { status, body } = await verify(domain.id);
    changeSettings({ DNS_TIMEOUT_SECONDS: 3 });
    expect([status, body.status]).toEqual([200, 'verified']);
    expect(statuses(body)).toEqual(statuses(good));
    for (const { error } of body.records) expect(error).toMatch(/name servers/);
  }
  expect((await send(domain.name)).status).toBe(201);
});

test('the return path of a domain is its own once it is verified, and only for the name that it leads to', async () => {
  const domain = await newDomain();
  const bounceHost = async () =>
    (await emailDomains.findSigningDomain(own.workspaceId, domain.name))?.bounceHost;
  zone.publish(domain, 'dkim');
  await verify(domain.id);
  expect(await bounceHost()).toBeNull();
  zone.publish(domain, 'return_path');
  await verify(domain.id);
  expect(await bounceHost()).toBe(`bounce.${domain.name}`);

  // The operator changes the return-path domain: earlier checks say nothing about the new name.
  changeSettings({ RETURN_PATH_DOMAIN: 'other.platform.example' });
  const { body } = await api.request('GET', `/v2/email/domains/${domain.id}`, { key: own.key });
  expect(body.records[1]).toMatchObject({ value: 'other.platform.example', status: 'pending' });
  await verify(domain.id);
  expect(await bounceHost()).toBeNull();
  zone.publish(body, 'return_path');
  await verify(domain.id);
  expect(await bounceHost()).toBe(`bounce.${domain.name}`);
  changeSettings({ RETURN_PATH_DOMAIN: undefined });
  await verify(domain.id);
  expect(await bounceHost()).toBeNull();
});

test('the record of another workspace’s key proves nothing', async () => {
  const domain = await newDomain();
  const other = await workspace();
  const { body: theirs } = await api.request('POST', '/v2/email/domains', {
    key: other.key,
    body: { name: domain.name },
  });
  zone.publish(domain, 'dkim');
  expect((await verify(domain.id)).body.status).toBe('verified');
  expect((await verify(theirs.id, other.key)).body.status).toBe('pending');
  expect((await verify(domain.id, other.key)).status).toBe(404);
});

test('a domain that the operator vouches for stays verified whatever its DNS says', async () => {
  const { body } = await api.request('GET', '/v2/email/domains?limit=200', { key: own.key });
  const vouched = body.data.find(({ name }: { name: string }) => name === own.domain);
  const checked = (await verify(vouched.id)).body;
  expect([checked.status, checked.records[0].status]).toEqual(['verified', 'missing']);
  expect((await send(own.domain)).status).toBe(201);
});

test('name servers that never answer hold up the checks of their own workspace only', async () => {
  const [domain, other] = [await newDomain(), await workspace()];
  const quick = await newDomain(other.key);
  zone.publish(quick, 'dkim');
  for (const { name } of domain.records) zone.set(name, 'silent');
  const held = Array.from({ length: 30 }, () => verify(domain.id));
  const answer = await verify(quick.id, other.key);
  expect(answer.body.status).toBe('verified');
  // Ends the silence: the name servers are asked again, and now answer with a failure.
  for (const { name } of domain.records) zone.set(name, 'failure');
  const answers = await Promise.all(held);
  const refused = answers.filter(({ status }) => status === 429);
  expect(refused.length).toBeGreaterThan(0);
  expect(refused[0]!.headers['retry-after']).toBeDefined();
  expect(answers.filter(({ status }) => status === 200).length).toBe(30 - refused.length);
});
