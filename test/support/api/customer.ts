import { type Client, createClient } from 'messaging-service/client';

/**
 * The typed client, as customers have it. It asks once, because a second try would hide the refusal that the first one
 * got. With more `tries` it goes on as a customer's does, where a busy machine may refuse.
 */
export function customerOf(url: string, { key }: { key: string }, { tries = 1 } = {}): Client {
  return createClient({ baseUrl: url, apiKey: key, tries, timeoutSeconds: 240 });
}
