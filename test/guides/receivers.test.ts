// @slow: it runs each sample of the guides.
import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { beforeAll, describe, expect, test } from 'vitest';
import { now } from '../../shared/common/clock.ts';
import { query, transaction } from '../../shared/db/client.ts';
import * as relay from '../../shared/domain/events/relay.ts';
import { attempt } from '../../shared/domain/webhooks/deliveries/deliveries.ts';
import * as webhooks from '../../shared/domain/webhooks/webhooks.ts';
import { idToBytes } from '../../shared/formats/ids.ts';
import { acceptEmail, callerOf } from '../support/data/accepted-email.ts';
import { deliveriesOf, makeWebhook } from '../support/data/deliveries.ts';
import { workspace } from '../support/data/factory.ts';
import { useDatabase } from '../support/database/database.ts';
import { freePort } from '../support/processes/free-port.ts';
import { type ReceivedRequest, startWebhookReceiver } from '../support/servers/webhook-receiver.ts';
import { inLanguages, type Program, serve } from './run-program.ts';

// The code that customers copy from the guide "Receive webhooks", against deliveries as the platform makes them.
useDatabase();

type Workspace = Awaited<ReturnType<typeof workspace>>;

/** Makes an event; returns its delivery after one attempt. */
async function deliver(own: Workspace, webhookId: string) {
  await acceptEmail(own);
  await relay.relayAll();
  const { id } = (await deliveriesOf(webhookId)).at(-1)!;
  await attempt(id);
  return (await deliveriesOf(webhookId)).at(-1)!;
}

const rotate = async (own: Workspace, id: string) =>
  (await transaction(() => webhooks.rotateSecret(callerOf(own), id))).secret!;

const accepted = { status: 'delivered', responseStatus: 200, responseBody: 'Thank you.' };
const refused = {
  status: 'pending',
  responseStatus: 401,
  responseBody: 'No signature was made with a secret of ours.',
};

function responseTo(sent: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => sent.once('response', resolve).once('error', reject));
}

/** Posts a received request again, to another server, as a proxy or an attacker would. */
async function replay(port: number, original: ReceivedRequest, changes: Partial<ReceivedRequest> = {}) {
  const { method, url, headers, body } = { ...original, ...changes };
  const sent = httpRequest({ host: '127.0.0.1', port, method, path: url, headers });
  sent.end(body);
  const response = await responseTo(sent);
  return { status: response.statusCode, text: await text(response) };
}

