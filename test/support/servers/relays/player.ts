import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { SMTPServer, type SMTPServerSession } from 'smtp-server';
import { enhancedCodeOf } from '../../../../shared/formats/email/smtp-reply.ts';
import { statusReport } from '../../data/mail-reports.ts';
import { atEnd } from '../../runner/at-end.ts';
import { sendMail } from '../smtp-client.ts';
import type { Relay, Routes } from './relay.ts';

const retryMs = 200;
const tries = 4;

/** Plays a relay: accepts every email, forwards it, and reports to the sender as Postfix does. */
export async function startPlayer(routes: Routes): Promise<Relay> {
  const lines: string[] = [];
  const working = new Set<Promise<void>>();
  let isClosing = false;

  async function carry(from: string, to: string, message: Buffer): Promise<void> {
    const route = routes[to.split('@')[1]!];
    if (!route) throw new Error(`No route to ${to}`);
    const report = (action: string, reply: string) => {
      lines.push(`${to}: ${action}: ${reply}`);
      return from === '' ? undefined : carry('', from, reportOf(action, to, reply));
    };
    if (route === 'mailbox') return report('delivered', '250 2.0.0 In the mailbox');
    for (let attempt = 1; !isClosing; attempt += 1) {
      const answers = await sendMail(route, to, message, from);
      const reply = answers.at(-1)!;
      if (reply.startsWith('2')) return report('relayed', reply);
      const stage = answers.length === 4 ? 'RCPT TO' : 'end of DATA';
      const said = `${reply} (in reply to ${stage} command)`;
      if (reply.startsWith('5') || attempt === tries) return report('failed', said);
      if (attempt === 1) await report('delayed', said);
      await sleep(retryMs);
    }
  }

  const server = new SMTPServer({
    logger: false,
    disableReverseLookup: true,
    disabledCommands: ['STARTTLS', 'AUTH'],
    hideDSN: false,
    async onData(stream, session: SMTPServerSession, callback) {
      const message = await buffer(stream);
      const { mailFrom, rcptTo } = session.envelope;
      callback(null, 'queued');
      for (const { address } of rcptTo) {
        const work = carry(mailFrom ? mailFrom.address : '', address, message).finally(() =>
          working.delete(work),
        );
        working.add(work);
      }
    },
  });
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  atEnd(async () => {
    isClosing = true;
    await Promise.allSettled(working);
    // The platform keeps connections for its next emails, and the server would wait for half a minute until they end.
    for (const connection of server.connections) connection.close();
    await new Promise<void>((resolve) => server.close(resolve));
  });
  return { port: (server.server.address() as AddressInfo).port, log: () => lines.join('\n') };
}

function reportOf(action: string, recipient: string, said: string): Buffer {
  const reply = said.replace(/ \(in reply to.*/, '');
  const status = enhancedCodeOf(reply) ?? `${reply[0]}.0.0`;
  const explanation = `<${recipient}>: host mx said: ${said}`;
  return statusReport({ action, recipient, status, diagnostic: `smtp; ${reply}`, explanation });
}
