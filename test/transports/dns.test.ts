import { expect, onTestFinished, test } from 'vitest';
import { lookUp, type Question } from '../../shared/transports/dns.ts';
import { changeSettings } from '../support/processes/settings.ts';
import { type DnsAnswer, startDnsServer } from '../support/servers/dns-server.ts';

const answers = new Map<string, DnsAnswer>();
const server = await startDnsServer(({ name }) => answers.get(name) ?? 'unknown');
changeSettings({ DNS_SERVERS: [server.address], DNS_TIMEOUT_SECONDS: 3 });

/** Shortens the time-out for names whose servers are silent, as such a look-up always takes all of it. */
function shortly(): () => void {
  changeSettings({ DNS_TIMEOUT_SECONDS: 0.3 });
  const release = () => changeSettings({ DNS_TIMEOUT_SECONDS: 3 });
  onTestFinished(release);
  return release;
}

const text = (name: string): Question => ({ name, type: 'TXT' });

test('answers come in the order of the questions, each TXT record as one text', async () => {
  const long = `v=DKIM1; p=${'x'.repeat(600)}`;
  answers.set('a.example', { texts: ['one', long] });
  answers.set('b.example', { alias: 'target.example' });
  const questions: Question[] = [
    text('nothing.example'),
    text('a.example'),
    { name: 'b.example', type: 'CNAME' },
  ];
  const [nothing, texts, alias] = await lookUp(questions);
  expect(nothing).toEqual({ records: [] });
  expect((texts as { records: string[] }).records.toSorted()).toEqual(['one', long]);
  expect(alias).toEqual({ records: ['target.example'] });
});

test('a name with other records only has none of these', async () => {
  answers.set('empty.example', { texts: [] });
  expect(await lookUp([text('empty.example')])).toEqual([{ records: [] }]);
});

test.each([
  ['failure', /failed/],
  ['silent', /in time/],
] as const)(
  'a server that answers with %s is trouble, not the absence of a record',
  async (answer, trouble) => {
    answers.set('trouble.example', answer);
    if (answer === 'silent') shortly();
    const [given] = await lookUp([text('trouble.example')]);
    expect(given).toEqual({ trouble: expect.stringMatching(trouble) });
  },
);

test('no name server at all is trouble', async () => {
  changeSettings({ DNS_SERVERS: ['127.0.0.1:1'] });
  expect(await lookUp([text('a.example')])).toEqual([{ trouble: expect.any(String) }]);
  changeSettings({ DNS_SERVERS: [server.address] });
});

test('huge answers and aliases that lead to themselves are harmless', async () => {
  answers.set('huge.example', { texts: Array.from({ length: 12 }, () => 'x'.repeat(5_000)) });
  answers.set('many.example', { texts: Array.from({ length: 3_000 }, (_, index) => `text ${index}`) });
  answers.set('loop.example', { alias: 'loop.example' });
  const [huge, many, loop, alias] = await lookUp([
    text('huge.example'),
    text('many.example'),
    text('loop.example'),
    { name: 'loop.example', type: 'CNAME' },
  ]);
  expect(huge).toEqual({ records: [] });
  expect((many as { records: string[] }).records).toHaveLength(50);
  expect(loop).toEqual({ records: [] });
  expect(alias).toEqual({ records: ['loop.example'] });
});

test('what waits for its turn too long is trouble as well, and turns are given back', async () => {
  answers.set('silent.example', 'silent');
  answers.set('quick.example', { texts: ['here'] });
  const release = shortly();
  const silent = Array.from({ length: 60 }, () => lookUp([text('silent.example')]));
  const results = (await Promise.all(silent)).flat();
  expect(results.filter((answer) => 'trouble' in answer)).toHaveLength(60);
  release();
  expect(await lookUp([text('quick.example')])).toEqual([{ records: ['here'] }]);
});
