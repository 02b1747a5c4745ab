import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import * as kept from '../../../../scripts/setup/kept.ts';
import { findGalera, type Program } from '../../../../scripts/setup/servers/programs.ts';
import { newDatabaseName } from '../../database/database-name.ts';
import { waitFor } from '../../time/wait-for.ts';
import { type OwnMysql, ownFolder, startOwnMysql } from '../own-servers.ts';

/** A node of a group that all have the same rows. */
export type Node = OwnMysql & {
  /** Until it is well: it has its quorum, and all that the others have. */
  untilJoined: () => Promise<void>;
  /** From the others, not from those who call it; `rejoin` takes it back. */
  cutOff: () => Promise<void>;
  rejoin: () => Promise<void>;
};

const isRoot = process.getuid?.() === 0;
// A busy machine takes long over it.
const limit = { timeoutMs: 120_000 };

/** About twice what the guide for operators has: the nodes share one busy machine here, and wait for each other. */
const soon = [
  'evs.keepalive_period=PT0.5S',
  'evs.suspect_timeout=PT2S',
  'evs.inactive_timeout=PT6S',
  'evs.join_retrans_period=PT0.4S',
  'evs.install_timeout=PT3S',
];

/** Such small files are soon copied. */
const small = ['--innodb-log-file-size=16M'];

/**
 * As systemd does it: how far a node that was killed has come is asked of its tables; or everything would be copied to
 * it anew. The first node of all makes the group.
 */
const beforeStart = [
  'if [ -e "$folder/new-group" ]; then rm "$folder/new-group"; more=--wsrep-new-cluster',
  'elif grep -qs "^seqno: *-1" "$folder/mariadb/grastate.dat"; then',
  '  position=$("$program" "$@" --wsrep-recover 2>&1 | sed -n "s/.*Recovered position: *//p" | tail -n 1)',
  '  [ -z "$position" ] || more="--wsrep-start-position=$position"',
  'fi',
];

/** Several MariaDB of one test file that are a Galera cluster. */
export async function startGalera(count = 3): Promise<Node[]> {
  const found = withPath(asRoot(await findGalera(() => undefined)));
  const secrets = { password: randomBytes(18).toString('hex'), database: newDatabaseName('messaging') };
  const [first, ...others] = Array.from({ length: count }, () => ownFolder('galera')) as [
    string,
    ...string[],
  ];
  // Users are made by a server that is alone: one of a group would refuse, as it is not ready so early.
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
  // A group of one, whose data the others begin with: so the tables say which state of the group they are.
  await (await make()).stop();
  for (const folder of others)
    fs.cpSync(path.join(first, 'mariadb'), path.join(folder, 'mariadb'), { recursive: true });
  // They find the first one there, and take from it what they miss.
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
    // Its users are there.
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
 * The same program in a folder of its own, in which rsync is one that root can use: the real one would become nobody to
 * receive, who may not write there.
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

/** Its scripts call the programs beside it by their names. */
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

/** A node that stood still takes itself for well, until it asks the others: a read that waits for them fails there. */
async function isJoined({ query }: OwnMysql): Promise<boolean> {
  const asked = await query('SET STATEMENT wsrep_sync_wait = 1 FOR SELECT 1').catch(() => null);
  if (!asked) return false;
  const rows = await query(
    "SHOW GLOBAL STATUS WHERE Variable_name IN ('wsrep_ready', 'wsrep_local_state')",
  ).catch(() => []);
  const said = Object.fromEntries(rows.map((row) => [row.Variable_name, row.Value]));
  return said['wsrep_ready'] === 'ON' && said['wsrep_local_state'] === '4';
}
