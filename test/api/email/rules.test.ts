import { beforeAll, expect, test } from 'vitest';
import { query } from '../../../shared/db/client.ts';
import * as apiKeys from '../../../shared/domain/api-keys/api-keys.ts';
import { idToBytes } from '../../../shared/formats/ids.ts';
import { type Client, startApi } from '../../support/api/start-api.ts';
import { workspace } from '../../support/data/factory.ts';
import { postEmail, sendEmail } from '../../support/data/new-email.ts';
import { useDatabase } from '../../support/database/database.ts';

useDatabase();

let api: Client;
let own: Awaited<ReturnType<typeof workspace>>;

beforeAll(async () => {
  api = await startApi();
  own = await workspace();
});

/** Sends an email with these changes, which must be refused, and returns the fields that the refusal names. */
async function refusedFields(changes: Record<string, unknown>): Promise<string[]> {
  const answer = await postEmail(api, own, changes);
  expect(answer.status).toBe(400);
  expect(answer.headers['content-type']).toBe('application/problem+json');
  expect(answer.body).toStrictEqual({
    type: `${api.url}/problems/validation_failed`,
    title: expect.any(String),
    status: 400,
    detail: expect.any(String),
    errors: expect.any(Object),
    requestId: answer.headers['request-id'],
  });
  for (const messages of Object.values<string[]>(answer.body.errors)) {
    expect(messages.length).toBeGreaterThan(0);
    for (const message of messages) expect(message).toMatch(/\S/);
  }
  return Object.keys(answer.body.errors).toSorted();
}

const long = (length: number) => 'x'.repeat(length);
const addressOf = (length: number) =>
  `${'a'.repeat(60)}@${`${'b'.repeat(60)}.`.repeat(4)}`.slice(0, length - 8) + '.example';

test.each<[field: string, value: unknown]>([
  ['sender', undefined],
  ['sender', null],
  ['sender', ''],
  ['sender', 7],
  ['sender', ['a@b.example']],
  ['sender', `${long(257)}@b.example`],
  ['recipient', undefined],
  ['recipient', null],
  ['recipient', ''],
  ['recipient', 7],
  ['recipient', { email: 'a@b.example' }],
  ['recipient', `${long(257)}@b.example`],
  ['subject', undefined],
  ['subject', null],
  ['subject', ''],
  ['subject', 7],
  ['subject', long(257)],
  ['subject', 'line\r\nBcc: x@y.example'],
  ['subject', 'nul\u0000'],
  ['subject', 'half \ud83d'],
  ['content', 'text'],
  ['content', []],
  ['content', {}],
  ['content', { html: null, text: null }],
  ['content', { html: '', text: '' }],
  ['content', { html: '', text: ' \n\t' }],
  ['content', { text: '{{ nothing }}' }],
  ['content.html', { html: 7 }],
  ['content.text', { text: ['a'] }],
  ['content.text', { text: 'nul\u0000' }],
  ['template', 'welcome'],
  ['template.name', { name: 7 }],
  ['template.data', { data: [] }],
  ['template.data', { data: 'x' }],
  ['format', 'HTML'],
  ['format', 7],
  ['kind', 'promotional'],
  ['kind', 7],
  ['clientReference', 7],
  ['clientReference', long(65)],
  ['clientReference', 'a\u0007b'],
  ['clientTag', 'a\rb'],
  ['subject', 'a\nb'],
  ['clientTag', 7],
  ['clientTag', long(65)],
  ['scheduledAt', 7],
  ['scheduledAt', 'tomorrow'],
  ['scheduledAt', '2026-11-20'],
  ['scheduledAt', '2026-11-20T10:00:00'],
  ['scheduledAt', '2026-13-20T10:00:00Z'],
  ['scheduledAt', '2027-02-29T10:00:00Z'],
  ['trackOpens', 'true'],
  ['trackOpens', 1],
  ['bypassSuppressions', 'false'],
  ['bypassSuppressions', 0],
  ['attachments', {}],
])('%s %j is refused under its name', async (field, value) => {
  expect(await refusedFields({ [field.split('.')[0]!]: value })).toEqual([field]);
});

