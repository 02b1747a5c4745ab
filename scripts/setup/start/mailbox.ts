import { subscribe } from 'node:diagnostics_channel';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { MailDev } from 'maildev';

/** The development mailbox: takes every email, delivers none, shows them on a page. */
const mailbox = ([smtpPort, webPort, folder]: string[]): MailDev =>
  new MailDev({
    smtp: Number(smtpPort),
    web: Number(webPort),
    ip: '127.0.0.1',
    webIp: '127.0.0.1',
    mailDirectory: folder ?? '',
    maxEmails: 500,
    silent: true,
  });

/**
 * MailDev allows every website to read it, and a developer's browser visits many. MailDev also sets no security
 * headers itself.
 */
function keepToItself(message: unknown): void {
  const { request, response } = message as { request: IncomingMessage; response: ServerResponse };
  if (request.headers.origin !== `http://${request.headers.host}`) delete request.headers.origin;
  response.setHeader('X-Content-Type-Options', 'nosniff');
  response.setHeader('X-Frame-Options', 'SAMEORIGIN');
  response.setHeader('Referrer-Policy', 'no-referrer');
  response.setHeader(
    'Content-Security-Policy',
    "object-src 'none'; base-uri 'self'; frame-ancestors 'self'; form-action 'self'",
  );
}

if (import.meta.main) {
  subscribe('http.server.request.start', keepToItself);
  const running = mailbox(process.argv.slice(2));
  await running.start();
  process.once('SIGTERM', () => void running.stop().finally(() => process.exit(0)));
}
