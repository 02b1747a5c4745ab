import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { text } from 'node:stream/consumers';
import { importsOf } from './imports.ts';
import { type File, isProduct } from './rule.ts';

// These files are started, never imported.
const entries = new Set(['api/server.ts']);

/** Returns every module of the product but the entries of processes, threads and children, which are only started. */
export function importable(files: readonly File[]): string[] {
  const product = files.filter(isProduct);
  const threads = new Set(
    product
      .map((file) => importsOf(file))
      .filter((imports) => imports.some(({ target }) => /^node:(worker_threads|child_process)$/.test(target)))
      .flatMap((imports) => imports.filter(({ byUrl }) => byUrl).map(({ target }) => target)),
  );
  return product.map(({ path }) => path).filter((path) => !entries.has(path) && !threads.has(path));
}

const limitMs = 45_000;

/** Returns an environment with no setting of the product: only PATH, and Node's compile cache, for quick loading. */
export function ofNode(): NodeJS.ProcessEnv {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  return { PATH, NODE_COMPILE_CACHE };
}

/**
 * Imports the modules in a process without any setting, in an empty place. Everything that the modules open, start or
 * leave running is a breach. So is an error, because it means that a module reads something that can be missing.
 */
export async function importAll(top: string, paths: readonly string[]): Promise<string[]> {
  const probe = spawn(
    process.execPath,
    [join(import.meta.dirname, 'import-probe.ts'), ...paths.map((path) => join(top, path))],
    { cwd: tmpdir(), env: ofNode(), stdio: ['ignore', 'pipe', 'pipe'] },
  );
  let late = false;
  const timer = setTimeout(() => {
    late = true;
    probe.kill('SIGKILL');
  }, limitMs);
  const [output, complaints, [code]] = await Promise.all([
    text(probe.stdout),
    text(probe.stderr),
    once(probe, 'close') as Promise<[number | null]>,
  ]);
  clearTimeout(timer);
  const breaches = output
    .split('\n')
    .filter((line) => line.startsWith('{"module"'))
    .map((line) => JSON.parse(line) as { module: string; does: string })
    .map(({ module, does }) => `${relative(top, module) || module}: ${does}`.replaceAll(`${top}/`, ''));
  if (late) breaches.push(`the imports did not end within ${limitMs} ms`);
  else if (code !== 0) breaches.push(`the imports ended with code ${code}: ${complaints.trim()}`);
  return breaches;
}
