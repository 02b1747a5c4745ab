import { type Client, createClient } from 'messaging-service/client';
import type { Cast } from './cast.ts';

/**
 * The API as customers have it: what a line sets up and looks up goes through the typed client, so that it cannot rot.
 * It asks once, since a second try would hide a refusal; and an import of half a million rows takes minutes.
 */
export const apiAt = (port: number, key: string): Client =>
  createClient({ baseUrl: `http://127.0.0.1:${port}`, apiKey: key, tries: 1, timeoutSeconds: 600 });

/** The same for a line in which no web process runs, by one that has gone before anything is measured. */
export async function setUp<Result>(
  cast: Cast,
  key: string,
  ask: (api: Client) => Promise<Result>,
): Promise<Result> {
  const { web, port } = await cast.web({ WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8' }, 'web-set-up');
  try {
    return await ask(apiAt(port, key));
  } finally {
    await web.stop();
  }
}
