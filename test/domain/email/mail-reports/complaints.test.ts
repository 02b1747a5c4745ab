import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { listSuppressions } from '../../../../shared/db/suppressions.ts';
import { attempt } from '../../../../shared/domain/email/delivery/delivery.ts';
import { acceptEmail } from '../../../support/data/accepted-email.ts';
import { workspace } from '../../../support/data/factory.ts';
import { feedbackReport } from '../../../support/data/mail-reports.ts';
import { emailIn, receive } from '../../../support/data/reported-email.ts';
import { newReporter, slowToVerify } from '../../../support/data/signed-reports.ts';
import { useDatabase } from '../../../support/database/database.ts';
import { changeSettings } from '../../../support/processes/settings.ts';
import { type DnsAnswer, startDnsServer } from '../../../support/servers/dns-server.ts';
import { startSmtpSink } from '../../../support/servers/smtp-sink.ts';

useDatabase();

let own: Awaited<ReturnType<typeof workspace>>;
let loop: Awaited<ReturnType<typeof newReporter>>;
let stranger: Awaited<ReturnType<typeof newReporter>>;
let answers: Record<string, DnsAnswer>;
let asked: string[];

beforeAll(async () => {
  own = await workspace();
  loop = await newReporter('loop.example');
  stranger = await newReporter('stranger.example');
  answers = {
    [loop.keyName]: { texts: [loop.record] },
    [stranger.keyName]: { texts: [stranger.record] },
  };
  asked = [];
  const dns = await startDnsServer(({ name }) => {
    asked.push(name);
    return answers[name] ?? 'unknown';
  });
  changeSettings({ DNS_SERVERS: [dns.address] });
});

beforeEach(() => changeSettings({ FBL_REPORTERS: ['other.example', 'loop.example'] }));

let recipients = 0;
async function reported() {
  const recipient = `grace${(recipients += 1)}@example.com`;
  const email = await emailIn('delivered', own, { recipient });
  const messageId = `Message-ID: <${email.id}@any.example>`;
  return {
    ...email,
    recipient,
    messageId,
    /** A complaint that anyone who has seen the email can write. */
    complaint: feedbackReport({ headers: [messageId, `To: ${recipient}`] }),
    async suppressed(): Promise<string[]> {
      const { records } = await listSuppressions(
        own.workspaceId,
        { emailKey: recipient },
        { limit: 10, before: null },
      );
      return records.map(({ source, scope }) => `${source} ${scope}`).toSorted();
    },
  };
}
type Reported = Awaited<ReturnType<typeof reported>>;
const toLoop = ['fbl@example.org'];

describe('a complaint suppresses everything', () => {
  test.each<[string, (email: Reported) => Buffer | Promise<Buffer>, (email: Reported) => string[]]>([
    ['that comes to the return path', () => feedbackReport(), ({ returnPath }) => [returnPath]],
    [
      'that names the return path',
      ({ returnPath }) => feedbackReport({ fields: [`Original-Mail-From: <${returnPath}>`] }),
      () => toLoop,
    ],
    ['that a domain of FBL_REPORTERS has signed', ({ complaint }) => loop.sign(complaint), () => toLoop],
    [
      'that it has signed with the recipient left out',
      ({ messageId }) => loop.sign(feedbackReport({ headers: [messageId] })),
      () => toLoop,
    ],
    [
      'that others have signed too',
      async ({ complaint }) => stranger.sign(await loop.sign(complaint)),
      () => toLoop,
    ],
    [
      'that servers on the way have put their fields on',
      async ({ complaint }) =>
        Buffer.concat([Buffer.from('Received: from loop.example\r\n'), await loop.sign(complaint)]),
      () => toLoop,
    ],
  ])('%s', async (_which, make, to) => {
    const email = await reported();
    expect(await receive(await make(email), to(email))).toBe('changed');
    expect(await email.suppressed()).toEqual(['complaint all']);
    expect(await email.state()).toEqual(['delivered', 'complaint abuse']);
  });
});

test.each([
  ['opt-out', 'opt_out'],
  ['Opt-Out-List', 'opt_out_list'],
  ['unsubscribe', 'unsubscribe'],
])('a complaint of the type %s has the code %s', async (type, code) => {
  const email = await reported();
  expect(await receive(feedbackReport({ type }), [email.returnPath])).toBe('changed');
  expect(await email.state()).toEqual(['delivered', `complaint ${code}`]);
});

