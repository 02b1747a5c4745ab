import { randomBytes } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { type Client, startApi } from '../../../support/api/start-api.ts';
import { workspace } from '../../../support/data/factory.ts';
import { postEmail } from '../../../support/data/new-email.ts';
import { useDatabase } from '../../../support/database/database.ts';

useDatabase();

let api: Client;
beforeAll(async () => {
  api = await startApi();
});

// Shows A64
test('of 150 new domains at once few are under way, the rest is 429 with Retry-After, and others get their domain and email', async () => {
  const greedy = await workspace();
  const other = await workspace();
  const post = ({ key }: { key: string }) =>
    api.request('POST', '/v2/email/domains', {
      key,
      body: { name: `${randomBytes(6).toString('hex')}.example` },
    });
  const burst = Array.from({ length: 150 }, () => post(greedy));
  const [domain, email] = await Promise.all([post(other), postEmail(api, other)]);
  expect([domain.status, email.status]).toEqual([201, 201]);

  const answers = await Promise.all(burst);
  const made = answers.filter(({ status }) => status === 201);
  const refused = answers.filter(({ status }) => status === 429);
  // Ten requests find room at once, and others find room as keys are finished; a workspace has at most fifty domains.
  expect(made.length).toBeGreaterThanOrEqual(10);
  expect(made.length).toBeLessThanOrEqual(50);
  expect(refused.length).toBeGreaterThan(0);
  const late = answers.filter((answer) => !made.includes(answer) && !refused.includes(answer));
  expect(late.map(({ body }) => body.type).filter((type) => !type.endsWith('/limit_exceeded'))).toEqual([]);
  for (const { body, headers } of refused) {
    expect(body).toMatchObject({
      type: expect.stringMatching(/\/rate_limited$/),
      detail: 'At most 10 keys of a workspace are made at a time.',
    });
    expect(Number(headers['retry-after'])).toBeGreaterThan(0);
  }
});
