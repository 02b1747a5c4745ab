// @slow: all processes of the platform work, and all that they write is searched.
import { beforeAll, expect, test } from 'vitest';
import { config } from '../../shared/config/config.ts';
import { useDatabase } from '../support/database/database.ts';
import { refusals, statuses } from './no-secrets/call.ts';
import { redisValues, storedValues } from './no-secrets/places.ts';
import { personal, run, secrets } from './no-secrets/run.ts';
import { secretsIn, spellings } from './no-secrets/spellings.ts';

useDatabase();

let processes: Awaited<ReturnType<typeof run>>['processes'];
let pages: string[];
let saidToRedis: () => string;
beforeAll(async () => {
  ({ processes, pages, saidToRedis } = await run());
});

/** Places that store a secret in plain form, because it is needed there or opens nothing elsewhere. */
const atRest: Record<string, string[]> = {
  // The worker has to mail the token to its reader; the token is deleted with the email.
  'confirmation token': ['email_bodies.text', 'emails.text_excerpt', 'events.data'],
  // The simulator is the phone that got the code.
  'verification code': ['simulator_messages.content'],
};

/** Returns the first lines that hold a secret, for the message of a failed test. */
function linesWith(wanted: ReadonlyMap<string, string>, output: string): string[] {
  if (secretsIn(output, wanted).length === 0) return [];
  const lines = output.split('\n').filter((line) => secretsIn(line, wanted).length > 0);
  return lines.slice(0, 5).map((line) => `${secretsIn(line, wanted).join()}: ${line.slice(0, 800)}`);
}

test('a search finds every spelling of a secret', () => {
  for (const secret of ['sig_a+b/c"d\\e', 'abc']) {
    const one = new Map([['it', secret]]);
    for (const [before, after] of [
      ['', ''],
      ['x', 'yy'],
      ['xx', 'y'],
    ]) {
      const bytes = Buffer.from(before + secret + after);
      for (const place of [
        bytes,
        bytes.toString('base64'),
        bytes.toString('base64url'),
        bytes.toString('hex'),
      ])
        expect([secret, place.toString(), secretsIn(place, one)]).toEqual([secret, place.toString(), ['it']]);
    }
    for (const place of [
      JSON.stringify({ secret }),
      JSON.stringify(JSON.stringify({ secret })),
      encodeURIComponent(secret),
    ])
      expect(secretsIn(place, one)).toEqual(['it']);
    expect(secretsIn('nothing of it', one)).toEqual([]);
  }
  expect(secretsIn('code 123456.', new Map([['it', '123456']]))).toEqual([]);
  expect(secretsIn('"123456 is your code"', new Map([['it', '123456']]))).toEqual(['it']);
});

test('the run has met what it was to meet', () => {
  expect([...statuses]).toEqual(expect.arrayContaining([200, 201, 400, 401, 500, 503]));
  expect(secrets.size).toBeGreaterThan(20);
  for (const secret of secrets.values()) expect(secret).toMatch(/^.{6,}$/);
  expect(spellings(secrets.get('API key')!).length).toBeGreaterThan(5);
  expect(processes[0]!.output()).toContain('"level":"error"');
  expect(processes[1]!.output()).toContain('"level":"debug"');
});

test('no secret is in the log of any process, at any level', () => {
  for (const one of processes) expect(linesWith(secrets, one.output())).toEqual([]);
});

test('nothing about a person is in the log from level info on', () => {
  const lines = processes
    .flatMap((one) => one.output().split('\n'))
    .filter((line) => !/"level":"(?:debug|trace)"/.test(line));
  expect(lines.length).toBeGreaterThan(50);
  expect(linesWith(personal, lines.join('\n'))).toEqual([]);
});

test('neither a secret nor anything about a person is or was in Redis', async () => {
  const all = new Map([...secrets, ...personal]);
  expect(secretsIn(saidToRedis(), all)).toEqual([]);
  const values = await redisValues(config.REDIS_URL, config.QUEUE_PREFIX);
  expect(values.length).toBeGreaterThan(10);
  expect(
    values.flatMap(([place, value]) => secretsIn(value, all).map((name) => `${place}: ${name}`)),
  ).toEqual([]);
});

test('neither is on the operator’s pages', () => {
  expect(pages.length).toBeGreaterThan(10);
  for (const page of pages) expect(secretsIn(page, new Map([...secrets, ...personal]))).toEqual([]);
});

test('no refusal names a secret', () => {
  expect(refusals.length).toBeGreaterThan(8);
  for (const refusal of refusals) expect([refusal, secretsIn(refusal, secrets)]).toEqual([refusal, []]);
});

test('at rest every secret is encrypted or hashed', async () => {
  const found = (await storedValues()).flatMap(([place, value]) =>
    secretsIn(value, secrets)
      .filter((name) => !atRest[name]?.includes(place))
      .map((name) => `${place}: ${name}`),
  );
  expect([...new Set(found)]).toEqual([]);
});