// Shows A59
describe('a complaint suppresses marketing only', () => {
  const edited = async (raw: Buffer, find: string, put: string) => {
    expect(raw.toString()).toContain(find);
    return Buffer.from(raw.toString().replace(find, put));
  };
  test.each<[string, (email: Reported) => Buffer | Promise<Buffer>]>([
    ['that knows the Message-ID and the recipient', ({ complaint }) => complaint],
    ['that another domain has signed', ({ complaint }) => stranger.sign(complaint)],
    [
      'that was changed after it was signed',
      async ({ complaint }) => edited(await loop.sign(complaint), 'The text', 'A text'),
    ],
    [
      'that says who has signed it, but not with their key',
      async ({ complaint }) => edited(await stranger.sign(complaint), 'd=stranger.example', 'd=loop.example'),
    ],
    [
      'whose key is not there',
      async ({ complaint }) => edited(await loop.sign(complaint), ' s=s;', ' s=gone;'),
    ],
    [
      'of which the body was signed in part',
      ({ complaint }) => loop.signPart(complaint, ['from', 'content-type'], 10),
    ],
    ['whose type was not signed', ({ complaint }) => loop.signPart(complaint, ['from', 'subject'])],
    [
      'around a signed letter',
      async ({ complaint }) => {
        const [head, body] = complaint.toString().split(/\r\n\r\n(.*)/s) as [string, string];
        const letter = Buffer.from(`From: a@loop.example\r\nContent-Type: text/plain\r\n\r\n${body}`);
        const type = /^Content-Type: .*$/m.exec(head)![0];
        return Buffer.concat([Buffer.from(`${type}\r\n`), await loop.sign(letter)]);
      },
    ],
    [
      'that is too long to be held whole',
      ({ messageId, recipient }) =>
        loop.sign(feedbackReport({ headers: [messageId, `To: ${recipient}`, '', 'x'.repeat(300_000)] })),
    ],
  ])('%s', async (_which, make) => {
    const email = await reported();
    expect(await receive(await make(email), toLoop)).toBe('changed');
    expect(await email.suppressed()).toEqual(['complaint marketing']);
    expect(await email.state()).toEqual(['delivered', 'complaint abuse']);
  });

  test('and a proven one after it everything', async () => {
    const email = await reported();
    await receive(email.complaint, toLoop);
    await receive(await loop.sign(email.complaint), toLoop);
    expect(await email.suppressed()).toEqual(['complaint all', 'complaint marketing']);
    expect((await email.eventTypes()).filter((type) => type === 'email.complained')).toHaveLength(1);
  });
});

// Shows A59
test('after a complaint that anybody could have written one-time codes still go out, and marketing does not', async () => {
  const sink = await startSmtpSink();
  changeSettings({ SMTP_URL: sink.url });
  const { recipient, complaint } = await reported();
  await receive(complaint, toLoop);
  const ends = await Promise.all(
    ['authentication', 'transactional', 'marketing'].map(async (kind) => {
      const email = await acceptEmail(own, { recipient, kind });
      await attempt(email.id);
      const { status, reason } = await email.read();
      return [kind, status, reason?.category];
    }),
  );
  expect(ends).toEqual([
    ['authentication', 'sent', undefined],
    ['transactional', 'sent', undefined],
    ['marketing', 'failed', 'suppressed'],
  ]);
});

test('the key of nobody but FBL_REPORTERS is asked for', async () => {
  const email = await reported();
  asked = [];
  await receive(await stranger.sign(email.complaint), toLoop);
  expect(asked).toEqual([]);
  changeSettings({ FBL_REPORTERS: [] });
  const another = await reported();
  await receive(await loop.sign(another.complaint), toLoop);
  expect(asked).toEqual([]);
  expect(await another.suppressed()).toEqual(['complaint marketing']);
});

test('while the name servers fail, a signed complaint is to come again, and nothing changes', async () => {
  const email = await reported();
  answers[loop.keyName] = 'failure';
  const raw = await loop.sign(email.complaint);
  await expect(receive(raw, toLoop)).rejects.toMatchObject({ code: 'service_unavailable' });
  expect([await email.state(), await email.suppressed()]).toEqual([['delivered', null], []]);
  answers[loop.keyName] = { texts: [loop.record] };
  expect(await receive(raw, toLoop)).toBe('changed');
  expect(await email.suppressed()).toEqual(['complaint all']);
});

test('a complaint whose signature takes long to look at is refused, and changes nothing', async () => {
  const email = await reported();
  await expect(receive(slowToVerify('loop.example', email.complaint), toLoop)).rejects.toMatchObject({
    code: 'validation_failed',
    options: { errors: { body: ['takes longer than 0.3 s to read'] } },
  });
  expect([await email.state(), await email.suppressed()]).toEqual([['delivered', null], []]);
});
