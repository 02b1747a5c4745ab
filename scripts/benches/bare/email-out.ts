import type { Job } from 'bullmq';
import { createTransport } from 'nodemailer';
import type { EmailRequest } from '../content.ts';
import { serve } from '../serve.ts';
import { openDatabase, workOn } from './connections.ts';
import { rendered } from './render.ts';
import { rowWriter } from './rows.ts';

/** A BullMQ job, Liquid twice where there is any, pooled sendMail with DKIM, batched insert of the result. */
export interface MailSettings {
  queue: string;
  smtpPort: number;
  jobsInFlight: number;
  dkim: { domainName: string; keySelector: string; privateKey: string };
}
export type MailJob = EmailRequest & { index: number };

const insert = 'INSERT INTO bare_handovers (email_id, reply, sent_at)';
const connections = 20;

function start({ queue, smtpPort, jobsInFlight, dkim }: MailSettings): void {
  const database = openDatabase();
  const write = rowWriter((rows: unknown[][]) => database.query(`${insert} VALUES ?`, [rows]));
  const transport = createTransport({
    host: '127.0.0.1',
    port: smtpPort,
    ignoreTLS: true,
    pool: true,
    maxConnections: connections,
    maxMessages: Number.POSITIVE_INFINITY,
    dkim,
  });
  const send = async ({ data: email }: Job<MailJob>) => {
    const { html, text } = rendered(email, ['html', 'text']);
    const { response } = await transport.sendMail({
      from: email.sender,
      to: email.recipient,
      subject: email.subject,
      html,
      text,
    });
    await write([email.index, response, new Date()]);
  };
  workOn(queue, jobsInFlight, send);
}

serve({ start });
