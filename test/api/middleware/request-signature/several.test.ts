import { expect, test } from 'vitest';
import { hmacKey } from '../../../support/api/signed-key.ts';
import { workspace } from '../../../support/data/factory.ts';
import { useDatabase } from '../../../support/database/database.ts';
import {
  expectAccepted,
  expectRefused,
  headerOf,
  type Sent,
  send,
  signedGet,
  useSignedApi,
  withBoth,
  withHeaders,
} from './signed-api.ts';

useDatabase();
const world = useSignedApi();

const expectGood = async (sent: Sent) => expectAccepted(await send(world.api, sent));
const expectBad = async (sent: Sent, detail: string) => expectRefused(await send(world.api, sent), detail);

const ours = (label = 'sig1') => signedGet(world, world.hmac, { label });
/** A signature for this request by somebody else. */
const others = (label: string) => signedGet(world, world.hmac, { label, parameters: { keyid: '"a-proxy"' } });
const junk = (label: string) =>
  signedGet(world, world.hmac, { label, parameters: { keyid: '"x"' }, signWith: () => Buffer.of(1) });

const withInput = (sent: Sent, text: string) =>
  withHeaders(sent, { 'signature-input': `${headerOf(sent, 'signature-input')}${text}` });
const withValue = (sent: Sent, text: string) =>
  withHeaders(sent, { signature: `${headerOf(sent, 'signature')}${text}` });

test('the label means nothing', async () => {
  for (const label of ['sig1', 'a', '*', 'x-y.z_0*', 'constructor', 'l'.repeat(1000)])
    await expectGood(ours(label));
  const renamed = withHeaders(ours('a'), { signature: headerOf(ours('b'), 'signature') });
  await expectBad(renamed, 'Signature has no byte sequence under the label');
});

test('a label that is renamed in both headers on the way changes nothing', async () => {
  const sent = ours('sig1');
  const rename = (name: string) => headerOf(sent, name).replace(/^sig1=/, 'proxy-1=');
  await expectGood(
    withHeaders(sent, { signature: rename('signature'), 'signature-input': rename('signature-input') }),
  );
});

// Shows A10
test('signatures of others do not matter, before ours or after it, good or not', async () => {
  for (const other of [others('other'), junk('junk')]) {
    await expectGood(withBoth(ours(), other));
    await expectGood(withBoth(other, ours()));
    await expectBad(other, 'No signature has the id of this API key as its keyid');
  }
  await expectGood(withBoth(withBoth(ours(), others('a')), withBoth(junk('b'), others('c'))));
});

test('what somebody added to one of the two headers only, or in a form of its own, does not matter', async () => {
  for (const text of [
    ', x=("@method");keyid="x"',
    ', x=()',
    ', x=1',
    ', x',
    ', x="a, b=c\\""',
    ', x=(a "b";c=1)',
  ])
    await expectGood(withInput(ours(), text));
  for (const text of [', x=:AAAA:', ', x=1', ', x', ', x=()', ', x=:AAAA:;a=1'])
    await expectGood(withValue(ours(), text));
});

test('a label of ours that is in one header only is refused', async () => {
  const sent = ours();
  const [input, value] = ['signature-input', 'signature'].map((name) => headerOf(sent, name));
  await expectBad(withHeaders(sent, { signature: 'other=:AAAA:' }), 'Signature has no byte sequence');
  await expectBad(withHeaders(sent, { 'signature-input': 'other=("@method")' }), 'No signature has the id');
  await expectBad(withHeaders(sent, { signature: undefined }), 'must both be sent');
  await expectBad(withHeaders(sent, { 'signature-input': undefined }), 'must both be sent');
  await expectGood(withHeaders(sent, { 'signature-input': input, signature: value }));
});

// Shows A10
test('two signatures with our keyid are refused, whichever of them is good', async () => {
  const bad = signedGet(world, world.hmac, { label: 'bad', signWith: () => Buffer.alloc(32) });
  const twice = 'More than one signature has the id of this API key';
  await expectBad(withBoth(ours(), bad), twice);
  await expectBad(withBoth(bad, ours()), twice);
  await expectBad(withBoth(ours('a'), ours('b')), twice);
  await expectBad(bad, 'does not match the request');
  await expectGood(ours());
});

test('a label that is there twice is refused, in either header', async () => {
  const sent = ours();
  await expectBad(withBoth(junk('sig1'), sent), 'has the same label twice');
  await expectBad(withBoth(sent, junk('sig1')), 'has the same label twice');
  await expectBad(withInput(sent, ', x=(), x=()'), 'Signature-Input has the same label twice');
  await expectBad(withValue(sent, ', sig1=:AAAA:'), 'Signature has the same label twice');
  await expectGood(withInput(sent, ', x=(), y=()'));
});

test('4 signatures are looked at, 5 are refused', async () => {
  await expectGood(withInput(ours(), ', a=(), b=(), c=()'));
  await expectBad(withInput(ours(), ', a=(), b=(), c=(), d=()'), 'Signature-Input has more than 4 labels');
  await expectGood(withValue(ours(), ', a=:AA==:, b=:AA==:, c=:AA==:'));
  await expectBad(
    withValue(ours(), ', a=:AA==:, b=:AA==:, c=:AA==:, d=:AA==:'),
    'Signature has more than 4 labels',
  );
});

test('a header of 4096 characters is read, a longer one is refused', async () => {
  for (const [name, extend] of [
    ['Signature-Input', withInput],
    ['Signature', withValue],
  ] as const) {
    const sent = ours();
    const room = 4096 - headerOf(sent, name.toLowerCase()).length;
    const filled = (length: number) => extend(sent, `, x="${'y'.repeat(length - 6)}"`);
    expect(headerOf(filled(room), name.toLowerCase())).toHaveLength(4096);
    await expectGood(filled(room));
    await expectBad(filled(room + 1), `${name} has more than 4096 characters`);
  }
});

test('the labels may stand on lines of their own, which then count as one header', async () => {
  const [first, second] = [ours('a'), others('b')];
  const lines = (...sents: Sent[]): Sent => ({
    ...first,
    headers: [
      ...first.headers.filter(([name]) => !name.startsWith('signature')),
      ...sents.flatMap(({ headers }) => headers.filter(([name]) => name.startsWith('signature'))),
    ],
  });
  await expectGood(lines(first, second));
  await expectGood(lines(second, first));
  await expectBad(lines(first, first), 'Signature-Input has the same label twice');
  await expectBad(lines(first, ours('c')), 'More than one signature has the id of this API key');
  await expectBad(lines(second), 'No signature has the id');
  await expectBad(lines(first, ...['b', 'c', 'd', 'e'].map(others)), 'more than 4 labels');
});

test('a good signature by another key of the workspace, or of another one, does not help', async () => {
  const sibling = await hmacKey(world.own.workspaceId);
  const stranger = await hmacKey((await workspace()).workspaceId);
  for (const { signer } of [sibling, stranger, { signer: { ...sibling.signer, keyId: 'nobody' } }]) {
    const sent = signedGet(world, { key: world.hmac.key, signer });
    await expectBad(sent, 'No signature has the id of this API key as its keyid');
  }
  // A signature by another key does not help either when it names our key as its keyid.
  const borrowed = { ...sibling.signer, keyId: world.hmac.signer.keyId };
  await expectBad(signedGet(world, { key: world.hmac.key, signer: borrowed }), 'does not match the request');
  await expectGood(signedGet(world, sibling));
  await expectGood(ours());
});
