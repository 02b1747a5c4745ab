import { type Client, createClient } from 'messaging-service/client';

/**
 * The typed client, as customers have it. It asks once, because a second try would hide the refusal that the first one
 * got; a test that shows retries makes its own.
 */
export function customerOf(url: string, { key }: { key: string }): Client {
  return createClient({ baseUrl: url, apiKey: key, tries: 1, timeoutSeconds: 240 });
}
