import { randomUUID } from 'node:crypto';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { config } from '../../../shared/config/config.ts';
import { query } from '../../../shared/db/client.ts';
import { attempt as attemptEmail } from '../../../shared/domain/email/delivery/delivery.ts';
import { attempt as attemptText } from '../../../shared/domain/sms/delivery/delivery.ts';
import { idToBytes } from '../../../shared/formats/ids.ts';
import { type Client, startApi } from '../../support/api/start-api.ts';
import { acceptEmail } from '../../support/data/accepted-email.ts';
import { workspace } from '../../support/data/factory.ts';
import { sendSms, smsOf, textingWorkspace } from '../../support/data/new-sms.ts';
import { type CommitCut, type Moment, startCommitCut } from '../../support/database/commit-cut.ts';
import { useDatabase } from '../../support/database/database.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { type SmtpSink, startSmtpSink } from '../../support/servers/smtp-sink.ts';

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

async function accept() {
  const recipient = `${randomUUID()}@example.com`;
  const email = await acceptEmail(own, { recipient });
  const count = () => sink.messages.filter(({ envelope }) => envelope.to.includes(recipient)).length;
  return { ...email, count };
}

async function phoneOf({ workspaceId }: { workspaceId: string }) {
  return query('SELECT 1 FROM simulator_messages WHERE workspace_id = ?', [idToBytes(workspaceId)]);
}

const moments: Moment[] = ['before', 'after'];
const claimOf = (table: string) => new RegExp(`^UPDATE ${table} .*SET lease_token = `, 's');
const readOf = (table: string) => new RegExp(`^SELECT ${table}\\..*lease_token = `, 's');
const markOf = (table: string) => new RegExp(`^UPDATE ${table} .*SET uncertain_count = `, 's');
const steps = moments.flatMap((moment) => [
  ['the claim', moment, claimOf] as const,
  ['what reads the claimed row', moment, readOf] as const,
  ['the mark before the other side is spoken to', moment, markOf] as const,
]);

// Shows F22
test.each(steps)(
  'an email is out without waiting for a lease when the connection of %s is lost %s the server has it',
  async (_name, moment, statementOf) => {
    const email = await accept();
    const cut = line.cutNext(moment, statementOf('emails'));
    expect(await attemptEmail(email.id)).toBe('done');
    await cut;
    expect(await email.read()).toMatchObject({ status: 'sent', claims: 1, uncertainCount: 0 });
    expect(email.count()).toBe(1);
  },
);

// Shows F22
test.each(steps)(
  'a text is on the phone without waiting for a lease when the connection of %s is lost %s the server has it',
  async (_name, moment, statementOf) => {
    const sender = await textingWorkspace();
    const { id } = await sendSms(api, sender);
    const cut = line.cutNext(moment, statementOf('sms_messages'));
    expect(await attemptText(id)).toBe('done');
    await cut;
    expect(await smsOf(sender, id)).toMatchObject({ status: 'sent', claims: 1, uncertainCount: 0 });
    expect(await phoneOf(sender)).toHaveLength(1);
  },
);

test.each([
  ['the claim', claimOf],
  ['the mark before the relay is spoken to', markOf],
])('an email is out at once although %s meets a deadlock', async (_name, statementOf) => {
  const email = await accept();
  const deadlock = `SIGNAL SQLSTATE '40001' SET MYSQL_ERRNO = 1213, MESSAGE_TEXT = 'Deadlock found'`;
  const met = line.replaceNext(deadlock, statementOf('emails'));
  expect(await attemptEmail(email.id)).toBe('done');
  await met;
  expect(email.count()).toBe(1);
});

/** More cuts than the attempt makes tries before it gives up. */
const many = 100;

// Shows F22
test.each(moments)(
  'an email is due again at once, with nothing counted against it, when every mark is lost %s the server has it',
  async (moment) => {
    const email = await accept();
    for (let order = 0; order < many; order += 1) void line.cutNext(moment, markOf('emails'));
    await expect(attemptEmail(email.id)).rejects.toMatchObject({ code: 'service_unavailable' });
    line.pass();
    expect(await email.read()).toMatchObject({ claims: 0, handoverAt: null, uncertainCount: 0 });
    expect(email.count()).toBe(0);
    expect(await attemptEmail(email.id)).toBe('done');
    expect(email.count()).toBe(1);
  },
);

// Shows F22
test.each(moments)(
  'a text is due again at once, with nothing counted against it, when every mark is lost %s the server has it',
  async (moment) => {
    const sender = await textingWorkspace();
    const { id } = await sendSms(api, sender);
    for (let order = 0; order < many; order += 1) void line.cutNext(moment, markOf('sms_messages'));
    await expect(attemptText(id)).rejects.toMatchObject({ code: 'service_unavailable' });
    line.pass();
    expect(await smsOf(sender, id)).toMatchObject({ claims: 0, handoverAt: null, uncertainCount: 0 });
    expect(await attemptText(id)).toBe('done');
    expect(await phoneOf(sender)).toHaveLength(1);
  },
);
