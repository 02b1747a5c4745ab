import { randomUUID } from 'node:crypto';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { config } from '../../../shared/config/config.ts';
import { processlist } from '../../../shared/db/client/time-limit.ts';
import { onOneConnection, query } from '../../../shared/db/client.ts';
import { attempt as attemptEmail } from '../../../shared/domain/email/delivery/delivery.ts';
import * as relay from '../../../shared/domain/events/relay.ts';
import { attempt as attemptText } from '../../../shared/domain/sms/delivery/delivery.ts';
import * as shortLinks from '../../../shared/domain/sms/short-links/short-links.ts';
import { attempt as attemptDelivery } from '../../../shared/domain/webhooks/deliveries/deliveries.ts';
import { idToBytes } from '../../../shared/formats/ids.ts';
import { type Client, startApi } from '../../support/api/start-api.ts';
import { acceptEmail } from '../../support/data/accepted-email.ts';
import { deliveriesOf, dueDelivery, makeWebhook } from '../../support/data/deliveries.ts';
import { workspace } from '../../support/data/factory.ts';
import { newEmail } from '../../support/data/new-email.ts';
import { sendSms, smsOf, textingWorkspace } from '../../support/data/new-sms.ts';
import { type CommitCut, type Moment, startCommitCut } from '../../support/database/commit-cut.ts';
import { useDatabase } from '../../support/database/database.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { type SmtpSink, startSmtpSink } from '../../support/servers/smtp-sink.ts';
import { startWebhookReceiver } from '../../support/servers/webhook-receiver.ts';
import { advanceClock, advanceClockTo } from '../../support/time/advance-clock.ts';
import { waitFor } from '../../support/time/wait-for.ts';

let line: CommitCut;
beforeAll(async () => {
  line = await startCommitCut(config.MYSQL_URL);
  changeSettings({ MYSQL_URL: line.url });
});
useDatabase();

let api: Client;
let sink: SmtpSink;
let own: Awaited<ReturnType<typeof workspace>>;
beforeAll(async () => {
  sink = await startSmtpSink();
  changeSettings({ SMTP_URL: sink.url });
  api = await startApi();
});
beforeEach(async () => {
  own = await workspace();
});

const moments: Moment[] = ['before', 'after'];
const afterTheLease = () => advanceClock(2 * config.LEASE_SECONDS * 1000);

// Shows F22
test.each(moments)(
  'a request whose connection is lost %s the server has its COMMIT is a 503, and its retry ends with one email',
  async (moment) => {
    const idempotencyKey = randomUUID();
    const post = () =>
      api.request('POST', '/v2/email', {
        key: own.key,
        headers: { 'idempotency-key': idempotencyKey },
        body: newEmail(own),
      });
    const cut = line.cutNext(moment);
    const refused = await post();
    await cut;
    expect(refused.status).toBe(503);
    expect(refused.body.type).toBe(`${api.url}/problems/service_unavailable`);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    // The server may notice a moment later that the connection of the first request is lost.
    const done = await waitFor('the first request has ended', async () => {
      const answer = await post();
      return answer.body.type?.endsWith('/idempotency_in_progress') ? null : answer;
    });
    const again = await post();
    expect([done.status, done.headers['idempotent-replayed']]).toEqual([
      201,
      moment === 'after' ? 'true' : undefined,
    ]);
    expect(again.body).toEqual(done.body);
    const listed = await api.request('GET', '/v2/email', { key: own.key });
    expect(listed.body.data.map(({ id }: { id: string }) => id)).toEqual([done.body.id]);
    const feed = await query('SELECT type FROM events WHERE workspace_id = ?', [idToBytes(own.workspaceId)]);
    expect(feed).toEqual([{ type: 'email.queued' }]);
  },
);

