import { beforeAll, expect, test } from 'vitest';
import { type Client, startApi } from '../../support/api/start-api.ts';
import { eventsOf } from '../../support/data/accepted-email.ts';
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

async function errorsOf(changes: Record<string, unknown>): Promise<Record<string, string[]>> {
  const answer = await postEmail(api, own, changes);
  expect(answer.status).toBe(400);
  expect(answer.body.type).toBe(`${api.url}/problems/validation_failed`);
  return answer.body.errors;
}

test('an error in html is refused on content.html, with its line and column', async () => {
  const errors = await errorsOf({ content: { html: '<p>\n  {{ name | shout }}\n</p>', text: 'fine' } });
  expect(Object.keys(errors)).toEqual(['content.html']);
  expect(errors['content.html']).toEqual([expect.stringMatching(/shout.*\(line 2, column 3\)$/)]);
});

test('errors in several parts are all named', async () => {
  const errors = await errorsOf({
    subject: '{% nosuchtag %}',
    content: { html: '{% if a %}', text: '{{ a | nosuchfilter }}' },
  });
  expect(Object.keys(errors).toSorted()).toEqual(['content.html', 'content.text', 'subject']);
  for (const messages of Object.values(errors)) expect(messages[0]).toMatch(/line 1, column 1/);
});

test('what the template says about an error names no path and shows no stack', async () => {
  const errors = await errorsOf({
    content: { text: "{% include '/etc/passwd' %}{% render '../../package' %}" },
  });
  expect(JSON.stringify(errors)).not.toMatch(/node_modules|\.ts|\.js|\bat\b .*\(/);
  expect(Object.keys(errors)).toEqual(['content.text']);
});

// Shows A29
test('a subject that renders to a line end is refused, so data cannot add a header', async () => {
  for (const name of ['x\r\nBcc: c@d.example', 'x\ny', 'x\u2028y', '\u0000'])
    expect(Object.keys(await errorsOf({ subject: 'Hi {{ name }}', template: { data: { name } } }))).toEqual([
      'subject',
    ]);
});

test('half a surrogate pair of data or of a filter is sent, answered, told of and read as one and the same character', async () => {
  const [half, whole] = ['\ud83d', '😀'];
  const source = '{{ half }}{{ whole | split: "" | first }}';
  const answer = await sendEmail(api, own, {
    subject: source,
    content: { html: `<p>${source}</p>`, text: source },
    template: { data: { half, whole } },
  });
  const replaced = '\ufffd\ufffd';
  expect([answer.subject, answer.content.text]).toEqual([replaced, replaced]);
  const { body } = await api.request('GET', `/v2/email/${answer.id}`, { key: own.key });
  expect([body.subject, body.content.text]).toEqual([replaced, replaced]);
  const [queued] = await eventsOf(own, answer.id);
  expect(queued!.data).toMatchObject({ subject: replaced, content: { text: replaced } });
});

test('a subject that renders to nothing is refused', async () => {
  expect(Object.keys(await errorsOf({ subject: '{{ name }}' }))).toEqual(['subject']);
});

test('a rendered subject may be longer than its source, up to what a header line holds', async () => {
  const { subject } = await sendEmail(api, own, {
    subject: '{{ name }}',
    template: { data: { name: 'x'.repeat(998) } },
  });
  expect(subject).toHaveLength(998);
  const tooLong = { subject: '{{ name }}', template: { data: { name: 'x'.repeat(999) } } };
  expect(Object.keys(await errorsOf(tooLong))).toEqual(['subject']);
});

test('templates without Liquid are sent as they are, braces and all', async () => {
  const { content } = await sendEmail(api, own, { content: { text: 'a { b } }} c %} {' } });
  expect(content.text).toBe('a { b } }} c %} {');
});

test('“now” is the time at which the email is to go out', async () => {
  const scheduledAt = new Date(Date.now() + 86_400_000 * 30).toISOString();
  const { content } = await sendEmail(api, own, {
    content: { text: "{{ 'now' | date: '%Y-%m-%d' }}" },
    scheduledAt,
  });
  expect(content.text).toBe(scheduledAt.slice(0, 10));
});

test('a template that does not come to an end is refused soon, and the next one is rendered', async () => {
  const loop = '{% for a in (1..9999) %}{% for b in (1..9999) %}{{ a | times: b }}{% endfor %}{% endfor %}';
  expect(Object.keys(await errorsOf({ content: { text: loop } }))).toEqual(['content.text']);
  expect((await sendEmail(api, own, { content: { text: '{{ 1 | plus: 1 }}' } })).content.text).toBe('2');
});

test('data that is too large or too deep is refused on template.data', async () => {
  const large = { content: { text: '{{ a }}' }, template: { data: { a: 'x'.repeat(1_100_000) } } };
  expect(Object.keys(await errorsOf(large))).toEqual(['template.data']);
});
