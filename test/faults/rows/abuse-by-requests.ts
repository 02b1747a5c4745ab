import type { Group } from './group.ts';

/** Attacks by requests: whose data, as whom, in which form and how much of it. */
export const abuseByRequests: readonly Group[] = [
  {
    title: 'Tenancy',
    rows: {
      A1: {
        tried: 'Ids of another workspace in every path and body',
        expected: 'as unknown ids: 404, or left out; nothing there changes',
      },
      A2: {
        tried: 'Lists of ids in a body',
        expected: 'ids of others are passed over and leak nothing',
      },
      A3: {
        tried: 'Cursors of others, changed, cut, made up, from the future',
        expected: '400 on `cursor`, 410 where events are gone; never 500 or foreign rows',
      },
      A4: {
        tried: 'A replay across keys and workspaces',
        expected: 'only the same key, with its rotations, gets the answer',
      },
      A5: {
        tried: 'Feed and webhooks',
        expected: 'nothing of another workspace, and nothing that a scope covers',
      },
      A6: {
        tried: 'Names and numbers that another workspace has',
        expected: 'free: uniqueness is of one workspace',
      },
    },
  },
  {
    title: 'Authentication',
    rows: {
      A7: {
        tried: 'Keys in other forms: parts, case, blanks, the hash, two headers, in the query',
        expected: '401, the same for all',
      },
      A8: {
        tried: 'Revoked, expired, not yet active, rotated',
        expected: 'refused within 1 s, 10 s while Redis is away',
      },
      A9: {
        tried: 'A strict key unsigned, or without Idempotency-Key',
        expected: '401 and 400; nothing is done',
      },
      A10: {
        tried: 'Signatures: components, parameters, digests, targets, labels, junk',
        expected: 'signature_invalid, and each good one passes',
      },
      A11: {
        tried: 'Private, RSA, P-384, secp256k1, two PEMs, off the curve',
        expected: 'refused; a private key is not stored or repeated',
      },
      A12: {
        tried: 'The public PEM as HMAC secret',
        expected: 'refused: the algorithm is the key’s',
      },
      A13: {
        tried: 'Guessing: bodies of 401s, time, number of tries',
        expected:
          'one body for all; 429 past the limit of an address. Comparison in constant time: keys ' +
          'are looked up by their SHA-256, and every MAC goes through timingSafeEqual or verify of ' +
          'node:crypto (shared/common/secrets.ts, shared/formats/signatures/http-signature/algorithms.ts); what a ' +
          'clock would show of it is less than its noise, so no test measures it',
      },
    },
  },
  {
    title: 'Fields and types',
    rows: {
      A14: {
        tried: 'Fields that only answers hold, sent',
        expected: 'ignored, never stored',
      },
      A15: {
        tried: 'Every kind of JSON in every field',
        expected: '400 under its name, never 500',
      },
      A16: {
        tried: '`__proto__`, `constructor`, `prototype` as keys, at all levels',
        expected: 'data or nothing; no prototype changes',
      },
      A17: {
        tried: 'Tags that differ by case or Unicode, blank, of 65 characters',
        expected: 'one tag, dropped, dropped',
      },
      A18: {
        tried: 'Edges of int32, fractions, 1e400, numbers as text',
        expected: '400 under the name',
      },
    },
  },
  {
    title: 'Size and CPU',
    rows: {
      A19: {
        tried: 'A byte over each limit, chunked, compressed, of another length',
        expected: '413, 415, 408; refused before it is read where headers tell',
      },
      A20: {
        tried: '33, 5,000, 90,000 levels',
        expected: '400 malformed_json',
      },
      A21: {
        tried: 'A hundred thousand keys',
        expected: '413, or 400 under the name in data, before it is walked',
      },
      A22: {
        tried: 'A thousand rows: none good, one number, twice at once',
        expected: 'told by row; one contact; a thousand contacts',
      },
      A23: {
        tried: 'Attachments: number, total, forms of base64',
        expected: '100 and 30,000,000 bytes; canonical base64 only',
      },
      A24: {
        tried: 'Bombs of Liquid: ranges, filters, loops',
        expected: 'a clear error within its time; others are served',
      },
      A25: {
        tried: 'Bombs of captures, loops and output',
        expected: 'ended at 1 MiB of output',
      },
      A26: {
        tried: 'MJML: styles to be inlined, a megabyte of sections, 7,000 levels',
        expected: 'a clear error; others are served',
      },
      A27: {
        tried: 'Searches for `%`, `_`, `\\`, of 10 kB, of characters of patterns',
        expected: 'taken as written; 400 when too long',
      },
      A28: {
        tried: 'Slow headers and bodies, thousands of idle connections',
        expected: '408, closed; others are served',
      },
      A64: {
        tried: '150 new sending domains at once, which want an RSA key each',
        expected: 'ten of a workspace are under way and one is made at a time, in turns; the rest is 429',
      },
      A65: {
        tried:
          'Scheduled emails of 29 MB, batches of rows of 64 KiB, or small ones by the million, without end',
        expected: '409 past MAX_STORED_MB and MAX_WAITING_ROWS of what a workspace has waiting, exactly',
      },
      A66: {
        tried: 'Bombs of Liquid that one row of 500 sets off by its data',
        expected: 'that row fails, the other 499 are rendered',
      },
      A67: {
        tried: 'Rows by the thousand to be rendered, without pause, in several workspaces',
        expected: 'the renders of others have their turns between',
      },
    },
  },
  {
    title: 'HTTP',
    rows: {
      A46: {
        tried: 'A body of another type or none, signed and not',
        expected: '415',
      },
      A47: {
        tried: 'UTF-7, UTF-16, invalid UTF-8, a byte order mark',
        expected: '415, 400, 400, read',
      },
      A48: {
        tried: 'Headers twice, two Hosts, absolute targets, TRACE, method overrides',
        expected: '400, 405, ignored',
      },
      A49: {
        tried: 'Every error',
        expected:
          'problem+json with its Request-Id, without path, SQL or stack; every answer of every test ' +
          'is held against this (test/support/api/contract.ts)',
      },
      A50: {
        tried: 'Forms of Idempotency-Key',
        expected: '400 idempotency_key_invalid; keys compare by their bytes',
      },
    },
  },
];
