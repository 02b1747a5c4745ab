import { beforeAll, describe, expect, test } from 'vitest';
import { query } from '../../../shared/db/client.ts';
import { idToBytes } from '../../../shared/formats/ids.ts';
import { type Client, startApi } from '../../support/api/start-api.ts';
import { workspace } from '../../support/data/factory.ts';
import { mjmlColumn, mjmlDocument, mjmlText } from '../../support/data/mjml.ts';
import { postEmail, sendEmail } from '../../support/data/new-email.ts';
import { countOf } from '../../support/database/counts.ts';
import { useDatabase } from '../../support/database/database.ts';

useDatabase();

let api: Client;
let own: Awaited<ReturnType<typeof workspace>>;
beforeAll(async () => {
  api = await startApi();
  own = await workspace();
});

let made = 0;
async function createTemplate(body: object): Promise<any> {
  const name = `template-${(made += 1)}`;
  const answer = await api.request('POST', '/v2/email/templates', { key: own.key, body: { name, ...body } });
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.body));
  return answer.body;
}
const saveInclude = (name: string, content: string) =>
  api.request('PUT', `/v2/email/includes/${name}`, { key: own.key, body: { content } });

/** Sends an email and returns its body as it is stored for the worker. */
async function bodyOf(
  changes: Record<string, unknown>,
): Promise<{ html: string | null; text: string | null }> {
  const { id } = await sendEmail(api, own, { content: undefined, ...changes });
  const [row] = await query('SELECT html, text FROM email_bodies WHERE email_id = ?', [idToBytes(id)]);
  return row as any;
}
async function errorsOf(changes: Record<string, unknown>): Promise<Record<string, string[]>> {
  const answer = await postEmail(api, own, { content: undefined, ...changes });
  expect([answer.status, answer.body.type]).toEqual([400, `${api.url}/problems/validation_failed`]);
  return answer.body.errors;
}
const compiles = () => countOf('mjml_compiles');

describe('an email of a template', () => {
  test('holds what the template makes of its data', async () => {
    const { name } = await createTemplate({ html: '<p>{{ a }}</p>', text: 'T {{ a }}' });
    expect(await bodyOf({ template: { name, data: { a: '<1>' } } })).toEqual({
      html: '<p>&lt;1&gt;</p>',
      text: 'T <1>',
    });
    expect(await bodyOf({ template: { name } })).toEqual({ html: '<p></p>', text: 'T ' });
  });

  test('has no text where the template has none', async () => {
    const { name } = await createTemplate({ html: '<p>Hello</p>' });
    expect(await bodyOf({ template: { name } })).toEqual({ html: '<p>Hello</p>', text: null });
  });

  test('keeps what it was accepted with; the next one has what the template is then', async () => {
    const { id, name } = await createTemplate({ html: 'old' });
    const first = await sendEmail(api, own, { content: undefined, template: { name } });
    await api.request('PATCH', `/v2/email/templates/${id}`, { key: own.key, body: { html: 'new' } });
    expect((await bodyOf({ template: { name } })).html).toBe('new');
    const [row] = await query('SELECT html FROM email_bodies WHERE email_id = ?', [idToBytes(first.id)]);
    expect(row!['html']).toBe('old');
    await api.request('DELETE', `/v2/email/templates/${id}`, { key: own.key });
    expect(Object.keys(await errorsOf({ template: { name } }))).toEqual(['template.name']);
  });

  test('is refused for a template of another workspace', async () => {
    const other = await workspace();
    const { name } = await createTemplate({ html: 'x' });
    const answer = await postEmail(api, other, { content: undefined, template: { name } });
    expect(Object.keys(answer.body.errors)).toEqual(['template.name']);
  });

  test.each([
    ['an unknown template', { template: { name: 'nothing' } }, ['template.name']],
    ['a name that none could have', { template: { name: '' } }, ['template.name']],
    ['content as well', { content: { text: 'x' } }, ['content']],
    ['a format', { format: 'mjml' }, ['format']],
    [
      'everything at once',
      { content: { text: 'x' }, format: 'html', template: { name: 'nothing' }, sender: 'nobody' },
      ['content', 'format', 'sender', 'template.name'],
    ],
    ['neither', { template: { data: {} } }, ['content']],
    ['data that the template cannot take', { template: { data: { n: 1e9 } } }, ['template.data']],
    ['a subject that is wrong', { subject: '{{ a | shout }}' }, ['subject']],
  ])('with %s is refused by its field', async (_name, changes: Record<string, any>, fields) => {
    const { name } = await createTemplate({ html: '{% for i in (1..n) %}{{ i }}{% endfor %}' });
    const template = { name, ...changes['template'] };
    if (_name === 'neither') delete template.name;
    expect(Object.keys(await errorsOf({ ...changes, template })).toSorted()).toEqual(fields);
  });

  test('blames the template where its includes no longer fit, and not the data', async () => {
    await saveInclude('body', '<mj-section></mj-section>');
    const { name } = await createTemplate({
      format: 'mjml',
      html: mjmlDocument('<mj-include path="body" />'),
    });
    expect((await bodyOf({ template: { name } })).html).toContain('</table>');
    await saveInclude('body', '\n<mj-text>no place for it</mj-text>');
    expect(await errorsOf({ template: { name } })).toEqual({
      'template.name': [
        expect.stringMatching(
          /^cannot be used: its html has a fault: mj-text cannot be used.*\(line 2, column 1 of the include body\)$/,
        ),
      ],
    });
    await saveInclude(
      'body',
      '<mj-section><mj-column><mj-text>{{ a | shout }}</mj-text></mj-column></mj-section>',
    );
    expect(await errorsOf({ template: { name } })).toEqual({
      'template.name': [
        expect.stringMatching(
          /^cannot be used: its html has a fault: unknown filter: shout .* of the include body\)$/,
        ),
      ],
    });
    await saveInclude('body', mjmlColumn('<mj-text>mended</mj-text>'));
    expect((await bodyOf({ template: { name } })).html).toContain('mended');
  });
});

