import { Writable } from 'node:stream';
import { run } from '../../../scripts/setup/admin/admin.ts';

/**
 * Runs one operator command with `--json` in this process. Returns its exit code and its output, parsed if the command
 * succeeded. test/scripts/admin/admin.test.ts shows what a process of its own adds.
 */
export async function admin(...args: string[]): Promise<{ code: number; printed: any }> {
  const { code, text } = await adminText('--json', ...args);
  return { code, printed: code === 0 ? JSON.parse(text) : text.trim() };
}

/** Runs one operator command, and returns its exit code and its output as people read it. */
export async function adminText(...args: string[]): Promise<{ code: number; text: string }> {
  const written: string[] = [];
  const output = new Writable({
    decodeStrings: false,
    write(text, _, done) {
      written.push(text);
      done();
    },
  });
  const code = await run(args, { stdout: output, stderr: output });
  return { code, text: written.join('') };
}
