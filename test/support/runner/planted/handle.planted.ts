import { once } from 'node:events';
import net from 'node:net';
import { expect, test } from 'vitest';

test('leaves a server open', async () => {
  const server = net.createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  expect(server.listening).toBe(true);
});
