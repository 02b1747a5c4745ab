import fs from 'node:fs';
import path from 'node:path';
import { checkout } from '../../../scripts/setup/environment.ts';
import * as processes from '../../../scripts/setup/start/processes.ts';
import * as procfile from '../../../scripts/setup/start/procfile.ts';
import { Unfit } from '../../../scripts/setup/start/session.ts';
import { startCommitCut } from '../../support/database/commit-cut.ts';
import { freePort } from '../../support/processes/processes.ts';
import { startSmtpSink } from '../../support/servers/smtp-sink.ts';
import { startTcpProxy } from '../../support/servers/tcp-proxy.ts';
import type { Stage } from './faults.ts';
import { environmentOf, type Oddity, openSlot, type Settings, type Slot } from './processes.ts';
import { startServers } from './servers.ts';

/** How many processes of each line of the Procfile; a line that is not named has one. */
export type Size = 'whole' | 'small';
const counts: Record<string, number> = { web: 2, worker_email: 2, worker_webhooks: 2 };
/** Two of each kind there is, and two kinds only: what a short run can afford to start. */
const small = [
  { name: 'web', command: 'node api/server.ts' },
  { name: 'worker', command: 'node workers/main.ts' },
];

type Options = {
  folder: string;
  size: Size;
  /** Between platform and servers. Without them there are no faults but those of processes, and nothing is in the way. */
  withLines: boolean;
  settings: Settings;
  log: (text: string) => void;
};

/** The outside world and the servers, before any process of the platform: `open` starts those. */
export async function prepareWorld({ folder, size, withLines, settings, log }: Options) {
  const servers = await startServers();
  const sink = await startSmtpSink();
  const commits = await startCommitCut(servers.platformUrl);
  const lines = {
    mysql: await startTcpProxy(commits.url),
    redis: await startTcpProxy(servers.redis.url),
    smtp: await startTcpProxy(sink.url),
  };
  const platform: Settings = {
    ...settings,
    MYSQL_URL: withLines ? lines.mysql.url : servers.platformUrl,
    REDIS_URL: withLines ? lines.redis.url : servers.redis.url,
    SMTP_URL: withLines ? lines.smtp.url : sink.url,
  };
  const direct = { ...settings, MYSQL_URL: servers.mysql.url, REDIS_URL: servers.redis.url };
  await migrate(direct);
  log(`${servers.version}, Redis, a mail server and the lines to them are there`);

  const oddities: Oddity[] = [];
  const slots: Slot[] = [];
  const urls = new Map<string, string>();
  const stage: Stage = { slots, servers, lines, commits };
  const logFolder = path.join(folder, 'logs');
  fs.mkdirSync(logFolder, { recursive: true });

  async function open(): Promise<void> {
    for (const { name: kind, command } of linesOf(size)) {
      for (let number = 1; number <= (size === 'small' ? 2 : (counts[kind] ?? 1)); number += 1) {
        const name = `${kind}-${number}`;
        const port = String(await freePort());
        const own = kind === 'inbound' ? { INBOUND_PORT: port } : kind === 'web' ? { PORT: port } : {};
        if (kind === 'web') urls.set(name, `http://127.0.0.1:${port}`);
        const args = command.split(' ').slice(1);
        slots.push(
          openSlot({
            name,
            kind,
            args,
            settings: { ...platform, ...own },
            logFolder,
            onOddity: (oddity) => oddities.push(oddity),
          }),
        );
      }
    }
    await Promise.all(slots.map((slot) => slot.untilUp()));
  }
  return {
    servers,
    sink,
    stage,
    oddities,
    /** For the program itself: past the lines, as root. */
    direct,
    open,
    /** Where a request can go: of those that live, or else of all. */
    webUrls(): string[] {
      const webs = slots.filter(({ kind }) => kind === 'web');
      const up = webs.filter((slot) => slot.isUp());
      return (up.length > 0 ? up : webs).map(({ name }) => urls.get(name) ?? '');
    },
  };
}

export type Prepared = Awaited<ReturnType<typeof prepareWorld>>;

function linesOf(size: Size): procfile.Line[] {
  if (size === 'small') return small;
  return procfile.read(path.join(checkout, 'Procfile')).filter(({ name }) => name !== 'release');
}

async function migrate(settings: Settings): Promise<void> {
  const { code, output } = await processes.outputOf(process.execPath, ['scripts/setup/migrate.ts', 'up'], {
    cwd: checkout,
    env: environmentOf(settings),
  });
  if (code !== 0) throw new Unfit(`The database could not be migrated:\n${output}`);
}
