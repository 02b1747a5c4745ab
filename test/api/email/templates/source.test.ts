import { beforeAll, expect, test } from 'vitest';
import { type Client, startApi } from '../../../support/api/start-api.ts';
import { workspace } from '../../../support/data/factory.ts';
import { mjmlColumn, mjmlDocument, mjmlText } from '../../../support/data/mjml.ts';
import { useDatabase } from '../../../support/database/database.ts';

useDatabase();

let api: Client;
let own: Awaited<ReturnType<typeof workspace>>;
beforeAll(async () => {
  api = await startApi();
  own = await workspace();
});

/** Takes too much work to render, but only with some data (a large n). */
const counting = '<p>{% for i in (1..n) %}{{ i }}{% endfor %}</p>';

let made = 0;
const create = (body: object) =>
  api.request('POST', '/v2/email/templates', {
    key: own.key,
    body: { name: `template-${(made += 1)}`, ...body },
  });
const saveInclude = (name: string, content: string) =>
  api.request('PUT', `/v2/email/includes/${name}`, { key: own.key, body: { content } });

async function errorsOf(body: object): Promise<Record<string, string[]>> {
  const answer = await create(body);
  expect([answer.status, answer.body.type]).toEqual([400, `${api.url}/problems/validation_failed`]);
  expect(JSON.stringify(answer.body)).not.toMatch(/node_modules|\.ts\b|\bat .*\(/);
  expect(JSON.stringify(answer.body)).not.toContain(process.cwd());
  return answer.body.errors;
}

test.each([
  [
    'Liquid in html',
    { html: '<p>\n {{ a | shout }}' },
    { html: ['has a fault: unknown filter: shout (line 2, column 2)'] },
  ],
  [
    'Liquid in text',
    { html: 'x', text: 'a\n{% if %}' },
    { text: [expect.stringContaining('(line 2, column 6)')] },
  ],
  [
    'Liquid in both',
    { html: '{% nosuchtag %}', text: '{{ a' },
    {
      html: [expect.stringContaining('(line 1, column 1)')],
      text: [expect.stringContaining('(line 1, column 1)')],
    },
  ],
  [
    'Liquid in MJML',
    { format: 'mjml', html: mjmlText('\n\n {{ a | shout }}') },
    { html: ['has a fault: unknown filter: shout (line 3, column 2)'] },
  ],
  [
    'Liquid around elements of MJML',
    { format: 'mjml', html: mjmlDocument('{% for a in b %}<mj-section></mj-section>') },
    { html: [expect.stringContaining('{% for a in b %} not closed (line 1,')] },
  ],
  [
    'MJML',
    { format: 'mjml', html: mjmlDocument('\n<mj-text>a</mj-text>') },
    {
      html: [
        expect.stringMatching(/^has a fault: mj-text cannot be used inside mj-body.*\(line 2, column 1\)$/),
      ],
    },
  ],
  [
    'MJML that is HTML',
    { format: 'mjml', html: '<p>Hello</p>' },
    { html: ['must be one mjml element (line 1, column 1)'] },
  ],
  [
    'an unknown include',
    { format: 'mjml', html: mjmlDocument('\n <mj-include path="nothing" />') },
    { html: ['has a fault: there is no include named nothing (line 2, column 2)'] },
  ],
])('a fault of %s is refused by its field, with line and column', async (_name, source, errors) => {
  expect(await errorsOf(source)).toEqual(errors);
});

test('a fault within an include is placed in it', async () => {
  await saveInclude('faulty', '<mj-section>\n  <mj-unknown />\n</mj-section>');
  await saveInclude(
    'liquid',
    '<mj-section><mj-column>\n<mj-text>{{ a | shout }}</mj-text></mj-column></mj-section>',
  );
  expect(await errorsOf({ format: 'mjml', html: mjmlDocument('\n<mj-include path="faulty" />') })).toEqual({
    html: ['has a fault: there is no element mj-unknown (line 2, column 3 of the include faulty)'],
  });
  expect(await errorsOf({ format: 'mjml', html: mjmlDocument('\n<mj-include path="liquid" />') })).toEqual({
    html: ['has a fault: unknown filter: shout (line 2, column 10 of the include liquid)'],
  });
});

test('what sampleData makes of the source is tried', async () => {
  const errors = await errorsOf({ html: counting, sampleData: { n: 1e9 } });
  expect(errors).toEqual({ html: [expect.stringMatching(/^with sampleData .*\(line 1, column 4\)$/)] });
  expect((await create({ html: counting, sampleData: { n: 1 } })).status).toBe(201);
  expect((await create({ html: counting })).status).toBe(201);
});

test('sampleData shows what Liquid makes of the structure of MJML', async () => {
  const html = mjmlDocument('{% for a in list %}<mj-section><{{ a }} /></mj-section>{% endfor %}');
  const errors = await errorsOf({ format: 'mjml', html, sampleData: { list: ['mj-column', 'mj-text'] } });
  expect(errors).toEqual({
    html: [
      expect.stringMatching(
        /^with sampleData has a fault: mj-text cannot be used inside mj-section.*\(line 1 of the MJML that Liquid rendered\)$/,
      ),
    ],
  });
  expect((await create({ format: 'mjml', html, sampleData: { list: ['mj-column'] } })).status).toBe(201);
});

test('a source is checked again when it changes, with what stays of it', async () => {
  const { body } = await create({ html: counting, sampleData: { n: 1 } });
  const change = (changes: object) =>
    api.request('PATCH', `/v2/email/templates/${body.id}`, { key: own.key, body: changes });
  const fields = async (changes: object) => Object.keys((await change(changes)).body.errors ?? {});
  expect(await fields({ sampleData: { n: 1e9 } })).toEqual(['html']);
  expect(await fields({ format: 'mjml' })).toEqual(['html']);
  expect(await fields({ html: '{{' })).toEqual(['html']);
  expect(await fields({ text: '{{ n | shout }}' })).toEqual(['text']);
  expect(await fields({ html: mjmlText('{{ n }}'), format: 'mjml' })).toEqual([]);
});

test('html that is no MJML may hold what MJML would not', async () => {
  expect((await create({ html: '<mj-include path="nothing" /><mj-unknown>' })).status).toBe(201);
});

const render = (id: string, body: object) =>
  api.request('POST', `/v2/email/templates/${id}/render`, { key: own.key, body });

test('rendering gives html and text, and a subject where one is given', async () => {
  const { body } = await create({
    html: '<p>{{ name }}</p>{{ name | raw }}',
    text: 'Dear {{ name }}',
    sampleData: { name: 'Sample' },
  });
  const answer = await render(body.id, { data: { name: '<Ada>' }, subject: 'To {{ name }}' });
  expect([answer.status, answer.body]).toEqual([
    200,
    { subject: 'To <Ada>', html: '<p>&lt;Ada&gt;</p><Ada>', text: 'Dear <Ada>' },
  ]);
  const bySample = { html: '<p>Sample</p>Sample', text: 'Dear Sample' };
  for (const without of [{}, { data: null }]) expect((await render(body.id, without)).body).toEqual(bySample);
  expect((await render(body.id, { data: {} })).body).toEqual({ html: '<p></p>', text: 'Dear ' });
});

test('faults of a rendering are refused by the field that brings them', async () => {
  const { body } = await create({ html: counting });
  const errors = async (request: object) => (await render(body.id, request)).body.errors;
  expect(await errors({ data: { n: 1e9 } })).toEqual({
    data: [expect.stringContaining('does not fit the template: its html needs')],
  });
  expect(await errors({ data: { n: 1 }, subject: '{{ a | shout }}' })).toEqual({
    subject: ['has a fault: unknown filter: shout (line 1, column 1)'],
  });
});

test('rendering sends and stores nothing', async () => {
  const { body } = await create({
    format: 'mjml',
    html: mjmlDocument(mjmlColumn('<mj-text>{{ a }}</mj-text>')),
  });
  const rendered = await render(body.id, { data: { a: '</mj-text>' } });
  expect(rendered.body.html).toContain('>&lt;/mj-text&gt;</div>');
  expect(rendered.body.html).toMatch(/^\s*<!doctype html>/);
  const emails = await api.request('GET', '/v2/email', { key: own.key });
  expect(emails.body.data).toEqual([]);
});
