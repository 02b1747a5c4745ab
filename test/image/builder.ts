import fs from 'node:fs';
import path from 'node:path';
import type { Program } from '../../scripts/setup/servers/programs.ts';
import * as processes from '../../scripts/setup/start/processes.ts';

/** Buildah with all that it stores in `folder`, so that nothing else on the machine changes. */
export function builder({ command, env }: Program, folder: string) {
  const policy = path.join(folder, 'policy.json');
  fs.writeFileSync(policy, JSON.stringify({ default: [{ type: 'insecureAcceptAnything' }] }));
  // Without a daemon, a kernel's file system for layers, or a runtime: that runs in a container, too.
  const storage = [
    '--storage-driver',
    'vfs',
    '--root',
    path.join(folder, 'storage'),
    '--runroot',
    path.join(folder, 'run'),
  ];
  const all = { ...env, BUILDAH_ISOLATION: 'chroot', TMPDIR: folder };
  const signed = ['from', 'build', 'commit'];

  const argumentsOf = ([name, ...args]: string[]): string[] => [
    ...storage,
    name!,
    ...(signed.includes(name!) ? ['--signature-policy', policy] : []),
    ...args,
  ];

  /** Runs it to its end; throws with all that it said where it fails. Returns its last line. */
  async function run(...args: string[]): Promise<string> {
    const { code, output } = await processes.outputOf(command, argumentsOf(args), { env: all });
    if (code !== 0) throw new Error(`buildah ${args.join(' ')} failed:\n${output}`);
    return output.trim().split('\n').at(-1)!;
  }

  /** Starts a program of a container, which goes on beside this one. */
  const start = (...args: string[]) =>
    processes.start('application', command, argumentsOf(['run', ...args]), {
      env: all,
      stdio: ['ignore', 'pipe', 'pipe'],
    });

  return { run, start };
}

export type Builder = ReturnType<typeof builder>;
