import { describe, expect, test } from 'vitest';
import type { SignatureOptions } from '../../../support/api/sign-request.ts';
import { useDatabase } from '../../../support/database/database.ts';
import {
  expectAccepted,
  expectRefused,
  headerOf,
  type Sent,
  send,
  signedGet,
  useSignedApi,
  withHeaders,
} from './signed-api.ts';

useDatabase();
const world = useSignedApi();

const expectGood = async (sent: Sent) => expectAccepted(await send(world.api, sent));
const expectBad = async (sent: Sent, detail: string | RegExp) =>
  expectRefused(await send(world.api, sent), detail);
const get = (options?: SignatureOptions) => signedGet(world, world.hmac, options);

const always = ['@method', '@authority', '@path', '@query'];

test.each([
  ['"@method";req', /strings without parameters/],
  ['"@query-param";name="limit"', /strings without parameters/],
  ['"x-a";sf', /strings without parameters/],
  ['"x-a";bs', /strings without parameters/],
  ['"x-a";tr', /strings without parameters/],
  ['"x-a";key="a"', /strings without parameters/],
  ['"x-a";own=1', /strings without parameters/],
  ['"@path";req', /strings without parameters/],
  ['"@status"', /"@status" is not a component that this service supports/],
  ['"@target-uri"', /"@target-uri" is not a component/],
  ['"@request-target"', /"@request-target" is not a component/],
  ['"@scheme"', /"@scheme" is not a component/],
  ['"@signature-params"', /"@signature-params" is not a component/],
  ['"@unknown"', /"@unknown" is not a component/],
  ['"@"', /"@" is not a component/],
  ['"@path"', /covers a component twice/],
  ['"x-b"', /covers "x-b", which the request does not have/],
  ['"X-A"', /covers "X-A", which the request does not have/],
  ['""', /covers "", which the request does not have/],
  ['"constructor"', /covers "constructor", which/],
  ['"__proto__"', /covers "__proto__", which/],
])('a signature that also covers %s is refused', async (item, detail) => {
  const headers = { 'x-a': 'a' };
  const covering = (covered: string[]) => signedGet(world, world.hmac, { covered }, { headers });
  await expectBad(covering([...always, item]), detail);
  await expectGood(covering([...always, 'x-a']));
});

describe('Signature-Input', () => {
  test.each<[string, (input: string) => string]>([
    ['empty', () => ''],
    ['blank', () => '   '],
    ['only a label', () => 'sig1'],
    ['no inner list', () => 'sig1=1'],
    ['a list of tokens', (input) => input.replaceAll('"', '')],
    ['in another order of brackets', (input) => input.replace('(', ')')],
    ['without the end of its list', (input) => input.replace(')', '')],
    ['with an open quote', (input) => `${input}"`],
    ['with an open quote in the list', (input) => input.replace('"@path"', '"@path')],
    ['with a comma at the end', (input) => `${input},`],
    ['with a comma at the start', (input) => `,${input}`],
    ['with two commas', (input) => `${input},,x=()`],
    ['with a member that is none', (input) => `${input}, =()`],
    ['with a member in capitals', (input) => `${input}, X=()`],
    ['with junk after it', (input) => `${input} junk`],
    ['with a display string that holds a quote', (input) => `${input}, x=%"\\", y=1;z="`],
    ['with bytes that are no base64', (input) => `${input}, x=:(:`],
    ['with a number that is too long', (input) => `${input}, x=1234567890123456`],
    ['as JSON', () => '{"sig1":["@method"]}'],
    ['as the draft of Cavage had it', () => 'keyId="a",headers="(request-target)",signature="AAAA"'],
    ['in letters beyond ASCII', (input) => `${input};tag="\xe9"`],
    ['in letters beyond ASCII, elsewhere', (input) => `${input}, x="\xc3\xa9"`],
    ['with a no-break space', (input) => `${input}\xa0`],
    ['with a tab in a string', (input) => `${input};tag="a\tb"`],
  ])('%s is refused', async (_what, change) => {
    const sent = get();
    await expectBad(withHeaders(sent, { 'signature-input': change(headerOf(sent, 'signature-input')) }), /./);
    await expectGood(sent);
  });

  test.each<[string, (input: string) => string]>([
    ['two spaces in the list', (input) => input.replace('" "', '"  "')],
    ['a space before the end of the list', (input) => input.replace('")', '" )')],
    ['a space after a semicolon', (input) => input.replace(';created', '; created')],
    ['created twice, the same', (input) => input.replace(/;created=\d+/, '$&$&')],
    ['created twice', (input) => input.replace(';created', ';created=1;created')],
    ['keyid twice', (input) => input.replace(';keyid', ';keyid="a";keyid')],
    ['a needless fraction', (input) => `${input};x=1.0`],
    ['a needless value', (input) => `${input};x=?1`],
  ])('with %s is refused, because others may read it otherwise', async (_what, change) => {
    const sent = get();
    const input = change(headerOf(sent, 'signature-input'));
    expect(input).not.toBe(headerOf(sent, 'signature-input'));
    await expectBad(withHeaders(sent, { 'signature-input': input }), 'not in its canonical form');
    await expectGood(sent);
  });

  test('may have spaces around its commas', async () => {
    const sent = get();
    for (const text of [',x=()', ' , x=()', '\t,\tx=()  ', ',   x=()'])
      await expectGood(
        withHeaders(sent, { 'signature-input': `  ${headerOf(sent, 'signature-input')}${text}` }),
      );
  });
});

