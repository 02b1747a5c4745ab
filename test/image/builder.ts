import fs from 'node:fs';
import path from 'node:path';
import type { Program } from '../../scripts/setup/servers/programs.ts';
import * as processes from '../../scripts/setup/start/processes.ts';

/** Sets up Buildah with all its storage in `folder`, so that nothing else on the machine changes. */
export function builder({ command, env }: Program, folder: string) {
  const policy = path.join(folder, 'policy.json');
  fs.writeFileSync(policy, JSON.stringify({ default: [{ type: 'insecureAcceptAnything' }] }));
  // The options need no daemon, no kernel file system for layers and no runtime, so Buildah also runs in a container.
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

  /** Runs Buildah to its end and returns its last line; throws with its whole output if it fails. */
  async function run(...args: string[]): Promise<string> {
    const { code, output } = await processes.outputOf(command, argumentsOf(args), { env: all });
    if (code !== 0) throw new Error(`buildah ${args.join(' ')} failed:\n${output}`);
    return output.trim().split('\n').at(-1)!;
  }

  /** Starts a program in a container, which runs beside this program. */
  const start = (...args: string[]) =>
    processes.start('application', command, argumentsOf(['run', ...args]), {
      env: all,
      stdio: ['ignore', 'pipe', 'pipe'],
    });

  return { run, start };
}

export type Builder = ReturnType<typeof builder>;
