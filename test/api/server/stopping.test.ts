import { once } from 'node:events';
import net from 'node:net';
import { expect, test } from 'vitest';
import { stopHttpServer } from '../../../api/http-server.ts';
import { goodKey, startSmallApi } from '../endpoint/small-api.ts';

const hold = `POST /v2/held HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${goodKey}\r\nContent-Length: 0\r\n\r\n`;

// Shows F4
test('a request in flight is answered before the server has stopped, and no new one is taken', async () => {
  const api = await startSmallApi();
  const idle = net.connect(api.port, '127.0.0.1');
  const busy = net.connect(api.port, '127.0.0.1');
  await Promise.all([once(idle, 'connect'), once(busy, 'connect')]);
  let answer = '';
  busy.on('data', (chunk) => (answer += chunk));
  busy.write(hold);
  await api.held.started;

  const idleClosed = once(idle, 'close');
  const busyClosed = once(busy, 'close');
  const stopped = stopHttpServer(api.server, 60_000);
  await idleClosed;
  await expect(fetch(`${api.url}/health/live`)).rejects.toThrow();
  expect(answer).toBe('');
  api.held.release();
  await stopped;
  // Stopped means that the kept-alive connection is gone too, well before its idle time.
  await busyClosed;
  expect(answer).toMatch(/^HTTP\/1.1 200 /);
});

test('what does not finish within the grace is cut', async () => {
  const api = await startSmallApi();
  const busy = net.connect(api.port, '127.0.0.1');
  busy.on('error', () => {});
  busy.write(hold);
  await api.held.started;
  const closed = once(busy, 'close');
  await stopHttpServer(api.server, 100);
  await closed;
  expect(api.server.listening).toBe(false);
});
