import { expect } from 'vitest';
import { basicLogin } from '../../support/api/basic-login.ts';
import type { Client } from '../../support/api/start-api.ts';
import { waitFor } from '../../support/time/wait-for.ts';

export const password = 'a-secret-of-operators';
const headers = basicLogin(password);

/** Every sample of /ops/metrics: `name{labels}` -> value. */
export async function samples(api: Client): Promise<Map<string, number>> {
  const { status, body, headers: given } = await api.request('GET', '/ops/metrics', { headers });
  expect(status).toBe(200);
  expect(given['content-type']).toMatch(/^text\/plain; version=0\.0\.4/);
  return new Map(
    (body as string)
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'))
      .map((line) => {
        const at = line.lastIndexOf(' ');
        return [line.slice(0, at), Number(line.slice(at + 1))];
      }),
  );
}

/** Waits until the page has these samples: the processes report what they count every few seconds. */
export async function shows(api: Client, expected: Record<string, number>): Promise<void> {
  await waitFor('the page shows the numbers', async () => {
    const seen = await samples(api);
    expect(Object.fromEntries(Object.keys(expected).map((name) => [name, seen.get(name)]))).toEqual(expected);
    return true;
  });
}