const stepsOfEmail: [string, RegExp][] = [
  ['the claim', /^UPDATE emails .*SET lease_token = /s],
  ['the mark before the relay is spoken to', /^UPDATE emails .*SET uncertain_count = /s],
  ['the COMMIT of the outcome', /^COMMIT$/],
];
// Shows F22
test.each(
  moments.flatMap((moment) => stepsOfEmail.map(([name, statement]) => [name, moment, statement] as const)),
)(
  'an email goes out once and tells of it once when the connection of %s is lost %s the server has it',
  async (_name, moment, statement) => {
    const recipient = `${randomUUID()}@example.com`;
    const email = await acceptEmail(own, { recipient });
    const cut = line.cutNext(moment, statement);
    // The attempt fails with an outage, after which the job comes again, or its second try has written the outcome.
    await attemptEmail(email.id).catch((error) =>
      expect(error).toMatchObject({ code: 'service_unavailable' }),
    );
    await cut;
    await afterTheLease();
    await attemptEmail(email.id);
    expect(await email.read()).toMatchObject({ status: 'sent', dueAt: null });
    expect(await email.eventTypes()).toEqual(['email.queued', 'email.sent']);
    expect(sink.messages.filter(({ envelope }) => envelope.to.includes(recipient))).toHaveLength(1);
    expect(await attemptEmail(email.id)).toBe('dropped');
  },
);

const stepsOfDelivery: [string, number, RegExp][] = [
  ['the claim', 1, /^UPDATE webhook_deliveries .*lease_token = /s],
  ['the outcome', 1, /^UPDATE webhook_deliveries .*lease_token = NULL/s],
  ['the COMMIT of an outcome after an earlier one', 2, /^COMMIT$/],
];
// Shows F22
test.each(moments.flatMap((moment) => stepsOfDelivery.map((step) => [step[0], moment, step] as const)))(
  'a delivery is posted once an attempt when the connection of %s is lost %s the server has it',
  async (_name, moment, [, attempts, statement]) => {
    const receiver = await startWebhookReceiver({
      respond: (_request, index) => ({ status: index + 1 < attempts ? 500 : 200 }),
    });
    const { id, read } = await dueDelivery(own, receiver.url);
    for (let attempt = 1; attempt < attempts; attempt += 1) {
      await attemptDelivery(id);
      await advanceClockTo((await read()).dueAt!);
    }
    const cut = line.cutNext(moment, statement);
    await attemptDelivery(id).catch((error) => expect(error).toMatchObject({ code: 'service_unavailable' }));
    await cut;
    await afterTheLease();
    await attemptDelivery(id);
    expect(await read()).toMatchObject({ status: 'delivered', attempts, isHeld: false });
    expect(receiver.requests).toHaveLength(attempts);
  },
);

const stepsOfText: [string, RegExp][] = [
  ['the claim', /^UPDATE sms_messages .*SET lease_token = /s],
  ['the mark before the gateway is spoken to', /^UPDATE sms_messages .*SET uncertain_count = /s],
  ['the COMMIT of the gateway, which is a simulated one here,', /^COMMIT$/],
  ['the outcome', /^UPDATE sms_messages .*lease_token = NULL/s],
];
// Shows F22
test.each(moments.flatMap((moment) => stepsOfText.map((step) => [step[0], moment, step[1]] as const)))(
  'a text is on the phone once and tells of it once when the connection of %s is lost %s the server has it',
  async (_name, moment, statement) => {
    const sender = await textingWorkspace();
    const { id } = await sendSms(api, sender);
    const cut = line.cutNext(moment, statement);
    await attemptText(id).catch((error) => expect(error).toMatchObject({ code: 'service_unavailable' }));
    await cut;
    await afterTheLease();
    await attemptText(id);
    const { status, eventTypes } = await smsOf(sender, id);
    expect([status, eventTypes.filter((type) => type === 'sms.sent')]).toEqual(['sent', ['sms.sent']]);
    const phone = await query('SELECT 1 FROM simulator_messages WHERE workspace_id = ?', [
      idToBytes(sender.workspaceId),
    ]);
    expect(phone).toHaveLength(1);
  },
);

