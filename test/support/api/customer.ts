import { type Client, createClient } from 'messaging-service/client';

/**
 * Returns the typed client that customers use. It sends a request once, because a second try would hide a refusal of
 * the first. With more `tries` it retries as a customer's client does, for tests in which a busy machine may refuse.
 */
export function customerOf(url: string, { key }: { key: string }, { tries = 1 } = {}): Client {
  return createClient({ baseUrl: url, apiKey: key, tries, timeoutSeconds: 240 });
}
