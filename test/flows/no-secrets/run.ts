import { createPrivateKey, randomBytes, randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { open } from '../../../shared/common/secrets.ts';
import { config } from '../../../shared/config/config.ts';
import { query } from '../../../shared/db/client.ts';
import { findEmailDomainByName } from '../../../shared/db/email/domains.ts';
import * as apiKeys from '../../../shared/domain/api-keys/api-keys.ts';
import { linkOf } from '../../../shared/domain/email/tracking/links.ts';
import * as prices from '../../../shared/domain/sms/prices.ts';
import { idToBytes } from '../../../shared/formats/ids.ts';
import { queueNames } from '../../../shared/jobs/index.ts';
import { basicLogin } from '../../support/api/basic-login.ts';
import { customerOf } from '../../support/api/customer.ts';
import { signRequest } from '../../support/api/sign-request.ts';
import { ecdsaKey } from '../../support/api/signed-key.ts';
import { letter } from '../../support/data/new-email.ts';
import { textingWorkspace } from '../../support/data/new-sms.ts';
import { codeSentTo, sampleContent } from '../../support/data/sender-codes.ts';
import { linksTo } from '../../support/data/test-recipients.ts';
import { startProcess, startWeb, startWorkerProcess } from '../../support/processes/processes.ts';
import { type Smsc, startSmsc } from '../../support/servers/smsc.ts';
import { startSmtpSink } from '../../support/servers/smtp-sink.ts';
import { startTcpProxy } from '../../support/servers/tcp-proxy.ts';
import { startWebhookReceiver } from '../../support/servers/webhook-receiver.ts';
import { waitFor } from '../../support/time/wait-for.ts';
import { startAdapter } from './adapter.ts';
import { call } from './call.ts';
import { listenToRedis, withPasswords } from './places.ts';

/** Values that give access. Only their owner may have them in plain form; at rest they are encrypted or hashed. */
export const secrets = new Map<string, string>();
/** Data about people. The database may hold it, but not Redis, the log from `info` on, or the operator's pages. */
export const personal = new Map<string, string>([
  ['address of a recipient', 'ada.lovelace@secret-mail.example'],
  ['another address', 'charles.babbage@secret-mail.example'],
  ['number of a recipient', '+447700900321'],
  ['number of a sender', '07403111222'],
  ['number that carriers reach', '+447407000321'],
  ['number that an adapter reaches', '+447408000321'],
  ['subject', 'Subject-of-a-private-matter'],
  ['text of an email', 'Text-of-a-private-matter'],
  ['text message', 'A-text-message-of-a-private-matter'],
  ['attachment', 'Content-of-a-private-attachment'],
  ['name of a person', 'Augusta-Ada-King'],
  ['query of a webhook', 'query-that-a-webhook-has'],
]);
const of = (name: string) => personal.get(name)!;
const random = () => randomBytes(18).toString('base64url');

/** Runs the whole platform once, with a failure of each server that it depends on. */
export async function run() {
  const own = await textingWorkspace();
  await prices.load('country,gbp,eur,validFrom\nGB,0.0345,0.0412,2020-01-01\n');
  const saidToRedis = await listenToRedis(config.REDIS_URL, config.QUEUE_PREFIX);
  const users = await withPasswords(config.MYSQL_URL, config.REDIS_URL);
  const mysql = await startTcpProxy(users.mysqlUrl, 3306);
  const redis = await startTcpProxy(users.redisUrl, 6379);
  const login = { user: 'relay', password: random() };
  const sink = await startSmtpSink({ login });
  const own500 = await startWebhookReceiver({ respond: { status: 500, body: 'No' } });
  const receiver = await startWebhookReceiver();
  const [opsPassword, inboundToken] = [random(), random()];
  const [carrier, refusing] = await Promise.all([startSmsc(), startSmsc()]);
  refusing.bindStatus = 0x0e;
  const adapter = await startAdapter(random());
  const carried = { type: 'smpp', prefixes: [of('number that carriers reach').slice(0, -3)] };
  const urlOf = ({ port }: Smsc, password: string) => `smpp://acme:${password}@127.0.0.1:${port}`;
  const carrierPasswords = [random(), random()] as const;
  for (const [name, secret] of Object.entries({
    'key of the deployment': config.SECRET_KEY!.split(':')[1]!,
    'password of MySQL': users.passwords.mysql,
    'password of Redis': users.passwords.redis,
    'password of the relay': login.password,
    OPS_PASSWORD: opsPassword,
    INBOUND_TOKEN: inboundToken,
    'password of a carrier': carrierPasswords[0],
    'password that a carrier refuses': carrierPasswords[1],
    'secret of an adapter': adapter.settings.secret,
    'first API key': own.key,
  }))
    secrets.set(name, secret);
  const settings = {
    LOG_LEVEL: 'trace',
    MYSQL_URL: mysql.url,
    REDIS_URL: redis.url,
    SMTP_URL: sink.url,
    OPS_PASSWORD: opsPassword,
    INBOUND_TOKEN: inboundToken,
    SYSTEM_SENDER: `Platform <hello@${own.domain}>`,
    RETURN_PATH_DOMAIN: 'bounces.example',
    WEBHOOK_RETRY_SCHEDULE_SECONDS: '1,1',
    SIMULATOR_SECONDS: '0',
    SMS_GATEWAYS: JSON.stringify([
      { name: 'refusing', url: urlOf(refusing, carrierPasswords[1]), ...carried },
      { name: 'carrier', url: urlOf(carrier, carrierPasswords[0]), ...carried },
      { ...adapter.settings, prefixes: [of('number that an adapter reaches').slice(0, -3)] },
      { name: 'simulator', type: 'simulator' },
    ]),
  };
  const web = await startWeb(settings);
  const worker = await startWorkerProcess([], settings);
  const at = (path: string) => web.url + path;
  const customer = customerOf(web.url, own);
  const post = (path: string, body: unknown, headers = {}, key: string | null = own.key) =>
    call(at(path), 'POST', key, body, headers);

  // Callers: a replayed answer with secrets; both algorithms; rotations; wrong signatures and keys; an internal error.
  const hmacSigned = { algorithm: 'hmac_sha256' } as const;
  const once = { body: { signing: hmacSigned, strictMode: true }, idempotencyKey: randomUUID() };
  const signing = await customer.post('/v2/api-keys', once);
  expect(await customer.post('/v2/api-keys', once)).toEqual(signing);
  secrets.set('API key', signing.key!).set('signing secret', signing.signingSecret!);
  const ofKey = ({ id }: { id: string }) => ({ path: { id } });
  const rotated = await customer.post('/v2/api-keys/{id}/rotate', { ...ofKey(signing), body: {} });
  const renewed = await customer.post('/v2/api-keys/{id}/rotate-signing-secret', ofKey(rotated));
  secrets.set('rotated API key', rotated.key!).set('rotated signing secret', renewed.signingSecret!);
  const token = await apiKeys.issue(own.workspaceId, { kind: 'app', scopes: ['email.read'] });
  secrets.set('token of an app', token.key);
  const ecdsa = await ecdsaKey(own.workspaceId);
  secrets.set('ecdsa API key', ecdsa.key);
  const hmac = { keyId: rotated.id, algorithm: 'hmac_sha256', secret: renewed.signingSecret! } as const;
  const email = (changes: Parameters<typeof letter>[1] = {}) =>
    letter(own, {
      recipient: of('address of a recipient'),
      subject: of('subject'),
      content: { text: of('text of an email'), html: `<p>${of('text of an email')}</p>` },
      ...changes,
    });
  const asSigned = async (key: string, signer: Parameters<typeof signRequest>[1], change = '') => {
    const body = JSON.stringify(email());
    const headers = { 'idempotency-key': randomUUID() };
    const signed = signRequest({ method: 'POST', url: at('/v2/email'), body, headers }, signer);
    return (await call(at('/v2/email'), 'POST', key, body + change, signed)).status;
  };
  expect(await asSigned(rotated.key!, hmac)).toBe(201);
  expect(await asSigned(ecdsa.key, ecdsa.signer)).toBe(201);
  expect(await asSigned(rotated.key!, hmac, ' ')).toBe(401);
  expect(await asSigned(ecdsa.key, ecdsa.signer, ' ')).toBe(401);
  expect((await post('/v2/email', email(), {}, `${own.key}x`)).status).toBe(401);
  const broken = await customer.post('/v2/api-keys', { body: { signing: hmacSigned } });
  secrets.set('API key whose secret is broken', broken.key!).set('broken secret', broken.signingSecret!);
  await query('UPDATE api_keys SET signing_secret = ? WHERE id = ?', [
    Buffer.from('broken'),
    idToBytes(broken.id),
  ]);
  expect((await post('/v2/email', email(), {}, broken.key)).status).toBe(500);
  // Webhooks: one that takes events, one that fails; a rotation.
  for (const [name, url] of [
    ['good webhook', receiver.url],
    ['failing webhook', own500.url],
  ] as const) {
    const { id, secret } = await customer.post('/v2/webhooks', {
      body: {
        url: `${url}/?token=${of('query of a webhook')}`,
        events: ['email.queued', 'email.sent', 'email.bounced', 'sms.sent'],
      },
    });
    const later = await customer.post('/v2/webhooks/{id}/rotate-secret', { path: { id } });
    secrets.set(`secret of the ${name}`, secret!).set(`rotated secret of the ${name}`, later.secret!);
  }
  // Sending: accepted, refused and malformed requests, each with personal data.
  sink.setMode((recipient) => (recipient === of('another address') ? '550 naming the address' : 'accept'));
  const attachments = [
    {
      filename: 'a.txt',
      contentType: 'text/plain',
      content: Buffer.from(of('attachment').repeat(9)).toString('base64'),
    },
  ];
  const marketing = await customer.post('/v2/email', {
    body: email({ kind: 'marketing', trackOpens: true, attachments }),
  });
  await post('/v2/email', email({ recipient: of('another address') }));
  await post('/v2/email', { ...email({ recipient: `${of('another address')} ` }), subject: 7 });
  await post('/v2/email', `${JSON.stringify(email())}x`);
  await customer.post('/v2/contacts', {
    body: { number: of('number of a recipient'), firstName: of('name of a person') },
  });
  const text = (to: string) =>
    customer.post('/v2/sms', { body: { recipient: of(to), content: of('text message') } });
  await text('number of a recipient');
  // Texts by a carrier: an accepted one, a refused one, a receipt and an answer.
  await waitFor('a bind is refused', () => worker.output().includes('a gateway refuses the bind'));
  carrier.submit = (_, count) => (count === 1 ? { id: 'm1' } : { status: 0x0b });
  for (const count of [1, 2]) {
    await text('number that carriers reach');
    await waitFor('the carrier has it', () => carrier.taken.length === count);
  }
  carrier.deliver({ esmClass: 4, message: Buffer.from('id:m1 stat:DELIVRD err:000 text:') });
  const answer = carrier.deliver({
    source: { ton: 1, npi: 1, address: of('number that carriers reach').slice(1) },
    message: Buffer.from(of('text message')),
  });
  expect(await carrier.answerOf(answer)).toBe(0);
  for (const count of [1, 2, 3, 4]) {
    await text('number that an adapter reaches');
    await adapter.hasPosts(count);
  }
  const posted = await adapter.postTo(web.url, of('number that an adapter reaches'), of('text message'));
  expect(posted).toEqual([204, 204, 401, 401, 400]);
  await customer.post('/v2/suppressions', { body: { number: of('number of a recipient') } });
  await customer.post('/v2/simulator/phones/{number}/messages', {
    path: { number: of('number of a sender') },
    body: { content: of('text message') },
  });
  const recipient = of('another address');
  await customer.post('/v2/email/test-recipients', { body: { email: recipient } });
  const [confirmation] = await waitFor('the link', async () => {
    const found = await linksTo(recipient);
    return found.length > 0 && found;
  });
  secrets.set('confirmation token', confirmation!.split('/').at(-1)!);
  for (const method of ['GET', 'POST']) await call(at(confirmation!), method, null);
  for (const kind of ['unsubscribe', 'open'] as const) {
    const path = new URL(linkOf(kind, marketing.id)).pathname;
    secrets.set(`${kind} token`, path.split('/').at(-1)!);
    await call(at(kind === 'open' ? `${path}.gif` : path), 'GET', null);
    await call(at(path), 'POST', null);
  }
  const sender = await customer.post('/v2/senders', {
    body: { name: of('number of a sender'), sampleContent },
  });
  const code = await codeSentTo(own.workspaceId, of('number of a sender'));
  secrets.set('verification code', code);
  await post(`/v2/senders/${sender.id}/verify`, { code: 'abcdef' });
  await customer.post('/v2/senders/{id}/verify', { path: { id: sender.id }, body: { code } });
  for (const given of [inboundToken, `${inboundToken}x`])
    await call(
      at(`/inbound/email?recipient=${of('another address')}`),
      'POST',
      given,
      'Subject: x\r\n\r\nx',
      {
        'content-type': 'message/rfc822',
      },
    );
  const domain = await findEmailDomainByName(own.workspaceId, own.domain);
  const dkim = open(domain!.id, domain!.dkimPrivateKey);
  const der = createPrivateKey(dkim.includes('BEGIN') ? dkim : Buffer.from(dkim, 'base64'));
  secrets.set('DKIM key', der.export({ type: 'pkcs8', format: 'pem' }).toString().split('\n')[3]!);
  await sink.waitFor((messages) =>
    messages.some(({ envelope }) => envelope.to.includes(of('address of a recipient'))),
  );
  await receiver.waitFor(2);
  await own500.waitFor(2);
  // Outages of the platform's servers, one after the other; a relay that wants another password.
  sink.setMode('535 at login');
  sink.dropConnections();
  await post('/v2/email', email());
  redis.refuse();
  await post('/v2/email', email());
  await redis.pass();
  mysql.refuse();
  expect((await post('/v2/email', email())).status).toBe(503);
  for (const accept of ['text/html', '*/*'])
    await call(at(confirmation!), 'GET', null, undefined, { accept });
  await call(at('/ops/metrics'), 'GET', null, undefined, basicLogin(opsPassword));
  await mysql.pass();
  await waitFor(
    'all is well',
    async () => (await call(at('/health/ready'), 'GET', null)).body.redis === 'up',
  );
  await call(at('/ops/queues'), 'GET', null, undefined, basicLogin(`${opsPassword}x`));
  await waitFor('the relay is known to refuse', () => worker.output().includes('the relay cannot be used'));
  // Processes with wrong passwords.
  const wrong = (url: string) => url.replace(/:([^:@]+)@/, ':$1x@');
  const strangers = [
    startProcess('api/server.ts', [], { ...settings, PORT: '0', MYSQL_URL: wrong(users.mysqlUrl) }),
    startProcess('workers/main.ts', [], { ...settings, REDIS_URL: wrong(users.redisUrl) }),
    startProcess('api/server.ts', [], {
      ...settings,
      SMS_GATEWAYS: settings.SMS_GATEWAYS.replace('smpp:', 'smp:'),
    }),
  ];
  await waitFor(
    'they say why they do not start',
    () => !strangers[0]!.isRunning() && !strangers[2]!.isRunning(),
  );
  expect(strangers[2]!.output()).toContain('SMS_GATEWAYS');
  await waitFor('it has been refused', () => strangers[1]!.output().includes('WRONGPASS'));
  const board = '/ops/queues/api/queues';
  const pages: string[] = [];
  for (const path of [
    '/ops/queues',
    '/ops/metrics',
    '/ops/gateways',
    board,
    ...queueNames.map((name) => `${board}?activeQueue=${name}`),
  ])
    pages.push(JSON.stringify(await call(at(path), 'GET', null, undefined, basicLogin(opsPassword))));
  const processes = [web, worker, ...strangers];
  for (const one of strangers) await one.kill();
  await Promise.all([web.stop(), worker.stop()]);
  return { processes, pages, saidToRedis };
}
