import { Writable } from 'node:stream';
import { run } from '../../../scripts/setup/admin/admin.ts';

/**
 * Runs one operator command with `--json` in this process. Returns its exit code and its output: if the command
 * succeeded, what it wrote to stdout, parsed. test/scripts/admin/admin.test.ts shows what a process of its own adds.
 */
export async function admin(...args: string[]): Promise<{ code: number; printed: any }> {
  const { code, text, stdout } = await adminText('--json', ...args);
  return { code, printed: code === 0 ? JSON.parse(stdout) : text.trim() };
}

/**
 * Runs one operator command. Returns its exit code, its whole output as people read it, and the part of it on stdout.
 */
export async function adminText(...args: string[]): Promise<{ code: number; text: string; stdout: string }> {
  const written: string[] = [];
  const toStdout: string[] = [];
  const into = (...lists: string[][]) =>
    new Writable({
      decodeStrings: false,
      write(text, _, done) {
        for (const list of lists) list.push(text);
        done();
      },
    });
  const code = await run(args, { stdout: into(written, toStdout), stderr: into(written) });
  return { code, text: written.join(''), stdout: toStdout.join('') };
}
