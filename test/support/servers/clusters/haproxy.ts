import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { checkout } from '../../../../scripts/setup/environment.ts';
import * as kept from '../../../../scripts/setup/kept.ts';
import { findHaproxy, type Program } from '../../../../scripts/setup/servers/programs.ts';
import { startServer } from '../../../../scripts/setup/servers/server.ts';
import { waitFor } from '../../time/wait-for.ts';
import { type OwnMysql, type OwnServer, ownFolder, run } from '../own-servers.ts';
import { addressOf } from '../tcp-proxy.ts';

/** A HAProxy that connects clients to the one MySQL, of several, that takes writes. */
type Haproxy = OwnServer & {
  /** A planned switch: `away` ends the server's connections and sends it no new ones, until `back`. */
  lead: (away: 'away' | 'back', from: OwnMysql) => Promise<void>;
};

const guides = path.join(checkout, 'api/public/guides');
const guideSocket = '/run/haproxy/admin.sock';

/**
 * Starts HAProxy with the files of the guide for operators, with other addresses. `client` is the MariaDB whose
 * `mariadb` program the health checks use.
 */
export async function startHaproxy(nodes: readonly OwnMysql[], client: Program): Promise<Haproxy> {
  const folder = ownFolder('haproxy');
  const [program, user] = [await findHaproxy(() => undefined), await checkingUser(nodes[0]!)];
  const [port, portOfOthers] = [await kept.port(folder, 'mysql'), await kept.port(folder, 'others')];
  const check = writeCheck(folder, user);
  // The path of a socket has room for 107 bytes.
  const socket = path.join(folder, 'control');
  const file = path.join(folder, 'haproxy.cfg');
  fs.writeFileSync(file, configurationOf(nodes, { port, portOfOthers, check, socket, client }), {
    mode: 0o600,
  });
  // HAProxy and the client that it starts may each have libraries of their own.
  const libraries = [program, client].flatMap(({ env }) => env['LD_LIBRARY_PATH'] ?? []).join(path.delimiter);
  const url = new URL(nodes[0]!.url);
  url.port = String(port);
  const server = await run({
    start: async () => {
      const started = await startServer({
        program: { ...program, env: { ...program.env, ...(libraries && { LD_LIBRARY_PATH: libraries }) } },
        args: ['-db', '-f', file],
        logFile: path.join(folder, 'haproxy.log'),
        answers: async () => void (await control(socket, 'show info')),
      });
      return { ...started, url: url.href };
    },
    findPid: async () => Number(/^Pid: (\d+)/m.exec(await control(socket, 'show info'))?.[1]),
  });
  return {
    ...server,
    async lead(away, from) {
      const index = nodes.findIndex(({ url: each }) => each === from.url);
      const name = `${index === 0 ? 'mysql' : 'mysql_others'}/db${index + 1}`;
      const commands =
        away === 'away'
          ? [`set server ${name} state maint`, `shutdown sessions server ${name}`]
          : [`set server ${name} state ready`];
      // A test may have killed HAProxy; startServer then starts it again.
      for (const command of commands)
        await waitFor('the proxy is there', () => control(socket, command).then(() => true), {
          timeoutMs: 60_000,
        });
    },
  };
}

/** Creates the user of the health checks. It needs no rights except to log in. */
async function checkingUser({ query }: OwnMysql): Promise<{ name: string; password: string }> {
  const user = { name: `check_${randomBytes(4).toString('hex')}`, password: randomBytes(18).toString('hex') };
  await query(`CREATE USER '${user.name}'@'127.0.0.1' IDENTIFIED BY '${user.password}'`);
  return user;
}

function writeCheck(folder: string, { name, password }: { name: string; password: string }): string {
  const access = path.join(folder, 'check.cnf');
  fs.writeFileSync(access, `[client]\nuser=${name}\npassword=${password}\n`, { mode: 0o600 });
  const script = path.join(folder, 'check-mysql.sh');
  const text = fs.readFileSync(path.join(guides, 'check-mysql.sh'), 'utf8');
  fs.writeFileSync(script, text.replace('/etc/haproxy/check.cnf', access), { mode: 0o700 });
  return script;
}

type Own = { port: number; portOfOthers: number; check: string; socket: string; client: Program };

function configurationOf(
  nodes: readonly OwnMysql[],
  { port, portOfOthers, check, socket, client }: Own,
): string {
  const programs = path.join(path.dirname(path.dirname(client.command)), 'bin');
  const text = fs.readFileSync(path.join(guides, 'haproxy.cfg'), 'utf8');
  const addresses = nodes.map(({ url }) => addressOf(url));
  // The socket must be the one of the guide: otherwise the tests would not show that the guide's commands find it.
  if (!text.includes(guideSocket)) throw new Error(`haproxy.cfg has no socket ${guideSocket}`);
  return (
    text
      // The tests find the web processes without HAProxy, so the part for requests is left out.
      .replace(/\n# Requests go to[\s\S]*$/, '\n')
      .replace(guideSocket, socket)
      // On one machine for all servers, a check may take as long as 3 s.
      .replace('inter 1s fastinter', 'inter 3s fastinter')
      .replace('127.0.0.1:3306', `127.0.0.1:${port}`)
      .replaceAll('127.0.0.1:3307', `127.0.0.1:${portOfOthers}`)
      .replace('/etc/haproxy/check-mysql.sh', check)
      .replace('path /usr/bin:/bin', `path ${programs}:/usr/bin:/bin`)
      .replaceAll(/10\.0\.0\.1(\d):3306/g, (_, number) => `127.0.0.1:${addresses[Number(number) - 1]!.port}`)
  );
}

/** Sends a command to the running HAProxy and returns its answer. */
async function control(socket: string, command: string): Promise<string> {
  const line = net.connect(socket);
  line.end(`${command}\n`);
  let said = '';
  line.setEncoding('utf8').on('data', (text: string) => (said += text));
  await once(line, 'close');
  return said;
}
