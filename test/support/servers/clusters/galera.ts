import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import * as kept from '../../../../scripts/setup/kept.ts';
import { findGalera, type Program } from '../../../../scripts/setup/servers/programs.ts';
import { newDatabaseName } from '../../database/database-name.ts';
import { waitFor } from '../../time/wait-for.ts';
import { type OwnMysql, ownFolder, startOwnMysql } from '../own-servers.ts';

/** A node of a group in which all nodes have the same rows. */
export type Node = OwnMysql & {
  /** Waits until the node is in a quorum and has everything that the other nodes have. */
  untilJoined: () => Promise<void>;
  /** Isolates the node from the other nodes, but not from its clients; `rejoin` ends the isolation. */
  cutOff: () => Promise<void>;
  rejoin: () => Promise<void>;
};

const isRoot = process.getuid?.() === 0;
// On a busy machine a node may take long to join.
const limit = { timeoutMs: 120_000 };

/** About twice the times of the guide for operators: the nodes share one busy machine here, and wait for each other. */
const soon = [
  'evs.keepalive_period=PT0.5S',
  'evs.suspect_timeout=PT2S',
  'evs.inactive_timeout=PT6S',
  'evs.join_retrans_period=PT0.4S',
  'evs.install_timeout=PT3S',
];

/** Small log files, which are quickly copied to another node. */
const small = ['--innodb-log-file-size=16M'];

/**
 * Does the work of systemd before a start: it reads from the tables the last change that a killed node had. Otherwise
 * everything would be copied to the node again. MariaDB sometimes hangs when it has read that, so the time is limited,
 * as systemd limits it. The very first node makes the group.
 */
const beforeStart = [
  'if [ -e "$folder/new-group" ]; then rm "$folder/new-group"; more=--wsrep-new-cluster',
  'elif grep -qs "^seqno: *-1" "$folder/mariadb/grastate.dat"; then',
  '  recover() { timeout --foreground -s KILL 30 "$program" "$@" --skip-networking --wsrep-recover 2>&1; }',
  '  said=$(recover "$@") || echo "--wsrep-recover has failed: $said" >&2',
  '  position=$(echo "$said" | sed -n "s/.*Recovered position: *//p" | tail -n 1)',
  '  [ -z "$position" ] || more="--wsrep-start-position=$position"',
  'fi',
];

/** Starts the MariaDB nodes of a Galera cluster for one test file. */
export async function startGalera(count = 3): Promise<Node[]> {
  const found = withPath(asRoot(await findGalera(() => undefined)));
  const secrets = { password: randomBytes(18).toString('hex'), database: newDatabaseName('messaging') };
  const [first, ...others] = Array.from({ length: count }, () => ownFolder('galera')) as [
    string,
    ...string[],
  ];
  // A server outside the group creates the users: a node of a group is not ready so early, and would refuse.
  await (await startOwnMysql({ ...secrets, found, folder: first, options: small })).stop();
  const folders = [first, ...others];
  const group = await Promise.all(folders.map(async (folder) => kept.port(folder, 'group')));
  const start = async (folder: string) =>
    asNode(
      await startOwnMysql({
        ...secrets,
        found,
        folder,
        options: await optionsOf(found, folder, group),
        before: beforeStart,
      }),
    );
  const make = async (): Promise<Node> => {
    fs.writeFileSync(path.join(first, 'new-group'), '');
    return start(first);
  };
  // All nodes start with the data of a one-node group, so their tables say which state of the group they hold.
  await (await make()).stop();
  for (const folder of others)
    fs.cpSync(path.join(first, 'mariadb'), path.join(folder, 'mariadb'), { recursive: true });
  // The other nodes find the first one running, and take from it the changes that they lack.
  const nodes = [await make(), ...(await Promise.all(others.map(start)))];
  await Promise.all(nodes.map((node) => node.untilJoined()));
  return nodes;
}

