import { beforeAll, expect, test } from 'vitest';
import { type Client, startApi } from '../../support/api/start-api.ts';
import { workspace } from '../../support/data/factory.ts';
import { useDatabase } from '../../support/database/database.ts';
import { changeSettings } from '../../support/processes/settings.ts';

useDatabase();

let api: Client;
let own: Awaited<ReturnType<typeof workspace>>;
beforeAll(async () => {
  api = await startApi();
  own = await workspace();
});

let made = 0;
const newTemplate = (fields: object) => ({ name: `Reminder ${(made += 1)}`, ...fields });
const post = (fields: object) =>
  api.request('POST', '/v2/templates', { key: own.key, body: newTemplate(fields) });
const create = async (fields: object) => (await post(fields)).body;
const patch = (id: string, body: object) =>
  api.request('PATCH', `/v2/templates/${id}`, { key: own.key, body });
const render = (id: string, body: object) =>
  api.request('POST', `/v2/templates/${id}/render`, { key: own.key, body });

const name = (length: number) => ({ name: 'a'.repeat(length) });

test.each([
  ['no name', { name: undefined, content: 'x' }, 'name'],
  ['an empty name', { name: '', content: 'x' }, 'name'],
  ['a long name', { name: 'é'.repeat(65), content: 'x' }, 'name'],
  ['a name with control characters', { name: 'a\u001bb', content: 'x' }, 'name'],
  ['a long description', { description: 'a'.repeat(1_001), content: 'x' }, 'description'],
  ['no content', {}, 'content'],
  ['empty content', { content: '' }, 'content'],
  ['blank content', { content: ' \n' }, 'content'],
  ['content that is too long', { content: `{{ a }}${'x'.repeat(9_994)}` }, 'content'],
  ['sample data that is no object', { content: 'x', sampleData: ['x'] }, 'sampleData'],
  ['sample data that is too long', { content: 'x', sampleData: name(4_990) }, 'sampleData'],
])('%s is refused on its field', async (_name, fields, field) => {
  const { status, body } = await post(fields);
  expect([status, Object.keys(body.errors)]).toEqual([400, [field]]);
});

test('the longest of everything is accepted', async () => {
  const fields = {
    name: '😀'.repeat(64),
    description: '😀'.repeat(1_000),
    content: `{% comment %}${'😀'.repeat(9_970)}{% endcomment %}x`,
    sampleData: name(4_989),
  };
  expect([...fields.content]).toHaveLength(10_000);
  const { status, body } = await post(fields);
  expect(status).toBe(201);
  expect(body).toMatchObject(fields);
});

test('Liquid that does not parse is refused on content, by line and column', async () => {
  const refused = await post({ content: 'Dear\n  {{ name | shout }}' });
  expect(refused.status).toBe(400);
  expect(refused.body.errors).toEqual({
    content: [expect.stringMatching(/shout.*\(line 2, column 3\)$/)],
  });
  const { id } = await create({ content: 'Dear {{ name }}' });
  expect((await patch(id, { content: '{% if name %}' })).body.errors).toEqual({
    content: [expect.stringContaining('line 1')],
  });
});

const eleven = 'renders to a text that takes 11 parts; a message may have at most 10';

test('what the content renders to with sampleData must fit in a message', async () => {
  const content = '{{ name }}';
  expect((await post({ content, sampleData: name(1_530) })).status).toBe(201);
  const refused = await post({ content, sampleData: name(1_531) });
  expect([refused.status, refused.body.errors]).toEqual([400, { content: [`with sampleData ${eleven}`] }]);
  // The source may be longer than any message, but the rendered text may not.
  const long = `{% comment %}${'x'.repeat(5_000)}{% endcomment %}Dear {{ name }}`;
  expect((await post({ content: long, sampleData: { name: 'Ada' } })).status).toBe(201);
  expect((await post({ content: 'a'.repeat(1_531) })).body.errors).toEqual({
    content: ['takes 11 parts; a message may have at most 10'],
  });
  expect((await post({ content: '{{ other }}', sampleData: name(3) })).body.errors).toEqual({
    content: ['with sampleData renders to a text that has no text to send'],
  });
});

test('a change of either is tried with the other as it is', async () => {
  const template = await create({ content: '{{ name }}', sampleData: name(1_000) });
  const refused = await Promise.all([
    patch(template.id, { sampleData: name(1_531) }),
    patch(template.id, { content: '{{ name }}{{ name }}' }),
  ]);
  for (const { status, body } of refused)
    expect([status, Object.keys(body.errors)]).toEqual([400, ['content']]);
  const { body } = await api.request('GET', `/v2/templates/${template.id}`, { key: own.key });
  expect(body).toEqual(template);
});

test('the setting says how many parts a message may have', async () => {
  changeSettings({ SMS_MAX_PARTS: 2 });
  expect((await post({ content: 'a'.repeat(307) })).body.errors).toEqual({
    content: ['takes 3 parts; a message may have at most 2'],
  });
  changeSettings({ SMS_MAX_PARTS: 10 });
  expect((await post({ content: 'a'.repeat(307) })).status).toBe(201);
});

test('a rendering tells content, parts and encoding, and escapes nothing', async () => {
  const { id } = await create({ content: 'Dear {{ name }}', sampleData: { name: 'Ada' } });
  expect(await render(id, { data: { name: 'Zoë & <Co> 😀' } })).toMatchObject({
    status: 200,
    body: { content: 'Dear Zoë & <Co> 😀', parts: 1, encoding: 'ucs2' },
  });
  // Without data the template's sample data is used; with empty data the name is empty.
  expect((await render(id, {})).body).toEqual({ content: 'Dear Ada', parts: 1, encoding: 'gsm7' });
  expect((await render(id, { data: null })).body.content).toBe('Dear Ada');
  expect((await render(id, { data: {} })).body.content).toBe('Dear ');
});

test('what data cannot be rendered with is refused on data', async () => {
  const { id } = await create({ content: '{{ name }}' });
  const [long, empty, unprintable] = await Promise.all([
    render(id, { data: name(1_531) }),
    render(id, { data: {} }),
    render(id, { data: { name: 'x\0' } }),
  ]);
  expect(long.body.errors).toEqual({
    data: [`does not fit the template: its content ${eleven}`],
  });
  expect(empty.body.errors).toEqual({
    data: ['does not fit the template: its content renders to a text that has no text to send'],
  });
  expect(unprintable.body.errors).toEqual({
    data: [
      'does not fit the template: its content renders to a text that has a NUL character, which is not allowed',
    ],
  });
});

test('a template that never ends is stopped', async () => {
  const bomb =
    '{% for a in (1..9999) %}{% for b in (1..9999) %}{% for c in (1..9999) %}x{% endfor %}{% endfor %}{% endfor %}';
  expect((await post({ content: bomb, sampleData: {} })).body.errors).toEqual({
    content: [expect.stringMatching(/^with sampleData (takes longer|renders to more|needs more)/)],
  });
});
