import { type Client, createClient } from 'messaging-service/client';
import type { Cast } from './cast.ts';

/**
 * Returns the typed client that customers use, so that the benches cannot drift from the API. It tries once, since a
 * second try would hide a refusal. The timeout is long, because an import of half a million rows takes minutes.
 */
export const apiAt = (port: number, key: string): Client =>
  createClient({ baseUrl: `http://127.0.0.1:${port}`, apiKey: key, tries: 1, timeoutSeconds: 600 });

/** Calls the API for a line that runs no web process: starts one, and stops it before anything is measured. */
export async function setUp<Result>(
  cast: Cast,
  key: string,
  ask: (api: Client) => Promise<Result>,
): Promise<Result> {
  const { web, port } = await cast.web({}, 'web-set-up');
  try {
    return await ask(apiAt(port, key));
  } finally {
    await web.stop();
  }
}