describe.each(inLanguages({ node: 'receiver.mjs', python: 'receiver.py' }))(
  'the receiver in $language',
  (program: Program) => {
    let own: Workspace;
    beforeAll(async () => {
      own = await workspace();
    });

    /** Makes a webhook for a receiver, which a test starts with the secrets of its choice. */
    async function makeEndpoint(path = '/hooks/a%20b?source=x%26y&z=1') {
      const mine = await workspace();
      const port = await freePort();
      const url = `http://127.0.0.1:${port}${path}`;
      const { id, secret } = await makeWebhook(mine, url);
      const startWith = (...secrets: string[]) =>
        serve(program, { WEBHOOK_URL: url, WEBHOOK_SECRETS: secrets.join(','), PORT: String(port) });
      return {
        id,
        secret: secret!,
        startWith,
        deliver: () => deliver(mine, id),
        rotate: () => rotate(mine, id),
      };
    }

    test.each(['', '/', '/hooks/a%20b?source=x%26y&z=1'])('accepts a delivery to …%s', async (path) => {
      const endpoint = await makeEndpoint(path);
      const receiver = await endpoint.startWith(endpoint.secret);
      const delivery = await endpoint.deliver();
      expect(delivery).toMatchObject(accepted);
      expect(receiver.output()).toContain(`Event ${delivery.eventId}: email.queued`);
    });

    test('deals with a delivery that comes again once, and accepts it again', async () => {
      const endpoint = await makeEndpoint();
      const receiver = await endpoint.startWith(endpoint.secret);
      const { id, eventId } = await endpoint.deliver();
      await query("UPDATE webhook_deliveries SET status = 'pending', due_at = ? WHERE id = ?", [
        now(),
        idToBytes(id),
      ]);
      await attempt(id);
      const [again] = await deliveriesOf(endpoint.id);
      expect(again).toMatchObject({ status: 'delivered', attempts: 2, responseBody: 'We have it already.' });
      expect(receiver.output().split(eventId)).toHaveLength(2);
    });

    test('refuses what another secret signed', async () => {
      const endpoint = await makeEndpoint();
      const receiver = await endpoint.startWith(`whsec_${'x'.repeat(43)}`);
      expect(await endpoint.deliver()).toMatchObject(refused);
      expect(receiver.output()).not.toContain('Event');
    });

    test('accepts every delivery through a rotation, in the steps of the guide', async () => {
      const endpoint = await makeEndpoint();
      let receiver = await endpoint.startWith(endpoint.secret);
      const second = await endpoint.rotate();
      // The receiver knows only the old secret, until it is started with both.
      expect(await endpoint.deliver()).toMatchObject(accepted);
      await receiver.stop();
      receiver = await endpoint.startWith(second, endpoint.secret);
      expect(await endpoint.deliver()).toMatchObject(accepted);
      await receiver.stop();
      receiver = await endpoint.startWith(second);
      expect(await endpoint.deliver()).toMatchObject(accepted);
      await receiver.stop();
      // After a second rotation the first secret is no longer used.
      await endpoint.rotate();
      receiver = await endpoint.startWith(endpoint.secret);
      expect(await endpoint.deliver()).toMatchObject(refused);
      await receiver.stop();
      await endpoint.startWith(endpoint.secret, second);
      expect(await endpoint.deliver()).toMatchObject(accepted);
    });

    test('behind a proxy it knows a genuine delivery from one that was changed on the way', async () => {
      const proxy = await startWebhookReceiver();
      const url = `${proxy.url}/hooks?a=b`;
      const { id, secret } = await makeWebhook(own, url);
      await deliver(own, id);
      const original = proxy.requests[0]!;
      const { port, output } = await serve(program, {
        WEBHOOK_URL: url,
        WEBHOOK_SECRETS: secret!,
        PORT: '0',
      });
      const body = Buffer.from(original.body.toString().replace('queued', 'failed'));
      const { headers } = original;
      const having = (changes: Record<string, string>) => ({ headers: { ...headers, ...changes } });
      const without = (name: string) => ({
        headers: Object.fromEntries(Object.entries(headers).filter(([key]) => key !== name)),
      });
      const other = { ...headers, 'webhook-id': 'delivery_01h455vb4pex5vsknk084sn02q' };
      const later = headers['signature-input']!.replace(/expires=\d+/, 'expires=9999999999');
      const fewer = headers['signature-input']!.replace('"content-digest" ', '');
      const changes: [string, Partial<ReceivedRequest>][] = [
        ['body', { body }],
        ['path', { url: '/other?a=b' }],
        ['query', { url: '/hooks?a=c' }],
        ['no query', { url: '/hooks' }],
        ['id', { headers: other }],
        ['type', having({ 'content-type': 'text/plain' })],
        ['expiry', having({ 'signature-input': later })],
        ['fewer components', having({ 'signature-input': fewer })],
        ['another label', having({ signature: headers['signature']!.replace('sig=', 'sig-prev=') })],
        ['half a signature', having({ signature: headers['signature']!.slice(0, 30) })],
        ['junk', having({ signature: 'sig=:\u00e9:', 'signature-input': 'sig=()' })],
        ...['signature', 'signature-input', 'content-digest', 'webhook-id'].map(
          (name): [string, Partial<ReceivedRequest>] => [`no ${name}`, without(name)],
        ),
      ];
      for (const [what, change] of changes)
        expect([what, (await replay(port, original, change)).status]).toEqual([what, 401]);
      expect(output()).not.toContain('Event');
      expect(await replay(port, original)).toEqual({ status: 200, text: 'Thank you.' });
    });

    test('refuses a body that is far too large before it comes', async () => {
      const settings = { WEBHOOK_URL: 'http://127.0.0.1:1/', WEBHOOK_SECRETS: 'whsec_x', PORT: '0' };
      const { port } = await serve(program, settings);
      const sent = httpRequest({
        host: '127.0.0.1',
        port,
        method: 'POST',
        headers: { 'content-length': '2000000' },
      });
      sent.flushHeaders();
      expect((await responseTo(sent)).statusCode).toBe(413);
      sent.destroy();
    });
  },
);