/** Ends the other connections to this database, as a server does that is switched off. */
const endConnections = () =>
  onOneConnection(async () => {
    const others = await query(
      `SELECT id AS other FROM ${processlist} WHERE db = DATABASE() AND id <> CONNECTION_ID()`,
    );
    // One that has ended by itself since is unknown.
    for (const { other } of others) await query(`KILL ${Number(other)}`).catch(() => undefined);
  });

// Shows F22
test.each<[string, RegExp]>([
  ['an email', /^COMMIT$/],
  ['a text', /^UPDATE sms_messages .*lease_token = NULL/s],
  ['a delivery', /^UPDATE webhook_deliveries .*lease_token = NULL/s],
])(
  'the outcome of %s is written, and it goes out once, though the lease ends before the database is back',
  async (what, statement) => {
    const receiver = await startWebhookReceiver();
    const recipient = `${randomUUID()}@example.com`;
    const sender = await textingWorkspace();
    const works = {
      'an email': async () => {
        const { id, read } = await acceptEmail(own, { recipient });
        return { read, attempt: () => attemptEmail(id) };
      },
      'a text': async () => {
        const { id } = await sendSms(api, sender);
        return { read: () => smsOf(sender, id), attempt: () => attemptText(id) };
      },
      'a delivery': async () => {
        const { id, read } = await dueDelivery(own, receiver.url);
        return { read, attempt: () => attemptDelivery(id) };
      },
    };
    const { read, attempt } = await works[what as keyof typeof works]();
    const held = line.holdNext('before', statement);
    const attempted = attempt();
    await held;
    await afterTheLease();
    await endConnections();
    expect(await attempted).toBe('done');
    expect(await read()).toMatchObject({
      status: what === 'a delivery' ? 'delivered' : 'sent',
      claims: 1,
      dueAt: null,
    });
    expect(await attempt()).toBe('dropped');
    const phone = await query('SELECT 1 FROM simulator_messages WHERE workspace_id = ?', [
      idToBytes(sender.workspaceId),
    ]);
    const mails = sink.messages.filter(({ envelope }) => envelope.to.includes(recipient));
    expect(mails.length + phone.length + receiver.requests.length).toBe(1);
  },
);

// Shows F22
test.each(moments)(
  'events are numbered once and fanned out once when the connection is lost %s the server has the COMMIT',
  async (moment) => {
    const webhook = await makeWebhook(own, 'https://example.com/');
    const email = await acceptEmail(own);
    const cut = line.cutNext(moment);
    await expect(relay.relayAll()).rejects.toMatchObject({ code: 'service_unavailable' });
    await cut;
    await relay.relayAll();
    const numbered = await query(
      'SELECT position FROM events WHERE workspace_id = ? AND position IS NOT NULL',
      [idToBytes(own.workspaceId)],
    );
    expect(numbered).toHaveLength(1);
    expect(await deliveriesOf(webhook.id)).toMatchObject([{ eventType: 'email.queued', status: 'pending' }]);
    expect(await email.eventTypes()).toEqual(['email.queued']);
  },
);

// Shows F48
test.each(moments)(
  'clicks are counted once or not at all when the connection is lost %s the server has their COMMIT',
  async (moment) => {
    const sender = await textingWorkspace();
    const { id } = await sendSms(api, sender, { content: 'https://x.example', shortenLinks: true });
    const click = () => shortLinks.countClick({ smsId: id, place: 0 });
    const clicks = async () =>
      (await query('SELECT clicks FROM short_links WHERE sms_id = ?', [idToBytes(id)])).map(
        (link) => link['clicks'],
      );
    const cut = line.cutNext(moment);
    click();
    await shortLinks.writeClicks();
    await cut;
    await shortLinks.writeClicks();
    const stored = moment === 'after' ? 1 : 0;
    expect(await clicks()).toEqual([stored]);
    click();
    await shortLinks.writeClicks();
    expect(await clicks()).toEqual([stored + 1]);
  },
);
