import { expect, test } from 'vitest';
import { checkSource, inParts, renderSms, renderSmsMany } from '../../../shared/domain/sms/content.ts';
import { newId } from '../../../shared/formats/ids.ts';
import { closeSandbox } from '../../../shared/sandbox/sandbox.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { atEnd } from '../../support/runner/at-end.ts';

atEnd(closeSandbox);
const workspaceId = newId('workspace', new Date());
const now = new Date('2026-12-01T12:00:00Z');

test('a message has at most as many parts as the setting says', () => {
  expect(inParts('a'.repeat(1530))).toMatchObject({ ok: true, encoding: 'gsm7' });
  expect(inParts('a'.repeat(1531))).toEqual({
    ok: false,
    message: 'takes 11 parts; a message may have at most 10',
  });
  expect(inParts('я'.repeat(670))).toMatchObject({ ok: true, encoding: 'ucs2' });
  expect(inParts('я'.repeat(671))).toEqual({
    ok: false,
    message: 'takes 11 parts; a message may have at most 10',
  });
  expect(inParts('a'.repeat(1_000_000))).toEqual({
    ok: false,
    message: 'takes too many parts; a message may have at most 10',
  });
  changeSettings({ SMS_MAX_PARTS: 1 });
  expect(inParts('a'.repeat(160))).toMatchObject({ ok: true });
  expect(inParts('a'.repeat(161))).toEqual({
    ok: false,
    message: 'takes 2 parts; a message may have at most 1',
  });
  changeSettings({ SMS_MAX_PARTS: 10 });
});

test.each([
  ['', 'allow'],
  [' \n ', 'allow'],
  ['Привет', 'strip'],
] as const)('of %j nothing is left to send with %s', (text, unicode) => {
  expect(inParts(text, { unicode })).toEqual({ ok: false, message: 'has no text to send' });
});

test('the text is what goes out: counted after characters were stripped', () => {
  expect(inParts(`${'a'.repeat(160)}😀`, { unicode: 'strip' })).toEqual({
    ok: true,
    links: [],
    text: 'a'.repeat(160),
    encoding: 'gsm7',
    parts: ['a'.repeat(160)],
  });
  expect(inParts('ça', { unicode: 'deny' })).toMatchObject({
    ok: false,
    message: expect.stringContaining('ç'),
  });
});

test('what no request can bring, data cannot bring either', () => {
  expect(inParts('a\0b')).toEqual({ ok: false, message: 'has a NUL character, which is not allowed' });
  expect(inParts('a\ud83d')).toMatchObject({ ok: true, text: 'a\ufffd', encoding: 'ucs2' });
});

test('values are not escaped: a message is no HTML', async () => {
  const data = { name: 'Ada & <Co>' };
  expect(await renderSms({ workspaceId, content: 'Dear {{ name }}', data, now })).toEqual({
    ok: true,
    text: 'Dear Ada & <Co>',
    links: [],
    encoding: 'gsm7',
    parts: ['Dear Ada & <Co>'],
  });
});

test('a message that is too long by its data is told from one that is too long by itself', async () => {
  const data = { name: 'x'.repeat(2_000) };
  expect(await renderSms({ workspaceId, content: '{{ name }}', data, now })).toEqual({
    ok: false,
    faults: [
      {
        part: 'content',
        message: 'renders to a text that takes 14 parts; a message may have at most 10',
        isOfSource: false,
      },
    ],
  });
  expect(await renderSms({ workspaceId, content: 'x'.repeat(2_000), data, now })).toEqual({
    ok: false,
    faults: [{ part: 'content', message: 'takes 14 parts; a message may have at most 10', isOfSource: true }],
  });
});

test('many messages are the same as one by one, in their order, and each fails by itself', async () => {
  const contents = [
    'Dear {{ name }}, {{ shop }}',
    'plain',
    'x'.repeat(2_000),
    '{{ name }}',
    '{% if %}',
    'ж {{ shop }}',
  ];
  const names = ['Ada', 'x'.repeat(2_000), 'Ж', ''];
  const unicodes = ['allow', 'deny', 'strip', undefined] as const;
  const all = contents.flatMap((content) =>
    names.flatMap((name) => unicodes.map((unicode) => ({ content, name, ...(unicode ? { unicode } : {}) }))),
  );
  const rows = all.map(({ name, ...row }) => ({ ...row, data: JSON.stringify({ name }) }));
  const many = await renderSmsMany({ workspaceId, rows, shared: '{"name":"you","shop":"Acme"}', now });
  const single: unknown[] = [];
  for (const { name, ...row } of all)
    single.push(await renderSms({ workspaceId, now, ...row, data: { name, shop: 'Acme' } }));
  expect(many).toEqual(single);
  expect(new Set(many.map(({ ok }) => ok))).toEqual(new Set([true, false]));
});

test('a text that is too long is refused before all its links are read, one whose links are too long is not', () => {
  const options = { shortenLinks: true };
  const links = Array.from({ length: 11 }, (_, index) => `http://a.example/${index}/${'x'.repeat(2_000)}`);
  expect(inParts(`${'a '.repeat(3_200)}${links.join(' ')}`, options)).toEqual({
    ok: false,
    message: 'takes too many parts; a message may have at most 10',
  });
  expect(inParts(links.slice(1).join(' '), options)).toMatchObject({ ok: true, links: { length: 10 } });
});

test('a source is checked without data as far as it can be', async () => {
  const check = (content: string, sampleData: Record<string, unknown> | null = null) =>
    checkSource({ workspaceId, content, sampleData, now });
  expect(await check('Dear {{ name }}')).toEqual({ ok: true });
  expect(await check('{% for i in (1..900) %}{{ name }}, {% endfor %}')).toEqual({ ok: true });
  expect(await check('{% for i in (1..900) %}{{ name }}, {% endfor %}', {})).toMatchObject({
    ok: false,
    faults: [{ isOfSource: false }],
  });
  expect(await check('{% if %}')).toMatchObject({
    ok: false,
    faults: [{ part: 'content', isOfSource: true, message: expect.stringMatching(/line 1/) }],
  });
  expect(await check('a'.repeat(1531))).toMatchObject({ ok: false, faults: [{ isOfSource: true }] });
});