describe('Signature', () => {
  test.each<[string, string]>([
    ['empty', ''],
    ['only a label', 'sig1'],
    ['no bytes', 'sig1=::'],
    ['a byte', 'sig1=:AA==:'],
    ['zeros', `sig1=:${Buffer.alloc(32).toString('base64')}:`],
    ['a string', `sig1="${Buffer.alloc(32).toString('base64')}"`],
    ['a token', 'sig1=AAAA'],
    ['a number', 'sig1=1'],
    ['a list', 'sig1=(:AAAA:)'],
    ['not base64', 'sig1=:(:'],
    ['base64 for URLs', 'sig1=:_-_-:'],
    ['not closed', 'sig1=:AAAA'],
    ['without a label', ':AAAA:'],
    ['beyond ASCII', 'sig1=:AAAA:, x="\xe9"'],
  ])('that is %s is refused', async (_what, value) => {
    const sent = get();
    await expectBad(withHeaders(sent, { signature: value }), /./);
    await expectGood(sent);
  });

  test('with a parameter, cut or longer by a byte is refused', async () => {
    const sent = get();
    const value = headerOf(sent, 'signature');
    const bytes = Buffer.from(value.slice(6, -1), 'base64');
    const as = (changed: Buffer) => withHeaders(sent, { signature: `sig1=:${changed.toString('base64')}:` });
    expect(as(bytes)).toEqual(sent);
    await expectBad(withHeaders(sent, { signature: `${value};a=1` }), 'no byte sequence');
    await expectBad(as(bytes.subarray(0, -1)), 'does not match the request');
    await expectBad(as(Buffer.concat([bytes, Buffer.of(0)])), 'does not match the request');
    await expectGood(sent);
  });
});

test('a covered header with bytes beyond ASCII is refused; one that is not covered does no harm', async () => {
  const headers = { 'x-name': 'Ren\xc3\xa9e' };
  await expectBad(
    signedGet(world, world.hmac, { covered: [...always, 'x-name'] }, { headers }),
    'The value of "x-name" is not ASCII',
  );
  await expectGood(signedGet(world, world.hmac, {}, { headers }));
});

test('a signature can cover Signature-Input only as it will be, so it never covers Signature', async () => {
  const sent = get({ covered: [...always, 'signature'], values: { signature: 'sig1=:AAAA:' } });
  await expectBad(sent, 'does not match the request');
});

// Shows A10
test('10,000 components are refused before they are read', async () => {
  const names = (count: number) => Array.from({ length: count }, (_, index) => `h${index}`);
  const sent = get({ covered: [...always, ...names(1_000)] });
  await expectBad(sent, 'Signature-Input has more than 4096 characters');
  // More bytes of headers than Node takes.
  const answer = await send(world.api, get({ covered: [...always, ...names(10_000)] }));
  expect(answer.status).toBe(431);
  await expectGood(get());
});

test('as many components as fit are looked at', async () => {
  const headers = Object.fromEntries(Array.from({ length: 400 }, (_, index) => [`h${index}`, String(index)]));
  const covered = [...always, ...Object.keys(headers)];
  await expectGood(signedGet(world, world.hmac, { covered }, { headers }));
  await expectBad(
    withHeaders(signedGet(world, world.hmac, { covered }, { headers }), { h399: '400' }),
    'does not match the request',
  );
});

test('a header that is folded over two lines never arrives', async () => {
  const sent = get();
  const folded = withHeaders(sent, { signature: headerOf(sent, 'signature').replace(':', '\r\n :') });
  expect((await send(world.api, folded)).status).toBe(400);
});
