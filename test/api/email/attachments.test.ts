import { createHash, randomBytes } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { query } from '../../../shared/db/client.ts';
import { idToBytes } from '../../../shared/formats/ids.ts';
import { type Answer, type Client, startApi } from '../../support/api/start-api.ts';
import { workspace } from '../../support/data/factory.ts';
import { newEmail } from '../../support/data/new-email.ts';
import { useDatabase } from '../../support/database/database.ts';

useDatabase();

let api: Client;
let own: Awaited<ReturnType<typeof workspace>>;
beforeAll(async () => {
  api = await startApi();
  own = await workspace();
});

/** Bodies above 1 MiB are read from a file, by other code. */
const ways = [
  ['a small body', {}],
  ['a large body', { padding: 'x'.repeat(1_100_000) }],
] as const;

const file = (changes: object = {}) => ({
  filename: 'a.pdf',
  contentType: 'application/pdf',
  content: 'QUJD',
  ...changes,
});
const post = (body: object | string) => api.request('POST', '/v2/email', { key: own.key, body });
const postWith = (way: object, attachments: unknown) => post(newEmail(own, { ...way, attachments }));

async function storedOf({ body }: Answer) {
  const rows = await query<{ position: number; filename: string; size: number; bytes: Buffer | null }[]>(
    `SELECT a.position, a.filename, a.size_bytes AS size, c.bytes FROM email_attachments a
     LEFT JOIN email_attachment_chunks c ON c.email_id = a.email_id AND c.position = a.position
     WHERE a.email_id = ? ORDER BY a.position, c.number`,
    [idToBytes(body.id)],
  );
  return [...Map.groupBy(rows, ({ position }) => position).values()].map((chunks) => [
    chunks[0]!.filename,
    chunks[0]!.size,
    createHash('sha256')
      .update(Buffer.concat(chunks.flatMap(({ bytes }) => bytes ?? [])))
      .digest('hex'),
  ]);
}
const digestOf = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

test.each(ways)(
  'what is attached in %s is kept byte for byte until the email is sent',
  async (_name, way) => {
    const files = [0, 1, 2, 3, 70_000, 1_000_003].map((size) => randomBytes(size));
    const answer = await postWith(
      way,
      files.map((bytes, index) => file({ filename: `${index}.pdf`, content: bytes.toString('base64') })),
    );
    expect(answer.status).toBe(201);
    expect(await storedOf(answer)).toEqual(
      files.map((bytes, index) => [`${index}.pdf`, bytes.length, digestOf(bytes)]),
    );
  },
);

test.each(ways)('null and an empty list of attachments in %s are none', async (_name, way) => {
  for (const attachments of [null, []]) expect((await postWith(way, attachments)).status).toBe(201);
});

const wrong = {
  '[0].content': [
    'QQ',
    'QQ=',
    'QUI==',
    '=',
    'QU JD',
    'QUJD\n',
    'QUJD\r\nQUJD',
    '-_-_',
    'QR==',
    'data:,QUJD',
    'é',
    '\u0000',
    '"',
    '🙂',
    7,
    null,
    {},
    ['QUJD'],
    undefined,
  ].map((content) => file({ content })),
  '[0].filename': ['', '/', 'a/', '..', '\u202e', 'x'.repeat(256), 7, null, undefined].map((filename) =>
    file({ filename }),
  ),
  '[0].contentType': [
    '',
    'pdf',
    '/pdf',
    'a/',
    'a b/c',
    'a/b c',
    `a/${'b'.repeat(254)}`,
    7,
    null,
    undefined,
  ].map((contentType) => file({ contentType })),
  '[0]': ['x', 7, null],
};

// Shows A23, A34
test.each(ways)(
  'whatever is wrong with an attachment in %s is refused under its name',
  async (_name, way) => {
    for (const [field, attachments] of Object.entries(wrong))
      for (const attachment of attachments) {
        const { status, body } = await postWith(way, [attachment]);
        expect([status, Object.keys(body.errors), attachment]).toEqual([
          400,
          [`attachments${field}`],
          attachment,
        ]);
      }
  },
);

