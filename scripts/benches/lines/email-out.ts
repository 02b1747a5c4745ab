import { generateKeyPairSync } from 'node:crypto';
import { dkimVerify } from 'mailauth/lib/dkim/verify.js';
import PostalMime from 'postal-mime';
import { type Backlog, drain } from '../backlog.ts';
import type { MailSettings } from '../bare/email-out.ts';
import { castOf, numberOf, until } from '../cast.ts';
import { domain, recipientOf } from '../content.ts';
import { type Bench, checkEqual, type Line, type Opened, type Run, type Side } from '../line.ts';
import type { Customer } from '../loaders/platform.ts';
import type { Taken } from '../players/smtp-sink.ts';

const warm = 600;
const emails = 3_000;
const jobsInFlight = 100;
const samples = [0, 1, 2].map((index) => recipientOf(index));
const bareSelector = 'bare';

async function open(bench: Bench): Promise<Opened> {
  const { world, scale } = bench;
  const { database } = world;
  const cast = castOf(bench, 'email-out');
  const [loader, filler, sink] = await Promise.all([
    cast.servant('loaders/platform'),
    cast.servant('loaders/bare'),
    cast.servant('players/smtp-sink'),
  ] as const);
  const smtpPort = await sink.ask<number>('listen');
  const { dkim } = await loader.ask<Customer>('customer');
  const bareKey = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const barePublic = bareKey.publicKey.export({ type: 'spki', format: 'der' }).toString('base64');
  const records: Record<string, string> = {
    [`${dkim.selector}._domainkey.${domain}`]: dkim.publicKey,
    [`${bareSelector}._domainkey.${domain}`]: `v=DKIM1; k=rsa; p=${barePublic}`,
  };
  const sizes = { warm: Math.round(warm * scale), count: Math.round(emails * scale) };
  const total = sizes.warm + sizes.count;

  async function run(backlog: Backlog, checkRows: () => Promise<void>): Promise<Run> {
    await world.clear();
    await sink.ask('reset', samples);
    const window = await drain(backlog, { ...sizes, others: { sink: sink.pid, ...world.servers } });
    const { messages, duplicates } = await sink.ask<Taken>('taken');
    checkEqual('mails and repeated recipients at the sink', [messages, duplicates], [total, 0]);
    await checkRows();
    return { count: sizes.count, window, content: await contentOf(await sink.ask('samples'), records) };
  }

  const platform: Side = {
    name: 'platform',
    title: 'one worker: send-email',
    run: () =>
      run(
        {
          start: () =>
            cast.workers(['send-email'], {
              SMTP_URL: `smtp://127.0.0.1:${smtpPort}`,
            }),
          hold: () => loader.ask('pause', 'send-email'),
          load: (first, count) => loader.ask('acceptEmails', { first, count }),
          release: () => loader.ask('resume', 'send-email'),
          finished: async (count) => {
            await sink.ask('reach', count);
            await until('emails that wait', 0, () =>
              numberOf(database, "SELECT COUNT(*) FROM emails WHERE status = 'queued'"),
            );
          },
        },
        async () => {
          const counts = [
            "SELECT COUNT(*) FROM emails WHERE status = 'sent' AND claims = 1 AND retries = 0 AND lease_token IS NULL",
            "SELECT COUNT(DISTINCT record_id) FROM events WHERE type = 'email.sent'",
            'SELECT COUNT(*) FROM email_bodies',
          ].map((sql) => numberOf(database, sql));
          checkEqual('emails sent at once, their events, bodies left', await Promise.all(counts), [
            total,
            total,
            0,
          ]);
        },
      ),
  };

  function bareSide(name: string, title: string, isRendered: boolean): Side {
    const settings: MailSettings = {
      queue: `mail-${name}`,
      smtpPort,
      jobsInFlight,
      dkim: {
        domainName: domain,
        keySelector: bareSelector,
        privateKey: String(bareKey.privateKey.export({ type: 'pkcs8', format: 'pem' })),
      },
    };
    const { queue } = settings;
    const backlog: Backlog = {
      start: () => cast.bare('bare/email-out', settings),
      hold: () => filler.ask('pause', queue),
      load: (first, count) => filler.ask('addEmails', { queue, first, count, isRendered }),
      release: () => filler.ask('resume', queue),
      finished: async (count) => {
        await sink.ask('reach', count);
        await until('results', count, () => numberOf(database, 'SELECT COUNT(*) FROM bare_handovers'));
      },
    };
    const checkRows = async () =>
      checkEqual(
        'emails with a result',
        await numberOf(database, 'SELECT COUNT(DISTINCT email_id) FROM bare_handovers'),
        total,
      );
    return { name, title, run: () => run(backlog, checkRows) };
  }

  return {
    sides: [
      platform,
      bareSide('bare', 'BullMQ job, Liquid twice, pooled sendMail with DKIM, batched insert', false),
      bareSide('bare-rendered', 'the same without Liquid', true),
    ],
    close: cast.stopAll,
  };
}

/** The sampled mails as a reader sees them, once their DKIM signature has been found good. */
async function contentOf(raw: Record<string, string>, records: Record<string, string>): Promise<string> {
  const resolver = async (name: string) => [records[name]?.match(/.{1,255}/g) ?? []];
  const read = samples.map(async (recipient) => {
    const message = Buffer.from(raw[recipient] ?? '', 'latin1');
    const { results } = await dkimVerify(message, { resolver });
    checkEqual(
      `DKIM of the mail to ${recipient}`,
      results.map(({ status }) => status.result),
      ['pass'],
    );
    const { from, to, subject, html, text } = await PostalMime.parse(message);
    return { from, to, subject, html: withoutEndingLines(html), text: withoutEndingLines(text) };
  });
  return JSON.stringify(await Promise.all(read));
}

const withoutEndingLines = (text = '') => text.replace(/[\r\n]*$/, '').replace(/\r*\n/g, '\n');

export const emailOut: Line = {
  name: 'email-out',
  title: 'due email to SMTP sink with its result on disk, 5 kB html and text, DKIM rsa-2048',
  unit: 'emails',
  targets: { bare: 1.2 },
  notes: [
    'The platform renders Liquid when it accepts an email, so its worker has none to render: the first bare side renders',
    'here, the second does not. accept-liquid has the other half; run both to see the whole way.',
    'Only send-email runs: relaying the events is measured by webhooks-out and relay.',
  ],
  open,
};
