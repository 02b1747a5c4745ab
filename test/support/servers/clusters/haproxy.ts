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

type Haproxy = OwnServer & {
  /** Sends a command to the control socket, and returns the answer. */
  control: (command: string) => Promise<string>;
};

/** A HAProxy that connects clients to the one MySQL, of several, that takes writes. */
type MysqlProxy = OwnServer & {
  /** A planned switch: `away` ends the server's connections and sends it no new ones, until `back`. */
  lead: (away: 'away' | 'back', from: OwnMysql) => Promise<void>;
};

const guides = path.join(checkout, 'api/public/guides');
const guideSocket = '/run/haproxy/admin.sock';

type MysqlProxyOptions = {
  /** The MariaDB whose `mariadb` program the health checks use. */
  client: Program;
  /** The rights that the user of the health checks needs, besides to log in. */
  grant?: string;
};

/** Starts HAProxy with the files of the guide for operators, with the addresses of these servers. */
export async function startMysqlProxy(
  nodes: readonly OwnMysql[],
  { client, grant }: MysqlProxyOptions,
): Promise<MysqlProxy> {
  const folder = ownFolder('haproxy');
  const check = writeCheck(folder, await checkingUser(nodes[0]!, grant), client);
  const [port, portOfOthers] = [await kept.port(folder, 'mysql'), await kept.port(folder, 'others')];
  const programs = path.join(path.dirname(path.dirname(client.command)), 'bin');
  const addresses = nodes.map(({ url }) => addressOf(url));
  const configuration = partsOf([
    'global',
    'defaults all',
    'defaults mysql',
    'listen mysql',
    'listen mysql_others',
  ])
    // On one machine for all servers, a check may take as long as 3 s.
    .replace('inter 1s fastinter', 'inter 3s fastinter')
    .replace('127.0.0.1:3306', `127.0.0.1:${port}`)
    .replaceAll('127.0.0.1:3307', `127.0.0.1:${portOfOthers}`)
    .replace('/etc/haproxy/check-mysql.sh', check)
    .replace('path /usr/bin:/bin', `path ${programs}:/usr/bin:/bin`)
    .replaceAll(/10\.0\.0\.1(\d):3306/g, (_, number) => `127.0.0.1:${addresses[Number(number) - 1]!.port}`);
  const url = new URL(nodes[0]!.url);
  url.port = String(port);
  const proxy = await start(folder, { configuration, url: url.href, client });
  return {
    ...proxy,
    async lead(away, from) {
      const index = nodes.findIndex(({ url: each }) => each === from.url);
      const name = `${index === 0 ? 'mysql' : 'mysql_others'}/db${index + 1}`;
      const commands =
        away === 'away'
          ? [`set server ${name} state maint`, `shutdown sessions server ${name}`]
          : [`set server ${name} state ready`];
      // A test may have killed HAProxy; startServer then starts it again.
      for (const command of commands)
        await waitFor('the proxy is there', () => proxy.control(command).then(() => true), {
          timeoutMs: 60_000,
        });
    },
  };
}

/** Starts HAProxy with the part of the guide's file for requests. `web1` and `web2` are the web processes at these ports. */
export async function startWebProxy(ports: readonly [number, number]) {
  const folder = ownFolder('haproxy');
  const port = await kept.port(folder, 'web');
  const configuration = partsOf(['global', 'defaults all', 'listen web'])
    .replace('bind :80', `bind 127.0.0.1:${port}`)
    .replaceAll(/10\.0\.0\.2(\d):3000/g, (_, number) => `127.0.0.1:${ports[Number(number) - 1]}`);
  const proxy = await start(folder, { configuration, url: `http://127.0.0.1:${port}` });
  return {
    ...proxy,
    /** Returns the state in which HAProxy sees a web process, and how many requests it has sent there. */
    async server(name: string): Promise<{ state: string; requests: number }> {
      const lines = (await proxy.control('show stat')).split('\n').map((line) => line.split(','));
      const columns = lines[0]!.map((column) => column.replace('# ', ''));
      const own = lines.find(([proxyName, serverName]) => proxyName === 'web' && serverName === name)!;
      return { state: own[columns.indexOf('status')]!, requests: Number(own[columns.indexOf('stot')]) };
    },
  };
}

