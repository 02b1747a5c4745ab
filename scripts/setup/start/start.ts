import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { config, settingNames } from '../../../shared/config/config.ts';
import { checkout, given, localDir } from '../environment.ts';
import * as kept from '../kept.ts';
import { startServices } from '../servers/services.ts';
import type { Demo } from './demo-workspace.ts';
import { paint } from './log-lines.ts';
import * as processes from './processes.ts';
import * as procfile from './procfile.ts';
import * as session from './session.ts';
import { runToEnd, supervise } from './supervise.ts';

const readyLimitMs = 120_000;
const demoFile = path.join(localDir, 'demo.json');
const environmentFile = path.join(localDir, 'env.json');

/** The content of demo.json: everything that a first API call needs. */
interface Facts extends Demo {
  baseUrl: string;
  boardUrl: string;
  boardUser: string;
  boardPassword: string;
  mailboxUrl: string | null;
  smtpPort: number | null;
  /** The address that receives bounces and complaints by SMTP. */
  inboundPort: number;
  mysqlUrl: string;
  redisUrl: string;
}

async function start(): Promise<number> {
  const startedAt = performance.now();
  if (!(await session.hold(localDir)))
    throw new session.Unfit(
      `Another command uses ${localDir}. Stop it, or give this one another PORT and LOCAL_DIR.`,
    );
  const port = await webPort();
  const services = await startServices({ localDir, log: session.log });
  const { mysqlUrl, redisUrl } = services;
  const mailbox = given['SMTP_URL'] ? undefined : await mailboxProcess();
  const inboundPort = given['INBOUND_PORT'] ?? (await kept.port(localDir, 'inbound'));
  const secrets = kept.secrets(localDir);
  const baseUrl = (given['PUBLIC_URL'] ?? `http://127.0.0.1:${port}`).replace(/\/+$/, '');
  const settings: Record<string, string> = {
    // A local receiver is what a developer's first webhook goes to.
    WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8,::1/128',
    SHORT_LINKS_TO_DRAMA_NUMBERS: 'true',
    // Only this machine may reach a development platform with a demo key.
    BIND_ADDRESS: '127.0.0.1',
    INBOUND_BIND_ADDRESS: '127.0.0.1',
    INBOUND_PORT: String(inboundPort),
    SECRET_KEY: secrets.secretKey,
    OPS_PASSWORD: secrets.opsPassword,
    TEST_SENDER: given['TEST_SENDER'] ?? 'try@demo.example',
    SYSTEM_SENDER: given['SYSTEM_SENDER'] ?? 'Messaging <alerts@demo.example>',
    ...(mailbox && { EMAIL_DELIVERED_ON: 'accept', SMTP_URL: `smtp://127.0.0.1:${mailbox.smtpPort}` }),
    ...Object.fromEntries(settingNames.flatMap((name) => (given[name] ? [[name, given[name]]] : []))),
    PORT: String(port),
    PUBLIC_URL: baseUrl,
    MYSQL_URL: mysqlUrl,
    REDIS_URL: redisUrl,
  };
  kept.write(environmentFile, settings);
  process.on('exit', () => fs.rmSync(environmentFile, { force: true }));
  const env = {
    // Node's own cache, so that Node need not compile the code again, nor keep the compiler in memory.
    NODE_COMPILE_CACHE: path.join(localDir, 'compile-cache'),
    ...processes.withOwnNode(given),
    ...settings,
    LOCAL_DIR: localDir,
  };

  const lines = procfile.read(path.join(checkout, 'Procfile'));
  const release = lines.find(({ name }) => name === 'release');
  if (release) await runToEnd(release, env);
  const demo = await makeDemo(env);

  const apps = [...(mailbox ? [mailbox] : []), ...lines.filter((line) => line !== release)];
  session.log(`Starting ${apps.map(({ name }) => name).join(', ')}`);
  // The API reference offers the key to browsers on this machine, but not through a proxy or a tunnel.
  const supervised = supervise(apps, { ...env, DEMO_API_KEY: demo.apiKey });
  const ready = Promise.all([untilReady(port), mailbox && untilAnswers(mailbox.url)]);
  await Promise.race([ready, supervised.failure, services.failure]);
  supervised.restartFromNow();

  const facts: Facts = {
    ...demo,
    baseUrl,
    boardUrl: `${baseUrl}/ops/queues`,
    boardUser: 'operator',
    boardPassword: settings['OPS_PASSWORD'] ?? '',
    mailboxUrl: mailbox?.url ?? null,
    smtpPort: mailbox?.smtpPort ?? null,
    inboundPort: Number(inboundPort),
    mysqlUrl,
    redisUrl,
  };
  kept.write(demoFile, facts);
  announce(facts, (performance.now() - startedAt) / 1000);
  return Promise.race([supervised.failure, services.failure]);
}

