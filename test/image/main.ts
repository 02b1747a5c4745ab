import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';
import { checkout, given, localDir } from '../../scripts/setup/environment.ts';
import { findBuildah } from '../../scripts/setup/servers/programs.ts';
import { isDebianLike } from '../../scripts/setup/servers/unpack.ts';
import * as processes from '../../scripts/setup/start/processes.ts';
import * as procfile from '../../scripts/setup/start/procfile.ts';
import * as session from '../../scripts/setup/start/session.ts';
import { startServers } from '../faults/storm/servers.ts';
import { freePort } from '../support/processes/free-port.ts';
import { endAll } from '../support/runner/at-end.ts';
import { startSmtpSink } from '../support/servers/smtp-sink.ts';
import { waitFor } from '../support/time/wait-for.ts';
import { makeBase } from './base.ts';
import { type Builder, builder } from './builder.ts';

/** In megabytes of a million bytes. */
const largestMb = 250;
const entry = '/app/scripts/container/run';
const phone = '+447700900123';

/**
 * Builds the image as its Dockerfile says, on a base made of Debian's packages instead of node:24-alpine. Then runs all
 * processes of the Procfile in it, beside servers of this run, until a text sent through the API is delivered.
 */
async function main(): Promise<number> {
  if (process.getuid?.() !== 0 || !isDebianLike())
    throw new session.Unfit(
      'An image is built without a daemon by root on Debian; this is neither, or not both.',
    );
  const folder = await session.holdFree(path.join(localDir, 'image'));
  process.on('exit', () => fs.rmSync(folder, { recursive: true, force: true }));
  const { run, start } = builder(await findBuildah(session.log), folder);
  session.log('Making the base');
  await makeBase(path.join(folder, 'base'));
  const empty = await run('from', 'scratch');
  await run('add', '--quiet', empty, path.join(folder, 'base'), '/');
  await run('config', '--env', 'PATH=/usr/local/bin:/usr/bin:/bin', empty);
  await run('commit', '--quiet', '--rm', empty, 'localhost/base');

  session.log('Building the image');
  const dockerfile = path.join(checkout, 'scripts/container/Dockerfile');
  const options = [
    '--network',
    'host',
    '--build-arg',
    'NODE_IMAGE=localhost/base',
    '--tag',
    'messaging-service',
  ];
  const files = ['--file', dockerfile, '--ignorefile', `${dockerfile}.dockerignore`];
  await run('build', ...options, ...files, checkout);
  const container = await run('from', 'messaging-service');
  const sizeMb = sizeOf(await run('mount', container)) / 1_000_000;
  await run('umount', container);
  session.log(`The image has ${sizeMb.toFixed(0)} MB; ${largestMb} are the most`);
  await runPlatform({ run, start }, container);
  await endAll();
  assert(sizeMb <= largestMb, 'The image is too large');
  session.log('The image was built, and all of the Procfile ran in it');
  return 0;
}

async function runPlatform({ run, start }: Builder, container: string): Promise<void> {
  const { mysql, redis } = await startServers();
  const sink = await startSmtpSink();
  const [port, inboundPort] = [await freePort(), await freePort()];
  const url = `http://127.0.0.1:${port}`;
  const settings = {
    MYSQL_URL: mysql.url,
    REDIS_URL: redis.url,
    SECRET_KEY: `k1:${randomBytes(32).toString('hex')}`,
    PUBLIC_URL: url,
    SMTP_URL: sink.url,
    PORT: String(port),
    INBOUND_PORT: String(inboundPort),
  };
  const environment = Object.entries(settings).flatMap(([name, value]) => ['--env', `${name}=${value}`]);
  const inside = (...command: string[]) => run('run', ...environment, container, '--', ...command);
  const admin = async (...args: string[]) => JSON.parse(await inside(entry, 'admin', '--json', ...args));

  assert.equal(await inside('id', '-u'), '1000', 'The processes run as root');
  await assert.rejects(inside(entry, 'nothing'), /There is no process type "nothing"/);
  await inside(entry, 'release');
  const types = procfile
    .read(path.join(checkout, 'Procfile'))
    .map(({ name }) => name)
    .filter((name) => name !== 'release');
  session.log(`Running ${types.join(', ')}`);
  const running = types.map((type) => ({ type, child: start(...environment, container, '--', entry, type) }));
  const said = new Map<string, string>();
  for (const { type, child } of running)
    for (const stream of [child.stdout, child.stderr])
      stream!.setEncoding('utf8').on('data', (text: string) => said.set(type, (said.get(type) ?? '') + text));
  const ended = () =>
    running
      .filter(({ child }) => child.exitCode !== null || child.signalCode !== null)
      .map(({ type }) => type);

  for (const [type, check] of healthChecks({ 3000: port, 2525: inboundPort })) {
    let fault: unknown;
    await waitFor(`${type} is healthy`, async () => {
      assert.deepEqual(ended(), [], [...said.values()].join('\n'));
      fault = await inside(...check).then(() => null, String);
      return fault === null;
    }).catch((error: unknown) => {
      throw new Error(`${String(error)}\n${String(fault)}\n${said.get(type) ?? ''}`);
    });
  }
  const { id: workspaceId } = await admin('workspace', 'create', 'Acme');
  await admin('sender', 'add', workspaceId, 'Acme');
  const { key } = await admin('key', 'create', workspaceId);
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const sent = await fetch(`${url}/v2/sms`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ recipient: phone, content: 'Hello', sender: 'Acme' }),
  });
  assert.equal(sent.status, 201, await sent.clone().text());
  const { id } = (await sent.json()) as { id: string };
  await waitFor('the text is delivered', async () => {
    assert.deepEqual(ended(), [], [...said.values()].join('\n'));
    const answer = await fetch(`${url}/v2/sms/${id}`, { headers });
    return ((await answer.json()) as { status: string }).status === 'delivered';
  });
  session.log('A text was delivered');
  for (const { child } of running) await processes.endGroup(child);
}

/** Returns the health checks of compose.yaml, with the ports of this run in place of those in the file. */
function healthChecks(ports: Record<string, number>): [type: string, command: string[]][] {
  const file = path.join(checkout, 'scripts/container/compose.yaml');
  const { services }: Compose = parse(fs.readFileSync(file, 'utf8'), { merge: true });
  return Object.entries(services).flatMap(([type, { image, healthcheck }]) => {
    if (image !== 'messaging-service' || !healthcheck) return [];
    const [form, ...command] = healthcheck.test.map((word) =>
      word.replaceAll(/\b(3000|2525)\b/g, (port) => String(ports[port])),
    );
    return [[type, form === 'CMD-SHELL' ? ['sh', '-c', ...command] : command]];
  });
}

type Compose = { services: Record<string, { image: string; healthcheck?: { test: string[] } }> };

/** Returns the total size of the files in a folder, in bytes. */
const sizeOf = (folder: string): number =>
  Number(execFileSync('du', ['-s', '-b', folder], { encoding: 'utf8', env: { ...given } }).split('\t')[0]);

await session.run(main);