test.each(ways)('the second of two attachments in %s is refused under its number', async (_name, way) => {
  const { body } = await postWith(way, [file(), file({ content: '!', filename: '..' })]);
  expect(Object.keys(body.errors).toSorted()).toEqual(['attachments[1].content', 'attachments[1].filename']);
});

// Shows A23
test.each(ways)('100 attachments in %s are taken, 101 are not', async (_name, way) => {
  const many = (count: number) => postWith(way, Array(count).fill(file({ content: '' })));
  expect((await many(100)).status).toBe(201);
  const { status, body } = await many(101);
  expect([status, Object.keys(body.errors)]).toEqual([400, ['attachments']]);
});

// Shows A23
test('30,000,000 bytes in all are taken, one more is refused', async () => {
  const half = Buffer.alloc(15_000_000, 'half').toString('base64');
  const other = (size: number) => file({ content: Buffer.alloc(size, 'rest').toString('base64') });
  expect((await postWith({}, [file({ content: half }), other(15_000_000)])).status).toBe(201);
  const { status, body } = await postWith({}, [file({ content: half }), other(15_000_001)]);
  expect([status, Object.keys(body.errors)]).toEqual([400, ['attachments']]);
});

// Shows A33
test.each(ways)(
  'a type that names no kind of file, with parameters too, is taken in %s',
  async (_name, way) => {
    for (const contentType of ['application/x-unheard-of', 'text/plain; charset=utf-8', 'IMAGE/PNG'])
      expect((await postWith(way, [file({ contentType })])).status).toBe(201);
  },
);

const slashes = Buffer.from('ffffff'.repeat(70_000), 'hex');
test.each<[string, (text: string) => string]>([
  ['each / as \\/', (text) => text.replaceAll('/', '\\/')],
  ['each / as \\u002f', (text) => text.replaceAll('/', '\\u002f')],
  ['some / as \\u002F', (text) => text.replaceAll('////', '/\\u002F//')],
  ['letters as escapes', (text) => `\\u002f\\u002F${text.slice(2)}`],
])('a client may write %s', async (_name, write) => {
  for (const [, way] of ways) {
    const content = slashes.toString('base64');
    const json = JSON.stringify(newEmail(own, { ...way, attachments: [file({ content: '@' })] }));
    const answer = await post(json.replace('"@"', () => `"${write(content)}"`));
    expect(answer.status).toBe(201);
    expect(await storedOf(answer)).toEqual([['a.pdf', slashes.length, digestOf(slashes)]]);
  }
});

test.each(ways)('fields that are called alike elsewhere in %s are left alone', async (_name, way) => {
  const attachments = [file()];
  const answer = await post(
    newEmail(own, {
      ...way,
      content: { text: '{{ attachments[0].content }} {{ inner.attachments[0].content }}' },
      template: { data: { attachments: [{ content: 'data' }], inner: { attachments } } },
      attachments,
    }),
  );
  expect(answer.body.content.text).toBe('data QUJD');
  expect(await storedOf(answer)).toEqual([['a.pdf', 3, digestOf(Buffer.from('ABC'))]]);
});

test.each(ways)(
  'of a field that is there twice in %s the last counts, however it is spelt',
  async (_name, way) => {
    const json = JSON.stringify(newEmail(own, way)).slice(0, -1);
    const one = (content: string) => JSON.stringify([file()]).replace('"QUJD"', content);
    for (const twice of [
      `,"attachments":${one('"!"')},"\\u0061ttachments":${one('"QUJD"')}}`,
      `,"attachments":${one('"!","content":"QUJD"')}}`,
      `,"attachments":${one('"!","\\u0063ontent" : \n "QUJD"')}}`,
    ]) {
      const answer = await post(json + twice);
      expect(answer.status).toBe(201);
      expect(await storedOf(answer)).toEqual([['a.pdf', 3, digestOf(Buffer.from('ABC'))]]);
    }
  },
);