test('without content and template.name the email is refused on content', async () => {
  expect(await refusedFields({ content: undefined })).toEqual(['content']);
  expect(await refusedFields({ content: undefined, template: { data: {} } })).toEqual(['content']);
});

test('content and template.name cannot be combined', async () => {
  expect(await refusedFields({ template: { name: 'welcome' } })).toContain('content');
});

test('a template that is not there is refused on template.name', async () => {
  expect(await refusedFields({ content: undefined, template: { name: 'welcome' } })).toEqual([
    'template.name',
  ]);
});

test('format is allowed only with content', async () => {
  expect(
    await refusedFields({ content: undefined, template: { name: 'welcome' }, format: 'html' }),
  ).toContain('format');
});

test('everything that is wrong is said at once', async () => {
  const fields = await refusedFields({
    sender: '',
    recipient: 7,
    subject: long(257),
    content: { html: 7, text: 7 },
    kind: 'x',
    clientReference: long(65),
    clientTag: long(65),
    scheduledAt: 'x',
    trackOpens: 'x',
    attachments: [{ filename: long(256), contentType: 7 }],
  });
  expect(fields).toEqual(
    [
      'attachments[0].content',
      'attachments[0].contentType',
      'attachments[0].filename',
      'clientReference',
      'clientTag',
      'content.html',
      'content.text',
      'kind',
      'recipient',
      'scheduledAt',
      'sender',
      'subject',
      'trackOpens',
    ].toSorted(),
  );
});

test('a newline and a tab are the controls that a single line may hold', async () => {
  expect((await sendEmail(api, own, { clientReference: 'a\n\tb' })).clientReference).toBe('a\n\tb');
});

test('what only the service can tell is said at once too', async () => {
  expect(
    await refusedFields({
      sender: 'a@elsewhere.example',
      recipient: 'a@b.example, c@d.example',
      content: {},
      scheduledAt: '2020-01-01T00:00:00Z',
    }),
  ).toEqual(['content', 'recipient', 'scheduledAt', 'sender']);
});

test('limits of text count code points', async () => {
  const emoji = '🙂';
  const record = await sendEmail(api, own, {
    subject: emoji.repeat(256),
    clientReference: emoji.repeat(64),
    clientTag: emoji.repeat(64),
  });
  expect(record).toMatchObject({
    subject: emoji.repeat(256),
    clientReference: emoji.repeat(64),
    clientTag: '-'.repeat(64),
  });
  expect(
    await refusedFields({
      subject: emoji.repeat(257),
      clientReference: emoji.repeat(65),
      clientTag: emoji.repeat(65),
    }),
  ).toEqual(['clientReference', 'clientTag', 'subject']);
});

test('a sender of 256 characters is taken, and a recipient as long as SMTP allows', async () => {
  const sender = `${'n'.repeat(256 - own.sender.length - 3)} <${own.sender}>`;
  expect(sender).toHaveLength(256);
  const record = await sendEmail(api, own, { sender, recipient: addressOf(254) });
  expect(record).toMatchObject({ sender, recipient: addressOf(254) });
  expect(await refusedFields({ sender: `n${sender}` })).toEqual(['sender']);
  const emoji = `${'🙂'.repeat(256 - own.sender.length - 3)} <${own.sender}>`;
  expect((await sendEmail(api, own, { sender: emoji })).sender).toBe(emoji);
  expect(await refusedFields({ recipient: addressOf(257) })).toEqual(['recipient']);
});

