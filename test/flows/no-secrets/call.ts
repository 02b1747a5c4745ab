import { request } from 'undici';

export const refusals: string[] = [];
export const statuses = new Set<number>();
/**
 * Sends a raw request, and keeps every refusal, whose headers are searched too. The requests are malformed, signed, by
 * wrong keys or to the operator's pages. Correct requests of a customer go through the typed client.
 */
export async function call(url: string, method: string, key: string | null, body?: unknown, headers = {}) {
  const answer = await request(url, {
    method: method as 'GET',
    headers: {
      ...(key !== null && { authorization: `Bearer ${key}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await answer.body.text();
  statuses.add(answer.statusCode);
  if (answer.statusCode >= 400) refusals.push(JSON.stringify(answer.headers) + text);
  const isJson = String(answer.headers['content-type']).includes('json');
  return { status: answer.statusCode, body: isJson && text ? JSON.parse(text) : text };
}
