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

if (import.meta.main) {
  const running = mailbox(process.argv.slice(2));
  await running.start();
  process.once('SIGTERM', () => void running.stop().finally(() => process.exit(0)));
}
