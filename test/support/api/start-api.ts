import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createApp } from '../../../api/app.ts';
import { createHttpServer } from '../../../api/http-server.ts';
import { changeSettings } from '../processes/settings.ts';
import { atEnd } from '../runner/at-end.ts';
import { type Answer, type Client, clientOf } from './api-client.ts';

export type { Answer, Client };

/**
 * Starts the API in this process, on a free port unless another one is given. Its address is also the public address
 * that it writes into links.
 */
export async function startApi({
  port = 0,
  ...timeouts
}: { port?: number } & Parameters<typeof createHttpServer>[1] = {}): Promise<
  Client & { close: () => Promise<void> }
> {
  const server = createHttpServer(createApp(), timeouts).listen(port, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  changeSettings({ PUBLIC_URL: url });
  let closing: Promise<unknown> | undefined;
  const close = async () => {
    if (!closing) {
      closing = once(server, 'close');
      server.close();
      server.closeAllConnections();
    }
    await closing;
  };
  atEnd(close);
  return { ...clientOf(url), close };
}