async function optionsOf(found: Program, folder: string, group: readonly number[]): Promise<string[]> {
  const base = path.dirname(path.dirname(found.command));
  const ports: Record<string, number> = {};
  for (const name of ['group', 'increments', 'copies']) ports[name] = await kept.port(folder, name);
  const provider = [
    `gmcast.listen_addr=tcp://127.0.0.1:${ports['group']}`,
    `ist.recv_addr=127.0.0.1:${ports['increments']}`,
    'gcache.size=32M',
    ...soon,
  ];
  return [
    ...small,
    // The data already contains the users.
    '--init-file=/dev/null',
    '--wsrep-on=ON',
    `--wsrep-provider=${path.join(base, 'lib/galera/libgalera_smm.so')}`,
    `--wsrep-provider-options=${provider.join(';')}`,
    `--wsrep-cluster-address=gcomm://${group.map((port) => `127.0.0.1:${port}`).join(',')}`,
    '--wsrep-node-address=127.0.0.1',
    `--wsrep-sst-receive-address=127.0.0.1:${ports['copies']}`,
    '--wsrep-sst-method=rsync',
    '--binlog-format=ROW',
    '--innodb-autoinc-lock-mode=2',
  ];
}

/**
 * Returns the same program in its own folder, with an rsync that root can use. The real rsync switches to the user
 * `nobody` to receive files, and that user may not write there.
 */
function asRoot(found: Program): Program {
  if (!isRoot) return found;
  const [base, own] = [path.dirname(path.dirname(found.command)), ownFolder('galera-program')];
  const link = (name: string) => fs.symlinkSync(path.join(base, name), path.join(own, name));
  for (const name of fs.readdirSync(base)) if (name !== 'bin') link(name);
  fs.mkdirSync(path.join(own, 'bin'));
  for (const name of fs.readdirSync(path.join(base, 'bin')))
    if (name !== 'rsync') link(path.join('bin', name));
  const real = [base, '/usr'].map((each) => path.join(each, 'bin/rsync')).find((file) => fs.existsSync(file));
  const lines = [
    '#!/bin/sh',
    'for each do',
    '  [ "$before" != --config ] || sed -i "1i uid = root\\ngid = root" "$each"',
    '  before=$each',
    'done',
    `exec '${real}' "$@"`,
  ];
  fs.writeFileSync(path.join(own, 'bin/rsync'), `${lines.join('\n')}\n`, { mode: 0o700 });
  return { ...found, command: path.join(own, path.relative(base, found.command)) };
}

/** Adds the program's folder to PATH, because its scripts call the programs there by name. */
function withPath(found: Program): Program {
  const programs = path.join(path.dirname(path.dirname(found.command)), 'bin');
  return { ...found, env: { ...found.env, PATH: `${programs}:${found.env['PATH']}` } };
}

function asNode(server: OwnMysql): Node {
  const isolate = (value: 0 | 1) =>
    server.query(`SET GLOBAL wsrep_provider_options = 'gmcast.isolate=${value}'`);
  const node: Node = {
    ...server,
    untilJoined: async () =>
      void (await waitFor('the node has all that the others have', () => isJoined(server), limit)),
    cutOff: async () => void (await isolate(1)),
    rejoin: async () => void (await isolate(0)),
  };
  return node;
}

/** Tells whether the node has joined. A node that was frozen believes so until it asks the others, as this does. */
async function isJoined({ query }: OwnMysql): Promise<boolean> {
  const asked = await query('SET STATEMENT wsrep_sync_wait = 1 FOR SELECT 1').catch(() => null);
  if (!asked) return false;
  const rows = await query(
    "SHOW GLOBAL STATUS WHERE Variable_name IN ('wsrep_ready', 'wsrep_local_state')",
  ).catch(() => []);
  const said = Object.fromEntries(rows.map((row) => [row.Variable_name, row.Value]));
  return said['wsrep_ready'] === 'ON' && said['wsrep_local_state'] === '4';
}