/** Returns these sections of the guide's file, with a socket of its own folder. */
function partsOf(names: readonly string[]): string {
  const sections = fs
    .readFileSync(path.join(guides, 'haproxy.cfg'), 'utf8')
    .split(/^(?=global|defaults|listen)/m);
  const found = sections.filter((section) =>
    names.some((name) => new RegExp(`^${name}( from .*)?\\n`).test(section)),
  );
  if (found.length !== names.length) throw new Error(`haproxy.cfg lacks a section of ${names.join(', ')}`);
  return found.join('\n');
}

type Start = { configuration: string; url: string; client?: Program };

async function start(folder: string, { configuration, url, client }: Start): Promise<Haproxy> {
  const program = await findHaproxy(() => undefined);
  // The path of a socket has room for 107 bytes.
  const socket = path.join(folder, 'control');
  const file = path.join(folder, 'haproxy.cfg');
  // The socket must be the one of the guide: otherwise the tests would not show that the guide's commands find it.
  if (!configuration.includes(guideSocket)) throw new Error(`haproxy.cfg has no socket ${guideSocket}`);
  fs.writeFileSync(file, configuration.replace(guideSocket, socket), { mode: 0o600 });
  // HAProxy and the client that it starts may each have libraries of their own.
  const libraries = [program, client]
    .flatMap((each) => each?.env['LD_LIBRARY_PATH'] ?? [])
    .join(path.delimiter);
  const own = await run({
    start: async () => {
      const started = await startServer({
        program: { ...program, env: { ...program.env, ...(libraries && { LD_LIBRARY_PATH: libraries }) } },
        args: ['-db', '-f', file],
        logFile: path.join(folder, 'haproxy.log'),
        answers: async () => void (await control(socket, 'show info')),
      });
      return { ...started, url };
    },
    findPid: async () => Number(/^Pid: (\d+)/m.exec(await control(socket, 'show info'))?.[1]),
  });
  return { ...own, control: (command) => control(socket, command) };
}

/** Creates the user of the health checks. */
async function checkingUser(
  { query }: OwnMysql,
  grant: string | undefined,
): Promise<{ name: string; password: string }> {
  const user = { name: `check_${randomBytes(4).toString('hex')}`, password: randomBytes(18).toString('hex') };
  const account = `'${user.name}'@'127.0.0.1'`;
  await query(`CREATE USER ${account} IDENTIFIED BY '${user.password}'`);
  if (grant) await query(`GRANT ${grant} TO ${account}`);
  return user;
}

function writeCheck(
  folder: string,
  { name, password }: { name: string; password: string },
  client: Program,
): string {
  const access = path.join(folder, 'check.cnf');
  // An unpacked client does not find by itself how to log in to MySQL.
  const plugins = (client.env['LD_LIBRARY_PATH'] ?? '')
    .split(path.delimiter)
    .map((libraries) => path.join(libraries, 'libmariadb3/plugin'))
    .find((plugin) => fs.existsSync(plugin));
  const lines = [
    '[client]',
    `user=${name}`,
    `password=${password}`,
    ...(plugins ? [`plugin-dir=${plugins}`] : []),
  ];
  fs.writeFileSync(access, `${lines.join('\n')}\n`, { mode: 0o600 });
  const script = path.join(folder, 'check-mysql.sh');
  const text = fs.readFileSync(path.join(guides, 'check-mysql.sh'), 'utf8');
  fs.writeFileSync(script, text.replace('/etc/haproxy/check.cnf', access), { mode: 0o700 });
  return script;
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
