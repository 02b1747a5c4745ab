import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';

/** Writes a file in one step, readable by its owner only, because most of these files hold secrets. */
export function write(file: string, value: unknown): void {
  fs.mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  const unfinished = `${file}.${process.pid}`;
  fs.writeFileSync(unfinished, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 });
  fs.renameSync(unfinished, file);
}

export function read(file: string): unknown {
  try {
    return JSON.parse(fs.readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}

export interface Secrets {
  mysqlPassword: string;
  redisPassword: string;
  secretKey: string;
  opsPassword: string;
}

/**
 * Returns the secrets of a folder. They are made once: stored rows are encrypted with them, so they must survive
 * every restart.
 */
export function secrets(folder: string): Secrets {
  const file = path.join(folder, 'secrets.json');
  const kept = read(file) as Secrets | undefined;
  if (kept) return kept;
  if (fs.existsSync(file)) throw new Error(`${file} cannot be read; without it the data beside it is lost`);
  const made = {
    mysqlPassword: randomBytes(18).toString('hex'),
    redisPassword: randomBytes(18).toString('hex'),
    secretKey: `k1:${randomBytes(32).toString('hex')}`,
    opsPassword: randomBytes(12).toString('base64url'),
  };
  write(file, made);
  return made;
}

export async function portIsFree(port: number, host = '127.0.0.1'): Promise<boolean> {
  const server = net.createServer();
  return new Promise((resolve) => {
    server.once('error', () => resolve(false));
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(true)));
  });
}

/** Returns the same port as last time while it is free, so that bookmarks and open database tools stay valid. */
export async function port(folder: string, name: string): Promise<number> {
  const file = path.join(folder, 'ports.json');
  const ports = (read(file) ?? {}) as Record<string, number>;
  const last = ports[name];
  if (last !== undefined && (await portIsFree(last))) return last;
  for (;;) {
    // This is below the range of the ports of outgoing connections (Linux: from 32768, macOS: from 49152).
    const candidate = 20_000 + Math.floor(Math.random() * 12_000);
    if (Object.values(ports).includes(candidate) || !(await portIsFree(candidate))) continue;
    // Read again: the other server's port may have been written meanwhile.
    write(file, { ...(read(file) as typeof ports | undefined), [name]: candidate });
    return candidate;
  }
}
