import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { Unfit } from './start/session.ts';

const run = promisify(execFile);

/** Returns the output of git about the checkout. Throws Unfit with git's own message. */
export async function git(root: string, args: readonly string[]): Promise<string> {
  try {
    const { stdout } = await run('git', args, { cwd: root, maxBuffer: 64 * 1024 * 1024 });
    return stdout;
  } catch (error) {
    const { stderr } = error as { stderr?: string };
    throw new Unfit(`git ${args.join(' ')} failed: ${stderr?.trim() || String(error)}`);
  }
}

/** Returns the output of git as lines. */
export async function gitLines(root: string, args: readonly string[]): Promise<string[]> {
  return (await git(root, args)).split('\n').filter(Boolean);
}
