import * as fc from 'fast-check';
import PostalMime from 'postal-mime';
import { describe, expect, test } from 'vitest';
import { type MimeMessage, partsOf } from '../../../shared/formats/email/mail-report/parts.ts';

const read = (...lines: string[]) => partsOf(Buffer.from(lines.join('\r\n'), 'latin1'));
const shown = ({ parts }: MimeMessage) => parts.map(({ type, text }) => [type, text()]);

describe('a message is taken apart', () => {
  test('with headers folded, in any case and order, and parameters quoted or not', () => {
    const mail = read(
      'to: a@example.com',
      'CONTENT-TYPE : Multipart/Report; Report-Type="delivery;status"; x=";boundary=no";',
      '\tBOUNDARY="a \\"b\\" c" ; y=z',
      'To: b@',
      ' example.com',
      '',
      'preamble',
      '--a "b" c',
      'Content-Type: Text/Plain; charset=us-ascii',
      '',
      'one',
      '',
      '--a "b" c \t',
      '',
      'two',
      '--a "b" c--',
      'epilogue',
    );
    expect(mail.type).toBe('multipart/report');
    expect(mail.values('to')).toEqual(['a@example.com', 'b@ example.com']);
    expect(shown(mail)).toEqual([
      ['text/plain', 'one\r\n'],
      ['text/plain', 'two'],
    ]);
  });

  test('with a message inside that has parts of its own, which stay one part', () => {
    const inner = ['Content-Type: multipart/mixed; boundary=in', '', '--in', '', 'x', '--in--'].join('\r\n');
    expect(
      shown(
        read(
          'Content-Type: multipart/mixed; boundary=out',
          '',
          '--out',
          'Content-Type: message/rfc822',
          '',
          inner,
          '--out--',
        ),
      ),
    ).toEqual([['message/rfc822', inner]]);
  });

  test('that ends anywhere', () => {
    const whole =
      'Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: a/b\r\n\r\ntext\r\n--b--\r\n';
    for (let length = 0; length <= whole.length; length += 1) {
      const { parts } = partsOf(Buffer.from(whole.slice(0, length)));
      for (const part of parts) expect('text\r\n--b--\r').toContain(part.text());
    }
    expect(shown(partsOf(Buffer.from(whole)))).toEqual([['a/b', 'text']]);
  });

  test('of what is no field, nothing is read', () => {
    const mail = read('Content-Type\u00a0: a/b', 'To\r: x', ': y', 'no field', ' to: z', '', 'text');
    expect(mail.values('to')).toEqual([]);
    expect(shown(mail)).toEqual([['text/plain', 'text']]);
  });
});

type Tree = { type: string; encoding: string; content: string } | { boundary: string; parts: Tree[] };

const content = fc
  .array(fc.constantFrom('Action: failed', 'a=b', 'käse', '--', '--x', ' ', '', 'x'.repeat(90), '=3D='), {
    maxLength: 6,
  })
  .map((lines) => lines.join('\r\n'));
const leaf = fc.record({
  type: fc.constantFrom(
    'message/delivery-status',
    'message/rfc822',
    'text/rfc822-headers',
    'application/x-y',
  ),
  encoding: fc.constantFrom('8bit', 'base64', 'quoted-printable'),
  content,
});
const { tree } = fc.letrec<{ tree: Tree; multipart: Tree }>((tie) => ({
  tree: fc.oneof({ depthSize: 'small', maxDepth: 4 }, leaf, tie('multipart')),
  multipart: fc.record({
    boundary: fc.stringMatching(/^[a-z'()+_,./:=?-]{3,40}[a-z]$/),
    parts: fc.array(tie('tree'), { minLength: 1, maxLength: 4 }),
  }),
}));

let boundaries = 0;

function written(node: Tree): string {
  if ('type' in node) {
    const bytes = Buffer.from(node.content);
    const body = {
      '8bit': () => bytes.toString('latin1'),
      base64: () => bytes.toString('base64').replace(/.{60}/g, '$&\r\n'),
      'quoted-printable': () =>
        bytes
          .toString('latin1')
          .replace(/[^\r\n !-<>-~]/g, (byte) => `=${byte.charCodeAt(0).toString(16).toUpperCase()}`),
    }[node.encoding]!();
    return `Content-Type: ${node.type}\r\nContent-Transfer-Encoding: ${node.encoding}\r\n\r\n${body}`;
  }
  // Each part has its own boundary, as every mail program makes them.
  const boundary = `${node.boundary}${(boundaries += 1)}`;
  const parts = node.parts.map((part) => `--${boundary}\r\n${written(part)}\r\n`);
  return `Content-Type: multipart/mixed; boundary="${boundary}"\r\n\r\nbefore\r\n${parts.join('')}--${boundary}--\r\nafter`;
}

test('as another parser takes it apart', async () => {
  await fc.assert(
    fc.asyncProperty(tree, async (node) => {
      const raw = Buffer.from(`MIME-Version: 1.0\r\n${written(node)}\r\n`, 'latin1');
      const other = await PostalMime.parse(raw, { forceRfc822Attachments: true, attachmentEncoding: 'utf8' });
      // postal-mime ends lines with LF, and adds one LF to the end of a part that is not encoded.
      const plain = (text: string) => text.replaceAll('\r\n', '\n').replace(/\n+$/, '');
      expect(partsOf(raw).parts.map(({ type, text }) => [type, plain(text())])).toEqual(
        other.attachments.map((part) => [part.mimeType, plain(part.content as string)]),
      );
    }),
    { numRuns: 300 },
  );
});