async function webPort(): Promise<number> {
  if (config.PORT === 0) return kept.port(localDir, 'web');
  // macOS lets two programs share a port when one names an address and the other does not.
  for (const host of new Set([config.BIND_ADDRESS, '127.0.0.1']))
    if (!(await kept.portIsFree(config.PORT, host)))
      throw new session.Unfit(
        `Port ${config.PORT} is taken by another program. Stop that, or choose another: PORT=3001 scripts/start`,
      );
  return config.PORT;
}

async function mailboxProcess() {
  const smtpPort = await kept.port(localDir, 'smtp');
  const port = await kept.port(localDir, 'mailbox');
  const program = path.join(import.meta.dirname, 'mailbox.ts');
  const folder = path.join(localDir, 'mail');
  fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
  const command = [program, smtpPort, port, folder].map((part) => `'${part}'`).join(' ');
  return { name: 'mailbox', command: `node ${command}`, smtpPort, url: `http://127.0.0.1:${port}` };
}

/** The demo workspace, with the key that an earlier start made, if any. */
async function makeDemo(env: NodeJS.ProcessEnv): Promise<Demo> {
  const program = path.join(import.meta.dirname, 'demo.ts');
  const { code, output } = await processes.outputOf('node', [program, '--file', demoFile], { env });
  const line = output.split('\n').findLast((each) => each.startsWith('{') && each.includes('"apiKey"'));
  if (code !== 0 || !line) throw new session.Unfit(`The demo workspace could not be made:\n${output}`);
  return JSON.parse(line) as Demo;
}

async function untilReady(port: number): Promise<void> {
  const host = ['0.0.0.0', '::'].includes(config.BIND_ADDRESS) ? '127.0.0.1' : config.BIND_ADDRESS;
  await untilAnswers(`http://${host.includes(':') ? `[${host}]` : host}:${port}/health/ready`);
}

async function untilAnswers(url: string): Promise<void> {
  const deadline = performance.now() + readyLimitMs;
  let last = 'no answer';
  while (performance.now() < deadline) {
    try {
      const response = await fetch(url, {
        headers: { accept: 'text/html, application/json' },
        signal: AbortSignal.timeout(5_000),
      });
      await response.arrayBuffer();
      if (response.status === 200) return;
      last = `status ${response.status}`;
    } catch (error) {
      last = String((error as Error).cause ?? error);
    }
    await delay(100);
  }
  throw new session.Unfit(`${url} was not 200 within ${readyLimitMs / 1000} s (${last})`);
}

function announce(facts: Facts, seconds: number): void {
  const mailbox = facts.mailboxUrl
    ? `${facts.mailboxUrl}   (SMTP on port ${facts.smtpPort})`
    : 'none: email goes to SMTP_URL';
  const lines = [
    `Ready after ${seconds.toFixed(1)} s. Ctrl-C stops everything.`,
    '',
    `API       ${facts.baseUrl}   documentation: ${facts.baseUrl}/docs`,
    `API key   ${facts.apiKey}`,
    `Sender    ${facts.sender}`,
    `Mailbox   ${mailbox}`,
    `Bounces   SMTP on port ${facts.inboundPort}`,
    `Queues    ${facts.boardUrl}   user ${facts.boardUser}, password ${facts.boardPassword}`,
    `All this  ${demoFile}`,
  ];
  const width = Math.max(...lines.map((line) => line.length));
  const edge = '─'.repeat(width + 2);
  const box = [`┌${edge}┐`, ...lines.map((line) => `│ ${line.padEnd(width)} │`), `└${edge}┘`];
  session.log(`\n${paint('bold', box.join('\n'))}\n`);
}

if (import.meta.main) await session.run(start, 0);
