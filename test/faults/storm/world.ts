import { startCommitCut } from '../../support/database/commit-cut.ts';
import { startSmtpSink } from '../../support/servers/smtp-sink.ts';
import { startTcpProxy } from '../../support/servers/tcp-proxy.ts';
import { faults, inject, type Stage } from './faults.ts';
import { migrate, preparePlatform, type Size } from './platform.ts';
import type { Settings } from './processes.ts';
import type { Planned } from './schedule.ts';
import { startServers } from './servers.ts';

/** The number of processes for each line of the Procfile; a line that is not named has one. */
const counts: Record<string, number> = { web: 2, worker_email: 2, worker_webhooks: 2 };

type Options = {
  folder: string;
  size: Size;
  /** Whether there are proxies between platform and servers. Without proxies only processes can have faults. */
  withLines: boolean;
  settings: Settings;
  log: (text: string) => void;
};

/** Starts the servers and the outside world. The processes of the platform are only prepared: `open` starts them. */
export async function prepareWorld({ folder, size, withLines, settings, log }: Options) {
  const servers = await startServers();
  const sink = await startSmtpSink();
  const commits = await startCommitCut(servers.platformUrl);
  const lines = {
    mysql: await startTcpProxy(commits.url),
    redis: await startTcpProxy(servers.redis.url),
    smtp: await startTcpProxy(sink.url),
  };
  const withServers: Settings = {
    ...settings,
    MYSQL_URL: withLines ? lines.mysql.url : servers.platformUrl,
    REDIS_URL: withLines ? lines.redis.url : servers.redis.url,
    SMTP_URL: withLines ? lines.smtp.url : sink.url,
  };
  const direct = { ...settings, MYSQL_URL: servers.mysql.url, REDIS_URL: servers.redis.url };
  await migrate(direct);
  log(`${servers.version}, Redis, a mail server and the lines to them are there`);
  const platform = preparePlatform({
    folder,
    size,
    countOf: (kind) => (size === 'small' ? 2 : (counts[kind] ?? 1)),
    settingsOf: () => withServers,
  });
  const stage: Stage = { slots: platform.slots, servers, lines, commits };
  return {
    ...platform,
    sink,
    stage,
    /** Settings that lead past the proxies, as root. */
    direct,
    thaw() {
      for (const slot of platform.slots) slot.thaw();
    },
    inject: (planned: Planned) => inject(stage, faults, planned),
  };
}

export type Prepared = Awaited<ReturnType<typeof prepareWorld>>;
