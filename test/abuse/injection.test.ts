import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import PostalMime from 'postal-mime';
import { beforeAll, expect, test } from 'vitest';
import { attempt } from '../../shared/domain/email/delivery/delivery.ts';
import { type Client, startApi } from '../support/api/start-api.ts';
import { workspace } from '../support/data/factory.ts';
import { postEmail } from '../support/data/new-email.ts';
import { useDatabase } from '../support/database/database.ts';
import { changeSettings } from '../support/processes/settings.ts';
import { atEnd } from '../support/runner/at-end.ts';
import { type SmtpSink, startSmtpSink } from '../support/servers/smtp-sink.ts';

useDatabase();

let api: Client;
let own: Awaited<ReturnType<typeof workspace>>;
let sink: SmtpSink;
beforeAll(async () => {
  sink = await startSmtpSink();
  changeSettings({ SMTP_URL: sink.url });
  api = await startApi();
  own = await workspace();
});

const hostile = {
  CR: '\r',
  LF: '\n',
  CRLF: '\r\n',
  NUL: '\0',
  tab: '\t',
  'vertical tab': '\v',
  'line separator': '\u2028',
  'paragraph separator': '\u2029',
  'next line': '\u0085',
  DEL: '\u007f',
  'right-to-left override': '\u202e',
  'half of a pair': '\ud83d',
};
const file = (filename: string) => ({ filename, contentType: 'text/plain', content: 'QUJD' });
const fields: Record<string, (text: string) => Record<string, unknown>> = {
  subject: (subject) => ({ subject }),
  'a subject of data': (x) => ({ subject: '{{ x }}', template: { data: { x } } }),
  'the name of the sender': (name) => ({ sender: `"${name}" <${own.sender}>` }),
  'the address of the sender': (text) => ({ sender: `${own.sender}${text}` }),
  recipient: (text) => ({ recipient: `ada@example.com${text}` }),
  'a file name': (name) => ({ attachments: [file(`${name}.txt`)] }),
  'a type of content': (text) => ({ attachments: [{ ...file('a.txt'), contentType: `text/plain${text}` }] }),
  clientReference: (clientReference) => ({ clientReference: clientReference.slice(0, 64) }),
  clientTag: (clientTag) => ({ clientTag: clientTag.slice(0, 64) }),
};

async function sentWith(changes: Record<string, unknown>) {
  const answer = await postEmail(api, own, { recipient: 'ada@example.com', ...changes });
  if (answer.status === 400) return null;
  expect(answer.status).toBe(201);
  await attempt(answer.body.id);
  const { raw, envelope } = sink.messages.at(-1)!;
  expect(envelope.to).toEqual(['ada@example.com']);
  return PostalMime.parse(raw);
}

// Shows A29, A33
test.each(Object.keys(fields))(
  '%s with line ends and marks adds neither a header nor a recipient: it is refused, or text',
  async (field) => {
    const isAddress = field === 'recipient' || field === 'the address of the sender';
    const plain = (await sentWith(fields[field]!(isAddress ? '' : 'a')))!;
    const names = ({ headers }: typeof plain) => headers.map(({ key }) => key).toSorted();
    for (const [what, character] of Object.entries(hostile)) {
      const text = `a${character}Bcc: evil@x.example${character}${character}<b>body</b>`;
      const sent = await sentWith(fields[field]!(text));
      if (!sent) continue;
      expect([what, names(sent)]).toEqual([what, names(plain)]);
      expect(sent.to?.map(({ address }) => address)).toEqual(['ada@example.com']);
      expect(sent.from?.address).toBe(own.sender);
      expect(sent.text).toBe(plain.text);
      // oxlint-disable-next-line no-control-regex -- none may arrive
      expect(`${sent.subject}${sent.from?.name}`).not.toMatch(/[\r\n\0]/);
    }
  },
);

// Shows A34
test('an attachment is the bytes that were sent, whatever else it names to be fetched or read', async () => {
  let asked = 0;
  const server = http.createServer((_request, response) => {
    asked += 1;
    response.end('fetched');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  atEnd(() => server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const elsewhere = {
    path: '/etc/passwd',
    href: url,
    url,
    raw: { path: '/etc/passwd' },
    encoding: 'hex',
    cid: 'x\r\nBcc: evil@x.example',
  };
  const sent = (await sentWith({
    attachments: [{ ...file('a.txt'), ...elsewhere }],
    ...elsewhere,
    alternatives: [elsewhere],
    icalEvent: elsewhere,
  }))!;
  expect(sent.attachments.map(({ content }) => Buffer.from(content as ArrayBuffer).toString())).toEqual([
    'ABC',
  ]);
  for (const content of [
    elsewhere,
    { path: '/etc/passwd' },
    { href: url },
    [elsewhere],
    'data:text/plain,ABC',
    url,
  ]) {
    expect(await sentWith({ attachments: [{ ...file('a.txt'), content }] })).toBeNull();
    for (const part of ['html', 'text'])
      if (typeof content !== 'string') expect(await sentWith({ content: { [part]: content } })).toBeNull();
  }
  expect(asked).toBe(0);
});