describe('MJML', () => {
  test('is compiled in an email of its own, with includes', async () => {
    await saveInclude('greeting', '<mj-text>Dear {{ name }},</mj-text>');
    const { html, text } = await bodyOf({
      format: 'mjml',
      content: { html: mjmlDocument(mjmlColumn('<mj-include path="greeting" />')), text: 'Dear {{ name }}' },
      template: { data: { name: 'Ada & Co' } },
    });
    expect(html).toContain('>Dear Ada &amp; Co,</div>');
    expect(html).toMatch(/^\s*<!doctype html>/);
    expect(html).not.toContain('<mj-');
    expect(text).toBe('Dear Ada & Co');
  });

  test('without html is only a text', async () => {
    expect(await bodyOf({ format: 'mjml', content: { text: 'T' } })).toEqual({ html: null, text: 'T' });
  });

  test('is compiled once for all emails of a source, whatever their data', async () => {
    const { name, id } = await createTemplate({ format: 'mjml', html: mjmlText('Once {{ n }}') });
    const before = await compiles();
    for (let n = 0; n < 5; n += 1)
      expect((await bodyOf({ template: { name, data: { n } } })).html).toContain(`Once ${n}`);
    expect(await compiles()).toBe(before);
    await api.request('PATCH', `/v2/email/templates/${id}`, {
      key: own.key,
      body: { html: mjmlText('Twice {{ n }}') },
    });
    expect(await compiles()).toBe(before + 1);
    expect((await bodyOf({ template: { name, data: { n: 1 } } })).html).toContain('Twice 1');
    expect(await compiles()).toBe(before + 1);
  });

  test('is compiled again once an include has changed', async () => {
    await saveInclude('changing', '<mj-text>before</mj-text>');
    const { name } = await createTemplate({
      format: 'mjml',
      html: mjmlDocument(mjmlColumn('<mj-include path="changing" />')),
    });
    expect((await bodyOf({ template: { name } })).html).toContain('before');
    await saveInclude('changing', '<mj-text>after</mj-text>');
    const before = await compiles();
    expect((await bodyOf({ template: { name } })).html).toContain('after');
    expect(await compiles()).toBe(before + 1);
  });

  test('whose structure Liquid makes is compiled with each email’s data', async () => {
    const html = mjmlDocument(
      `{% for item in items %}${mjmlColumn('<mj-text>{{ item }}</mj-text>')}{% endfor %}{% if last %}${mjmlColumn('<mj-button href="{{ last }}">End</mj-button>')}{% endif %}`,
    );
    const { name } = await createTemplate({ format: 'mjml', html });
    const body = await bodyOf({ template: { name, data: { items: ['one', 'two', 'three'] } } });
    expect(body.html!.match(/>(one|two|three)<\/div>/g)).toHaveLength(3);
    expect(body.html).not.toContain('End');
    const other = await bodyOf({
      template: { name, data: { items: [], last: 'https://a.example/?a=1&b=2' } },
    });
    expect(other.html).toContain('href="https://a.example/?a=1&amp;b=2"');
  });

  const injections = [
    '</mj-text><mj-image src="https://evil.example/x.png" />',
    '</div><script>alert(1)</script>',
    '"><img src=x>',
    "' onclick='x",
    '<mj-include path="secret" />',
    '{{ secret }}{% assign a = 1 %}',
    '<!-- ',
    '<![CDATA[',
  ];
  const escaped = (value: string) =>
    value
      .replaceAll('&', '&amp;')
      .replaceAll('<', '&lt;')
      .replaceAll('>', '&gt;')
      .replaceAll('"', '&#34;')
      .replaceAll("'", '&#39;');

  // Shows A40
  test.each([
    ['compiled before', mjmlText('[{{ v }}]<a title="{{ v }}">x</a>')],
    [
      'compiled after',
      mjmlDocument(
        `{% if true %}${mjmlColumn('<mj-text>[{{ v }}]<a title="{{ v }}">x</a></mj-text>')}{% endif %}`,
      ),
    ],
    [
      'compiled after, in an attribute',
      mjmlDocument(
        `{% if true %}${mjmlColumn('<mj-text>[{{ v }}]</mj-text><mj-image src="a" alt="{{ v }}" />')}{% endif %}`,
      ),
    ],
  ])('%s: a value stays the text that it is', async (_name, html) => {
    await saveInclude('secret', '<mj-text>SECRET</mj-text>');
    for (const value of injections) {
      const body = await bodyOf({
        format: 'mjml',
        content: { html },
        template: { data: { v: value, secret: 'SECRET' } },
      });
      expect(body.html).toContain(`[${escaped(value)}]`);
      expect(body.html).toMatch(/(title|alt)="/);
      expect(body.html).not.toContain('SECRET');
      expect(body.html).not.toMatch(/<script|<img src=x|evil\.example\/x\.png"/);
    }
  });

  // Shows A36
  test('made of data that asks for an include gets none', async () => {
    const html = mjmlDocument(`{% if true %}${mjmlColumn('{{ v | raw }}')}{% endif %}`);
    await saveInclude('secret', '<mj-text>SECRET</mj-text>');
    const errors = await errorsOf({
      format: 'mjml',
      content: { html },
      template: { data: { v: '<mj-include path="secret" />' } },
    });
    expect(errors).toEqual({
      'content.html': [expect.stringContaining('mj-include can only be part of the source itself')],
    });
  });

  test.each([
    ['Liquid', mjmlText('\n{{ a | shout }}'), 'has a fault: unknown filter: shout (line 2, column 1)'],
    [
      'a place in Liquid that is rendered',
      mjmlText('\n {% for i in (1..n) %}{% endfor %}'),
      expect.stringContaining('(line 2, column 2)'),
    ],
    [
      'the structure',
      mjmlDocument('\n<mj-column></mj-column>'),
      expect.stringMatching(/^has a fault: mj-column cannot be used inside mj-body.*\(line 2, column 1\)$/),
    ],
    [
      'an include',
      mjmlDocument('<mj-include path="none" />'),
      expect.stringContaining('there is no include named none'),
    ],
    ['its size', mjmlText('x'.repeat(300_000)), 'is larger than 256 kB with its includes'],
    [
      'its size once rendered',
      mjmlDocument(`{% for i in (1..300) %}<mj-raw>${'x'.repeat(1_000)}</mj-raw>{% endfor %}`),
      'renders to more than 256 kB of MJML',
    ],
  ])('with a fault of %s is refused on content.html', async (_name, html, message) => {
    expect(await errorsOf({ format: 'mjml', content: { html }, template: { data: { n: 1e9 } } })).toEqual({
      'content.html': [message],
    });
  });
});
