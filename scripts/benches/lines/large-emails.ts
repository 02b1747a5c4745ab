import PostalMime from 'postal-mime';
import { castOf, numberOf, until } from '../cast.ts';
import { attachmentOf, recipientOf } from '../content.ts';
import { apiAt } from '../customer.ts';
import { type Bench, checkEqual, type Line, type Opened, type Run } from '../line.ts';
import type { Customer } from '../loaders/platform.ts';
import type { LargeEmails } from '../players/large-sender.ts';
import type { Taken } from '../players/smtp-sink.ts';
import { openWindow } from '../usage.ts';

const emails = 8;
const attachmentBytes = 30_000_000;
const sample = recipientOf(0);

async function open(bench: Bench): Promise<Opened> {
  const { world } = bench;
  const { database } = world;
  const cast = castOf(bench, 'large-emails');
  const [loader, sender, sink] = await Promise.all([
    cast.servant('loaders/platform'),
    cast.servant('players/large-sender'),
    cast.servant('players/smtp-sink'),
  ] as const);
  const { key } = await loader.ask<Customer>('customer');
  const smtpUrl = `smtp://127.0.0.1:${await sink.ask<number>('listen')}`;

  async function run(): Promise<Run> {
    await world.clear();
    await sink.ask('reset', [sample]);
    const { web, port } = await cast.web();
    const worker = await cast.workers(['send-email'], {
      SMTP_URL: smtpUrl,
    });
    const close = openWindow({
      web: web.pid,
      worker: worker.pid,
      sender: sender.pid,
      sink: sink.pid,
      ...world.servers,
    });
    await sender.ask('send', { port, key, count: emails, attachmentBytes } satisfies LargeEmails);
    await sink.ask('reach', emails);
    const isSent = "SELECT COUNT(*) FROM emails WHERE status = 'sent' AND claims = 1";
    await until('emails sent at once', emails, () => numberOf(database, isSent));
    const window = close();
    const { messages, duplicates } = await sink.ask<Taken>('taken');
    checkEqual('mails and repeated recipients at the sink', [messages, duplicates], [emails, 0]);
    await until('attachments left', 0, () =>
      numberOf(database, 'SELECT COUNT(*) FROM email_attachment_chunks'),
    );
    await checkAttachment((await sink.ask<Record<string, string>>('samples'))[sample] ?? '');
    const { data } = await apiAt(port, key).get('/v2/email', { query: { limit: 100 } });
    checkEqual(
      'what the customer sees',
      data.map(({ status }) => status),
      Array(emails).fill('sent'),
    );
    await Promise.all([web.stop(), worker.stop()]);
    return { count: emails, window, content: `${emails} emails with ${attachmentBytes} bytes each` };
  }

  async function checkAttachment(raw: string): Promise<void> {
    const { attachments } = await PostalMime.parse(Buffer.from(raw, 'latin1'));
    const isWhole = attachments.map(({ content }) =>
      attachmentOf(attachmentBytes).equals(Buffer.from(content as ArrayBuffer)),
    );
    checkEqual('attachments that came as they were sent', isWhole, [true]);
  }

  return { sides: [{ name: 'platform', title: 'one web process, one worker', run }], close: cast.stopAll };
}

export const largeEmails: Line = {
  name: 'large-emails',
  title: `${emails} emails of ${attachmentBytes / 1_000_000} MB at once, from request to SMTP sink`,
  unit: 'emails',
  targets: {},
  memoryAtMost: { web: 400 },
  notes: ['What counts here is memory; that nobody else waits meanwhile is tested (large-emails.test.ts).'],
  open,
};
