import { execFile } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import * as procfile from '../../scripts/setup/start/procfile.ts';
import { ofNode } from './quiet-imports.ts';
import { root } from './tree.ts';

/** A client of other servers is known by these parts of its files' names. */
export const clientsOfOthers = ['node_modules/undici/', '/esm/smtp-connection/'];
const [webhookClient, smtpClient] = clientsOfOthers as [string, string];

/** Loaded where they are first needed, and by no start: many processes never come to it. */
export const early =
  /\/node_modules\/(?:libphonenumber-js|prom-client|html-to-text|highlight\.js|@bull-board|mjml)\/|\/shared\/db\/migrations\/\d/;

/** How many files a process may load until it is ready, and the clients that it is to load. */
export const ceilings = [
  { name: 'web', files: 1620, clients: [] },
  { name: 'worker_email', files: 1090, clients: [smtpClient] },
  { name: 'worker_webhooks', files: 1195, clients: [webhookClient] },
  { name: 'worker_sms', files: 1275, clients: [] },
  { name: 'worker_batches', files: 1250, clients: [] },
  { name: 'worker_contacts', files: 1016, clients: [] },
  { name: 'worker_events', files: 1340, clients: [] },
  { name: 'inbound', files: 1020, clients: [] },
];

const lines = procfile.read(join(root, 'Procfile')).filter(({ name }) => name !== 'release');
export const processNames = (): string[] => lines.map(({ name }) => name).toSorted();

/** The modules that a process imports before it is ready; web starts as soon as it is imported, so its parts stand for it. */
function entriesOf(name: string): string[] {
  const { program, args } = procfile.partsOf(lines.find((line) => line.name === name)!);
  if (program === 'api/server.ts')
    return ['api/app.ts', 'api/http-server.ts', 'shared/lifecycle.ts', 'shared/coordination/broadcast.ts'];
  return [program, ...args.map((job) => `workers/jobs/${job.replace(/:.*/, '')}.ts`)];
}

/** The files that a process of the Procfile loads until it is ready. */
export async function filesLoadedBy(name: string): Promise<string[]> {
  const imports = entriesOf(name).map((path) => `await import(${JSON.stringify(join(root, path))});`);
  const script = `
    const { registerHooks } = await import('node:module');
    registerHooks({
      resolve(specifier, context, next) {
        const found = next(specifier, context);
        console.log(found.url);
        return found;
      },
    });
    ${imports.join('\n')}`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], {
    cwd: tmpdir(),
    env: ofNode(),
    maxBuffer: 4 * 1024 * 1024,
  });
  return [...new Set(stdout.split('\n'))].filter((url) => url.startsWith('file:'));
}
