import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { findPostfix, type Program } from '../../../../scripts/setup/servers/programs.ts';
import { freePort } from '../../processes/free-port.ts';
import { atEnd } from '../../runner/at-end.ts';
import { waitFor } from '../../time/wait-for.ts';
import { connectSmtp } from '../smtp-client.ts';
import type { Relay, Routes } from './relay.ts';

/** Returns Postfix, or the reason why it cannot run here. */
export async function lookForPostfix(): Promise<Program | string> {
  if (process.getuid?.() !== 0) return 'it needs root';
  const users = userIds();
  if (!users) return `there is no user ${owner} and no group ${group}`;
  try {
    const program = await findPostfix(() => undefined);
    return existsSync(path.join(daemonsOf(program), 'master')) ? program : 'its daemons are not there';
  } catch (error) {
    return (error as Error).message.split('\n')[0]!;
  }
}

// Postfix insists on its own user and group, and a test must create none. Every Debian has these two, and they own
// nothing.
const owner = 'news';
const group = 'games';

type Ids = { owner: number; group: number };

function userIds(): Ids | null {
  const idIn = (file: string, name: string) =>
    Number(new RegExp(`^${name}:[^:]*:(\\d+):`, 'm').exec(readFileSync(file, 'utf8'))?.[1]);
  const ids = { owner: idIn('/etc/passwd', owner), group: idIn('/etc/group', group) };
  return ids.owner > 0 && ids.group > 0 ? ids : null;
}

function daemonsOf(program: Program): string {
  return path.resolve(path.dirname(program.command), '../lib/postfix/sbin');
}

/** Starts a separate Postfix in its own folder, which gives up after seconds instead of retrying for days. */
export async function startPostfix(program: Program, routes: Routes): Promise<Relay> {
  const folder = mkdtempSync(path.join(tmpdir(), 'postfix-'));
  const port = await freePort();
  const ids = userIds()!;
  chmodSync(folder, 0o755);
  for (const name of ['etc', 'data', 'boxes', 'spool', ...queues.map((queue) => `spool/${queue}`)])
    mkdirSync(path.join(folder, name));
  for (const name of [
    'data',
    'boxes',
    ...queues.filter((queue) => queue !== 'pid').map((queue) => `spool/${queue}`),
  ])
    chownSync(path.join(folder, name), ids.owner, ids.group);
  writeFileSync(path.join(folder, 'etc/main.cf'), mainConfig(program, folder, routes, ids));
  writeFileSync(path.join(folder, 'etc/master.cf'), masterConfig(port));

  const master = spawn(path.join(daemonsOf(program), 'master'), ['-c', path.join(folder, 'etc'), '-d'], {
    // The master leads a process group of its own, so that `endGroup` ends all its daemons.
    detached: true,
    stdio: 'ignore',
    env: program.env,
  });
  const end = () => endGroup(master);
  process.on('exit', end);
  atEnd(async () => {
    end();
    if (master.exitCode === null && master.signalCode === null) await once(master, 'exit');
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  });
  const log = () => readFileSync(path.join(folder, 'mail.log'), 'utf8');
  await waitFor('Postfix greets', async () => (await (await connectSmtp(port)).reply()).startsWith('220'));
  return { port, log };
}

function endGroup({ pid }: ChildProcess): void {
  try {
    process.kill(-pid!, 'SIGKILL');
  } catch {
    // The process group is gone already.
  }
}

const queues =
  'active bounce corrupt defer deferred flush hold incoming maildrop pid private public saved trace'.split(
    ' ',
  );

function mainConfig(program: Program, folder: string, routes: Routes, ids: Ids): string {
  const transports = Object.entries(routes).map(
    ([domain, to]) => `{ ${domain} = ${to === 'mailbox' ? 'virtual:' : `smtp:[127.0.0.1]:${to}`} }`,
  );
  const settings = {
    compatibility_level: '3.6',
    queue_directory: path.join(folder, 'spool'),
    data_directory: path.join(folder, 'data'),
    command_directory: path.dirname(program.command),
    daemon_directory: daemonsOf(program),
    mail_owner: owner,
    setgid_group: group,
    maillog_file_prefixes: folder,
    maillog_file: path.join(folder, 'mail.log'),
    // LD_LIBRARY_PATH leads to the libraries that were unpacked with Postfix.
    import_environment: 'MAIL_CONFIG TZ LANG=C LD_LIBRARY_PATH',
    export_environment: 'TZ LANG=C LD_LIBRARY_PATH',
    inet_interfaces: '127.0.0.1',
    inet_protocols: 'ipv4',
    myhostname: 'relay.example',
    mydestination: '',
    alias_maps: '',
    local_recipient_maps: '',
    mynetworks: '127.0.0.0/8',
    smtpd_relay_restrictions: 'permit_mynetworks, reject',
    smtp_host_lookup: 'native',
    smtp_tls_security_level: 'none',
    // Few servers of recipients offer DSN. Where one does, that server would report instead of this relay.
    smtp_discard_ehlo_keywords: 'dsn',
    virtual_mailbox_base: folder,
    virtual_mailbox_maps: 'static:boxes/',
    virtual_minimum_uid: '1',
    virtual_uid_maps: `static:${ids.owner}`,
    virtual_gid_maps: `static:${ids.group}`,
    queue_run_delay: '1s',
    minimal_backoff_time: '1s',
    maximal_backoff_time: '1s',
    delay_warning_time: '1s',
    maximal_queue_lifetime: '5s',
    bounce_queue_lifetime: '5s',
    // By default Postfix waits a minute after a daemon has failed to start, which happens on a busy machine.
    transport_retry_time: '1s',
    service_throttle_time: '1s',
    transport_maps: `inline:{ ${transports.join(', ')} }`,
  };
  return Object.entries(settings)
    .map(([name, value]) => `${name} = ${value}\n`)
    .join('');
}

const masterConfig = (port: number) => `127.0.0.1:${port} inet n - n - - smtpd
cleanup unix n - n - 0 cleanup
qmgr unix n - n 300 1 qmgr
rewrite unix - - n - - trivial-rewrite
bounce unix - - n - 0 bounce
defer unix - - n - 0 bounce
trace unix - - n - 0 bounce
verify unix - - n - 1 verify
flush unix n - n 1000? 0 flush
proxymap unix - - n - - proxymap
smtp unix - - n - - smtp
virtual unix - n n - - virtual
error unix - - n - - error
retry unix - - n - - error
anvil unix - - n - 1 anvil
scache unix - - n - 1 scache
postlog unix-dgram n - n - 1 postlogd
`;