test.each([
  ['Spring Sale', 'spring-sale'],
  ['A.b_C/9', 'a-b-c-9'],
  ['--', '--'],
  ['', ''],
  ['Straße Ünïcode', 'straße-ünïcode'],
  ['ВЕСНА 2026', 'весна-2026'],
  ['हिन्दी समाचार', 'हिन्दी-समाचार'],
  ['٣ أخبار', '٣-أخبار'],
  ['新闻/四月', '新闻-四月'],
  ['½ ² 🙂', '-----'],
  // An emoji of two characters: a heart, and a mark that makes it red.
  ['\u2764\ufe0f sale', '---sale'],
  // A digit in a box: the digit stays, without the two marks that make the box.
  ['1\ufe0f\u20e3', '1--'],
  ['\u0301e\u0301\u0301', '-e\u0301\u0301'],
  // Lower case turns this one character into two: a letter and a combining mark.
  ['İ'.repeat(64), 'i\u0307'.repeat(64)],
  // The Kelvin sign, whose lower case is an ASCII k.
  ['\u212a', 'k'],
  // Letters of four bytes.
  ['\u{10400}'.repeat(64), '\u{10428}'.repeat(64)],
])('the clientTag %j is stored as %j', async (given, stored) => {
  expect((await sendEmail(api, own, { clientTag: given })).clientTag).toBe(stored);
});

// Shows A30
test.each([
  'a@b.example, c@d.example',
  'a@b.example;c@d.example',
  'a@b.example c@d.example',
  'Friends: a@b.example, c@d.example;',
  'undisclosed-recipients:;',
  'Ada <a@b.example>, <c@d.example>',
  'Ada a@b.example',
  'c@d.example <a@b.example>',
  '<@relay.example:a@b.example>',
  '"a"@b.example',
  'a(comment)@b.example',
  'a@[127.0.0.1]',
  'a@localhost',
  'a@b..example',
  '.a@b.example',
  'a@b.example\r\nBcc: c@d.example',
  'a@b.example\n',
  'a\u0000@b.example',
  'a\u007f@b.example',
  'a\u2028@b.example',
  ' a@b.example',
  'a@@b.example',
  'a@b.example>',
  'ä@b.example',
  'a',
])('the recipient %j is not exactly one address', async (recipient) => {
  expect(await refusedFields({ recipient })).toEqual(['recipient']);
});

test.each(['a@b.example, hello@', 'hello', 'x@evil.example <hello@', 'Ada\r\nBcc: c@d.example <hello@'])(
  'the sender %j… is not exactly one address',
  async (start) => {
    const sender = start.endsWith('@') ? `${start}${own.domain}${start.includes('<') ? '>' : ''}` : start;
    expect(await refusedFields({ sender })).toEqual(['sender']);
  },
);

// Shows A31
test('a sender needs a verified domain of this workspace: not a parent, a child, another’s or none', async () => {
  const other = await workspace();
  for (const domain of ['elsewhere.example', `mail.${own.domain}`, own.domain.slice(1), other.domain])
    expect(await refusedFields({ sender: `hello@${domain}` })).toEqual(['sender']);
});

test('a workspace whose sending is blocked is refused', async () => {
  const mine = await workspace();
  await query('UPDATE workspaces SET sending_blocked = 1 WHERE id = ?', [idToBytes(mine.workspaceId)]);
  const { status, body } = await postEmail(api, mine);
  expect(status).toBe(403);
  expect(body.type).toBe(`${api.url}/problems/sending_blocked`);
});

// Shows A53
test('a connected app cannot set bypassSuppressions', async () => {
  const app = await apiKeys.issue(own.workspaceId, { kind: 'app' });
  const answer = await postEmail(api, own, { bypassSuppressions: true }, app.key);
  expect(answer.status).toBe(403);
  expect(answer.body.type).toBe(`${api.url}/problems/forbidden`);
  expect((await postEmail(api, own, { bypassSuppressions: false }, app.key)).status).toBe(201);
  expect((await postEmail(api, own, { bypassSuppressions: true })).status).toBe(201);
});
