import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createClient } from 'messaging-service/client';
import { expect, onTestFinished, test } from 'vitest';
import {
  signWebhookRequest,
  webhookKey,
} from '../../shared/formats/signatures/http-signature/sign-webhook.ts';
import { startApi } from '../support/api/start-api.ts';
import { workspace } from '../support/data/factory.ts';
import { letter } from '../support/data/new-email.ts';
import { useDatabase } from '../support/database/database.ts';
import { freePort } from '../support/processes/free-port.ts';
import { runWorkers } from '../support/processes/run-workers.ts';
import { waitFor } from '../support/time/wait-for.ts';
import { folder as guides, serve, start } from './run-program.ts';
import { guidesOf, installClient, programsOf } from './samples.ts';

// Programs with the typed client, as readers copy them from the guides. samples.test.ts runs those that end.
useDatabase();

const root = join(import.meta.dirname, '../..');
const programs = guidesOf('Use the API').flatMap((guide) =>
  programsOf(guide).map(({ word, code }) => ({ guide, name: word, code })),
);

/** Makes the project of a reader, with one of the programs in it. */
function project(name: string, url = '') {
  const folder = mkdtempSync(join(tmpdir(), 'project-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  installClient(folder);
  const program = join(folder, name);
  const { code } = programs.find((one) => one.name === name)!;
  writeFileSync(program, code.replaceAll('http://127.0.0.1:3000', url));
  return { folder, program: { language: 'Node', command: process.execPath, program } };
}

test('every program in TypeScript compiles under strict with the types of the client', async () => {
  expect(programs.map(({ guide, name }) => `${guide} ${name}`)).toEqual([
    'first-email send.mts',
    'contacts contacts.mts',
    'receive-webhooks receive.mts',
    'events-feed follow.mts',
  ]);
  // The folder is in the checkout, where the name of the client resolves to its source.
  mkdirSync(join(root, '.local'), { recursive: true });
  const folder = mkdtempSync(join(root, '.local/programs-of-guides-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const { name, code } of programs) {
    expect([name, code]).toEqual([name, expect.stringContaining("from 'messaging-service/client';\n")]);
    writeFileSync(join(folder, name), code);
  }
  const settings = {
    extends: join(root, 'tsconfig.json'),
    include: [],
    files: programs.map(({ name }) => name),
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(settings));
  const compile = promisify(execFile)(join(root, 'node_modules/.bin/tsc'), ['-p', folder]);
  await expect(compile.catch(({ stdout }) => Promise.reject(new Error(stdout)))).resolves.toBeDefined();
});

test('each guide that runs a program in TypeScript names the Node that it needs, which the platform brings', () => {
  const sources = guidesOf('Use the API').map((guide) => ({
    guide,
    source: readFileSync(join(guides, `${guide}.md`), 'utf8'),
  }));
  const running = sources.filter(({ source }) => /^(\$ )?node \S+\.mts$/m.test(source));
  expect(running.map(({ guide }) => guide)).toEqual(['first-email', 'contacts', 'events-feed']);
  for (const { guide, source } of running)
    expect([guide, source]).toEqual([guide, expect.stringContaining('Node 22.18 or later')]);

  const [, folder] = /^\$ export PATH=\$\(realpath \.\.\/messaging-service\)\/(\S+):\$PATH$/m.exec(
    sources.find(({ guide }) => guide === 'first-email')!.source,
  )!;
  const packages = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).optionalDependencies;
  expect(Object.keys(packages).map((name) => `node_modules/${name}/bin`)).toContain(folder);
});

test('the reader of the feed goes on where it was stopped', async () => {
  const [own, { url }] = await Promise.all([workspace(), startApi()]);
  await runWorkers(['relay-events', 'sweep']);
  const api = createClient({ baseUrl: url, apiKey: own.key });
  const { folder, program } = project('follow.mts', url);
  const send = () => api.post('/v2/email', { body: letter(own) });
  const follow = () => start(program, [], { API_KEY: own.key }, folder);
  const [first, before] = [await send(), follow()];
  await waitFor('the first email is told', () => before.output().includes(`email.queued ${first.id}\n`));
  // The program stores the cursor before it asks for more events.
  await waitFor('the cursor is kept', () => existsSync(join(folder, 'cursor.txt')));
  await before.stop();
  const [second, after] = [await send(), follow()];
  await waitFor('the second email is told', () => after.output().includes(`email.queued ${second.id}\n`));
  expect(after.output()).not.toContain(`email.queued ${first.id}`);
  // Its folder goes at the end of the test, and it must not write there meanwhile.
  await after.stop();
});

test('the receiver takes a webhook that is genuine, and refuses one that is not', async () => {
  const { program } = project('receive.mts');
  const [secret, url] = ['whsec_new', 'https://hooks.acme.example/in?from=a%20test'];
  const { port, output } = await serve(program, {
    WEBHOOK_URL: url,
    WEBHOOK_SECRETS: `${secret},whsec_old`,
    PORT: String(await freePort()),
  });
  const body = JSON.stringify({ id: 'event_1', type: 'email.sent', data: { id: 'email_1' } });
  const signature = { label: 'sig', keyid: '1', key: webhookKey(secret) } as const;
  const headers = signWebhookRequest({
    url: new URL(url),
    body,
    contentType: 'application/json',
    webhookId: 'delivery_1',
    createdAt: new Date(),
    signatures: [signature],
  });
  const post = async (content: string) =>
    (
      await fetch(`http://127.0.0.1:${port}/in?from=a%20test`, {
        method: 'POST',
        headers: { ...headers },
        body: content,
      })
    ).status;
  expect([await post(body), await post(`${body} `), await post('x'.repeat(2 ** 21))]).toEqual([
    200, 401, 413,
  ]);
  await waitFor('the event is told', () => output().includes('delivery_1 email.sent'));
});
