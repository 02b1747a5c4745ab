import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join, resolve } from 'node:path';
import { atEnd } from '../support/runner/at-end.ts';
import { waitFor } from '../support/time/wait-for.ts';

export const folder = join(import.meta.dirname, '../../api/public/guides');

const hasPython = spawnSync('python3', ['--version']).status === 0;

/** Returns a guide's program in each language that this machine can run: the platform does not include Python. */
export function inLanguages(programs: { node: string; python: string }) {
  const node = { language: 'Node', command: process.execPath, program: programs.node };
  const python = { language: 'Python', command: 'python3', program: programs.python };
  return hasPython ? [node, python] : [node];
}
export type Program = ReturnType<typeof inLanguages>[number];

type Settings = Record<string, string>;

/** Starts a program as a customer would, with no setting of the platform in its environment. */
export function start({ command, program }: Program, args: string[], settings: Settings, cwd?: string) {
  const { PATH = '', HOME = '' } = process.env;
  const child = spawn(command, [resolve(folder, program), ...args], {
    cwd,
    env: { PATH, HOME, ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const written: string[] = [];
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => written.push(text));
  const closed = once(child, 'close') as Promise<[code: number | null]>;
  const stop = async () => {
    child.kill('SIGKILL');
    await closed;
  };
  atEnd(stop);
  return { output: () => written.join(''), closed, stop };
}

/** Runs a program until it ends. */
export async function run(program: Program, args: string[], settings: Settings) {
  const { output, closed } = start(program, args, settings);
  const [code] = await closed;
  return { code, output: output() };
}

/** Starts the server of a guide, and waits until it listens. */
export async function serve(program: Program, settings: Settings) {
  const server = start(program, [], settings);
  await waitFor(`${program.program} to listen`, () => /Listening on port \d+/.test(server.output()));
  return { ...server, port: Number(/Listening on port (\d+)/.exec(server.output())![1]) };
}
