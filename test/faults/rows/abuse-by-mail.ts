import type { Group } from './group.ts';

/** Attacks by mail, where bounces and complaints are taken. */
export const abuseByMail: readonly Group[] = [
  {
    title: 'Mail that comes in',
    rows: {
      A57: {
        tried:
          'Mail that parsers are slow with: html, nested and many parts, headers, boundaries, 256 KB of anything',
        expected:
          'read in a thread without rendering, or refused for good with the limit (554, 400); other senders are served',
      },
      A58: {
        tried: 'Mail without end from one sender',
        expected: 'so much of a sender waits, the rest is to come again, and others have room',
      },
      A59: {
        tried:
          'Forged complaints: made of what everybody sees of an email, signed by others, changed or wrapped ' +
          'after they were signed',
        expected: 'marketing only is suppressed; one-time codes go on',
      },
      A60: {
        tried: 'Recipients, commands and long lines without end in one SMTP session',
        expected: '452 past 100 recipients, 421 past 1,000 commands or 2 KiB of a line',
      },
    },
  },
];
