import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { startTcpProxy, type TcpProxy } from '../../support/servers/tcp-proxy.ts';
import type { Settings } from '../storm/processes.ts';

type Engine = 'MySQL' | 'Redis';

/** Proxies between one process and the servers, which this process alone uses. */
export type Lines = Record<Engine, TcpProxy[]> & { settings: Settings };

const program = path.join(import.meta.dirname, '../../support/servers/clusters/through-proxies.mjs');

/** Starts proxies to all servers whose ports these URLs name. `settings` lead a process through them. */
export async function startLines(urls: Record<Engine, readonly string[]>): Promise<Lines> {
  const [mysql, redis] = await Promise.all([startProxies(urls.MySQL), startProxies(urls.Redis)]);
  return {
    MySQL: [...mysql.values()],
    Redis: [...redis.values()],
    settings: {
      NODE_OPTIONS: `--import=${pathToFileURL(program).href}`,
      PROXIED_PORTS: JSON.stringify(
        Object.fromEntries([...mysql, ...redis].map(([port, proxy]) => [port, proxy.port])),
      ),
    },
  };
}

async function startProxies(urls: readonly string[]): Promise<Map<string, TcpProxy>> {
  const ports = new Set(
    urls.flatMap((url) => [...url.matchAll(/127\.0\.0\.1:(\d+)/g)].map(([, port]) => port!)),
  );
  const proxies = [...ports].map(
    async (port) => [port, await startTcpProxy(`tcp://127.0.0.1:${port}`)] as const,
  );
  return new Map(await Promise.all(proxies));
}
