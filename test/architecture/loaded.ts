import { execFile } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import * as procfile from '../../scripts/setup/start/procfile.ts';
import { ofNode } from './quiet-imports.ts';
import { root } from './tree.ts';

/** The parts of file names that show that a client of other servers is loaded. */
export const clientsOfOthers = ['node_modules/undici/', '/esm/smtp-connection/'];
const [webhookClient, smtpClient] = clientsOfOthers as [string, string];

/** Files that are loaded when they are first needed, and never at the start: many processes never need them. */
export const early =
  /\/node_modules\/(?:libphonenumber-js|prom-client|html-to-text|highlight\.js|@bull-board|mjml)\/|\/shared\/db\/migrations\/\d/;

/** The most files that a process may load until it is ready, and the clients that it must load. */
export const ceilings = [
  { name: 'web', files: 1640, clients: [] },
  { name: 'worker_email', files: 1096, clients: [smtpClient] },
  { name: 'worker_webhooks', files: 1202, clients: [webhookClient] },
  { name: 'worker_sms', files: 1285, clients: [] },
  { name: 'worker_batches', files: 1260, clients: [] },
  { name: 'worker_contacts', files: 1030, clients: [] },
  { name: 'worker_events', files: 1340, clients: [] },
  { name: 'inbound', files: 1020, clients: [] },
];

const lines = procfile.read(join(root, 'Procfile')).filter(({ name }) => name !== 'release');
export const processNames = (): string[] => lines.map(({ name }) => name).toSorted();

/** Returns the modules that a process imports before it is ready. An import would start web, so its parts stand in. */
function entriesOf(name: string): string[] {
  const { program, args } = procfile.partsOf(lines.find((line) => line.name === name)!);
  if (program === 'api/server.ts')
    return ['api/app.ts', 'api/http-server.ts', 'shared/lifecycle.ts', 'shared/coordination/broadcast.ts'];
  return [program, ...args.map((job) => `workers/jobs/${job.replace(/:.*/, '')}.ts`)];
}

/** Returns the files that a process of the Procfile loads until it is ready. */
export async function filesLoadedBy(name: string): Promise<string[]> {
  const imports = await (importsSeen ??= seeImports());
  const loaded = new Set(entriesOf(name).map((path) => pathToFileURL(join(root, path)).href));
  // A set also visits what is added to it meanwhile.
  for (const url of loaded) for (const found of imports.get(url) ?? []) loaded.add(found);
  return [...loaded];
}

let importsSeen: Promise<Map<string, string[]>> | undefined;

/**
 * Imports what all processes import, in one process, and returns which files each file loads. Each process of the
 * Procfile loads what its entries lead to, as it does by itself; to see that in eight processes takes five times as long.
 */
async function seeImports(): Promise<Map<string, string[]>> {
  const entries = new Set(processNames().flatMap(entriesOf));
  const imports = [...entries].map((path) => `await import(${JSON.stringify(join(root, path))});`);
  const script = `
    const { registerHooks } = await import('node:module');
    registerHooks({
      resolve(specifier, context, next) {
        const found = next(specifier, context);
        console.log(context.parentURL + ' ' + found.url);
        return found;
      },
    });
    ${imports.join('\n')}`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], {
    cwd: tmpdir(),
    env: ofNode(),
    maxBuffer: 16 * 1024 * 1024,
  });
  const lines = stdout.split('\n').map((line) => line.split(' ') as [string, string?]);
  const byParent = Map.groupBy(lines, ([parent]) => parent);
  const filesOf = (loads: typeof lines) =>
    loads.flatMap(([, url]) => (url?.startsWith('file:') ? [url] : []));
  return new Map([...byParent].map(([parent, loads]) => [parent, filesOf(loads)]));
}
