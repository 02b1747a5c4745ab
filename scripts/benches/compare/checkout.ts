import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { checkout } from '../../setup/environment.ts';
import { git, gitLines } from '../../setup/git.ts';
import * as processes from '../../setup/start/processes.ts';
import * as session from '../../setup/start/session.ts';

/** The files of a commit with the packages that they need. */
export interface Checkout {
  /** The short id of the commit and the first line of its message. */
  title: string;
  folder: string;
  node: string;
}

// Git hooks of the developer are for work on the project, not for these checkouts.
const withoutHooks = ['-c', 'core.hooksPath=/dev/null'];
const neededFiles = ['lines/index.ts', 'line.ts', 'world.ts'].map((file) => `scripts/benches/${file}`);

/** The side that is compared with a commit: the working tree, as it is. */
export async function workingTree(): Promise<Checkout> {
  const changed = await gitLines(checkout, ['status', '--porcelain']);
  const title = await titleOf('HEAD');
  return {
    title: changed.length > 0 ? `${title}, with ${changed.length} files changed since` : title,
    folder: checkout,
    node: process.execPath,
  };
}

/**
 * Makes a git worktree of the commit, which lasts until this process ends. First removes one that a killed run has
 * left in the folder.
 */
export async function checkOut(commit: string, folder: string): Promise<Checkout> {
  const id = (await git(checkout, ['rev-parse', '--verify', `${commit}^{commit}`])).trim();
  remove(folder);
  process.on('exit', () => remove(folder));
  await git(checkout, [...withoutHooks, 'worktree', 'add', '--force', '--detach', folder, id]);
  const missing = neededFiles.find((file) => !fs.existsSync(path.join(folder, file)));
  if (missing) throw new session.Unfit(`${commit} has no ${missing}: it is from before the benches of today`);
  await addPackages(commit, folder);
  const own = path.join(folder, 'node_modules/.bin/node');
  return { title: await titleOf(id), folder, node: fs.existsSync(own) ? own : process.execPath };
}

/**
 * Lists the files of the benches that have changed since the commit: lines that measure something else cannot be
 * compared.
 */
export async function changedBenches(commit: string): Promise<string[]> {
  const folder = 'scripts/benches';
  const changed = await gitLines(checkout, ['diff', '--name-only', `${commit}^{commit}`, '--', folder]);
  return changed.filter((file) => !file.startsWith(`${folder}/compare/`));
}

const titleOf = async (commit: string) =>
  (await git(checkout, ['log', '-1', '--format=%h %s', commit, '--'])).trim();

async function addPackages(commit: string, folder: string): Promise<void> {
  const lockOf = (root: string) => fs.readFileSync(path.join(root, 'package-lock.json'), 'utf8');
  if (lockOf(folder) === lockOf(checkout))
    return fs.symlinkSync(path.join(checkout, 'node_modules'), path.join(folder, 'node_modules'));
  session.log(`Packages: ${commit} has another package-lock.json; installing what it wants`);
  const script = '. "$(dirname -- "$0")/setup/prepare.sh"';
  const args = ['-c', script, path.join(folder, 'scripts/bench')];
  const { code, output } = await processes.outputOf('/bin/sh', args, { cwd: folder });
  if (code !== 0) throw new session.Unfit(`The packages of ${commit} could not be installed:\n${output}`);
}

/** Removes the worktree synchronously, because this also runs while the process ends. */
function remove(folder: string): void {
  if (!fs.existsSync(folder)) return;
  // The folder may be a link to our own packages, which must not be followed.
  fs.rmSync(path.join(folder, 'node_modules'), { recursive: true, force: true });
  spawnSync('git', ['worktree', 'remove', '--force', '--force', folder], { cwd: checkout, stdio: 'ignore' });
  fs.rmSync(folder, { recursive: true, force: true });
}
