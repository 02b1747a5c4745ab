import { once } from 'node:events';
import net from 'node:net';
import { beforeAll, expect, test } from 'vitest';
import { callOn, operations } from '../support/api/operations.ts';
import { type Client, startApi } from '../support/api/start-api.ts';
import { workspace } from '../support/data/factory.ts';
import type { Own } from '../support/data/records.ts';
import { useDatabase } from '../support/database/database.ts';

useDatabase();

let api: Client;
let own: Own;
beforeAll(async () => {
  api = await startApi();
  own = await workspace();
});

/** Returns the status line of the answer to the headers alone, which announce a body of this length. */
async function statusOf(
  { method, path, takesFile }: { method: string; path: string; takesFile: boolean },
  lengthBytes: number,
): Promise<string> {
  const type = takesFile ? 'multipart/form-data; boundary=b' : 'application/json';
  const socket = net.connect(Number(new URL(api.url).port), '127.0.0.1');
  socket.write(
    `${method.toUpperCase()} ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${own.key}\r\nContent-Type: ${type}\r\n` +
      `Content-Length: ${lengthBytes}\r\nExpect: 100-continue\r\n\r\n`,
  );
  const [first] = await once(socket, 'data');
  const closed = once(socket.resume(), 'close');
  socket.destroy();
  await closed;
  return String(first).slice(0, 12);
}

// Shows A19
test.each(operations)(
  '$name wants a body of its limit, and refuses one that is a byte longer unread',
  async ({ endpoint }) => {
    const { method, bodyLimitBytes, takesFile } = endpoint;
    const { params } = await callOn(api, own, endpoint);
    const path = endpoint.path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => params[name]!);
    expect(await statusOf({ method, path, takesFile }, bodyLimitBytes)).toBe('HTTP/1.1 100');
    expect(await statusOf({ method, path, takesFile }, bodyLimitBytes + 1)).toBe('HTTP/1.1 413');
  },
);
