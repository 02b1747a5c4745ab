import type { Group } from './group.ts';

/** Attacks by text in emails, templates and URLs, or by use of what is offered to all. */
export const abuseByContent: readonly Group[] = [
  {
    title: 'Injection',
    rows: {
      A29: {
        tried: 'CR, LF, NUL, U+2028, tab in what goes into headers',
        expected: 'refused or text: no header, no recipient more',
      },
      A30: {
        tried: 'Lists, groups, comments, quotes, two @, lengths, other alphabets as recipient',
        expected: 'exactly one mailbox or 400; a homograph is another address',
      },
      A31: {
        tried: 'Display names, a second From, look-alike and sub-domains as sender',
        expected:
          'no @ in a name; only the verified domain itself. A name like `paypal.com` is allowed: ' +
          'the address is the one that was verified',
      },
      A32: {
        tried: 'File names with paths, marks, NUL, two extensions, 255 characters',
        expected:
          'cleaned; the type is that of the last extension. `CON` is a name like any other: what a ' +
          'mail program may save is its own to say',
      },
      A33: {
        tried: 'multipart and message as contentType',
        expected: 'taken and not used: the type is worked out from the file name',
      },
      A34: {
        tried: 'Attachments and content with path, href, url, or as objects',
        expected: 'ignored or 400; nothing is read or fetched',
      },
      A35: {
        tried: 'Liquid include, render, layout, block; names of prototypes; code that got into the sandbox',
        expected: 'not available: no file but the program’s own, no network, no process, no settings',
      },
      A36: {
        tried: 'mj-include of all types, file: URLs, mj-raw in the head, cycles, depth, size',
        expected:
          'names of the workspace only; refused with a place. The content of mj-style and ' +
          'mj-raw belongs to the email of the customer: nothing of it is fetched here',
      },
    },
  },
  {
    title: 'Data of templates',
    rows: {
      A37: {
        tried: 'HTML in data',
        expected: 'escaped in html, raw in text',
      },
      A38: {
        tried: 'Liquid in data',
        expected: 'text',
      },
      A39: {
        tried: 'Data with toLiquid, then, valueOf, next',
        expected: 'data',
      },
      A40: {
        tried: 'MJML in data',
        expected: 'text, compiled before or after',
      },
    },
  },
  {
    title: 'Where webhooks lead',
    rows: {
      A41: {
        tried: 'Literal private addresses in every form',
        expected: '400 on `url`; refused at connect',
      },
      A42: {
        tried: 'A name with a private address',
        expected: 'blocked_address, a failure like any other',
      },
      A43: {
        tried: 'A name that changes: first public, then private',
        expected: 'refused at the next connection; connections are to what was checked',
      },
      A44: {
        tried: 'Redirects',
        expected: 'not followed, a failure',
      },
      A45: {
        tried: 'Credentials, tabs, line ends, ports 0 and 25, 2 kB, punycode; PATCH as well',
        expected: '400 on `url`, by both',
      },
    },
  },
  {
    title: 'Business',
    rows: {
      A51: {
        tried: 'Quotas raced',
        expected: 'never more than fits',
      },
      A52: {
        tried: 'Codes by text and links by mail to a stranger, without end',
        expected: '429 by number, by address and by workspace',
      },
      A53: {
        tried: 'bypassSuppressions by a connected app',
        expected: '403; and marketing never passes the recipient’s own word',
      },
      A54: {
        tried: 'A suppressed address in other forms, or suppressed meanwhile',
        expected: 'not sent to',
      },
      A55: {
        tried: 'scheduledAt at its bounds, in zones, at a leap second, in the hour that is there twice',
        expected: '5 minutes and 3 months to the millisecond; no leap second; offsets count',
      },
      A56: {
        tried: 'Tokens of links guessed, replayed, followed by scanners',
        expected: 'nothing happens; a GET changes nothing',
      },
    },
  },
];
