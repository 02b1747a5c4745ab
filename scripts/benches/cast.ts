import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type mysql from 'mysql2/promise';
import { checkout } from '../setup/environment.ts';
import * as kept from '../setup/kept.ts';
import * as procfile from '../setup/start/procfile.ts';
import type { Bench } from './line.ts';
import { type Program, type Servant, startPlatform, startServant } from './program.ts';

const lines = procfile
  .read(path.join(checkout, 'Procfile'))
  .filter(({ name }) => name !== 'release')
  .map((line) => ({ name: line.name, ...procfile.partsOf(line) }));

/** Lasting processes of the Procfile: name -> the program that `node` runs, and its arguments. */
export const processTypes: Record<string, string[]> = Object.fromEntries(
  lines.map(({ name, program, args }) => [name, [program, ...args]]),
);

/**
 * Returns the Node options that the Procfile gives a program: from the line that runs the first of these jobs, if
 * there is one, else from the first line of the program.
 */
const nodeOptionsOf = ([program, job]: string[]): string[] => {
  const ofProgram = lines.filter((line) => line.program === program);
  const line = ofProgram.find(({ args }) => job !== undefined && args.includes(job)) ?? ofProgram[0];
  return line?.nodeOptions ?? [];
};

/** Building the indexes of millions of rows takes longer than a request may wait for anything. */
const patience = { MYSQL_TIMEOUT_SECONDS: '3600' };

/** Starts the processes of a line with the settings that they need, and stops the remaining ones at its end. */
export interface Cast {
  /** Starts a program of scripts/benches, which runs until the line ends, unless it is stopped before. */
  servant(program: string, settings?: Record<string, string>): Promise<Servant>;
  /** Starts a program of the platform as the Procfile does. */
  platform(args: string[], readyWhen: string, settings?: Record<string, string>): Promise<Program>;
  /** Starts workers for these jobs; for all jobs if there are none. */
  workers(jobs: string[], settings?: Record<string, string>): Promise<Program>;
  /** Starts a program of the bare side, and begins its work. */
  bare(program: string, settings: object): Promise<Servant>;
  /** Starts a web process without rate limits. A later one with the same name has the same port. */
  web(settings?: Record<string, string>, name?: string): Promise<{ web: Program; port: number }>;
  stopAll: () => Promise<void>;
}

export function castOf({ world, profileFolder }: Bench, line: string): Cast {
  const started = new Set<Program>();
  let profiles = 0;

  const logOf = (name: string) => path.join(world.folder, 'logs', `${line}-${name}.log`);
  /** Options to profile the measured processes of both sides, but not the processes that play the world around them. */
  function profileOf(name: string): string[] {
    if (!profileFolder) return [];
    profiles += 1;
    return [
      '--cpu-prof',
      `--cpu-prof-dir=${profileFolder}`,
      `--cpu-prof-name=${profiles}-${name}.cpuprofile`,
    ];
  }
  function remember<Kind extends Program>(program: Kind): Kind {
    started.add(program);
    return program;
  }

  async function platform(
    args: string[],
    readyWhen: string,
    settings: Record<string, string> = {},
  ): Promise<Program> {
    const name = args.join('-').replaceAll('/', '-');
    return remember(
      await startPlatform({
        args: [...profileOf(name), ...nodeOptionsOf(args), ...args],
        readyWhen,
        settings: { ...world.settings, ...settings },
        logFile: logOf(name),
      }),
    );
  }

  async function servant(program: string, settings: Record<string, string> = {}): Promise<Servant> {
    const name = program.replace('/', '-');
    const file = path.join(checkout, 'scripts/benches', `${program}.ts`);
    const isLoader = program.startsWith('loaders/');
    return remember(
      await startServant({
        args: [...(program.startsWith('bare/') ? profileOf(name) : []), file],
        settings: { ...world.settings, ...(isLoader ? patience : {}), LOG_LEVEL: 'warn', ...settings },
        logFile: logOf(name),
      }),
    );
  }

  return {
    servant,
    platform,
    workers: (jobs, settings) => platform(['workers/main.ts', ...jobs], 'workers started', settings),
    async bare(program, settings) {
      const worker = await servant(program);
      await worker.ask('start', settings);
      return worker;
    },
    async web(settings = {}, name = 'web') {
      const port = await kept.port(world.folder, name);
      const web = await platform(processTypes['web']!, 'web started', {
        PORT: String(port),
        BIND_ADDRESS: '127.0.0.1',
        RATE_LIMIT_PER_SECOND: '0',
        WORKSPACE_RATE_LIMIT_PER_SECOND: '0',
        ...settings,
      });
      return { web, port };
    },
    async stopAll() {
      await Promise.all([...started].map((program) => program.stop()));
    },
  };
}

export async function numberOf(
  database: mysql.Connection,
  sql: string,
  values: unknown[] = [],
): Promise<number> {
  const [[row]] = await database.query<mysql.RowDataPacket[]>(sql, values);
  return Number(Object.values(row ?? {})[0]);
}

/** Does the work for 0, 1, …, `count` - 1, with a pause behind each. */
export async function atPace(
  count: number,
  everyMs: number,
  work: (index: number) => Promise<unknown>,
): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    await work(index);
    await delay(everyMs);
  }
}

const limitMs = 120_000;
const shortestPauseMs = 5;

/**
 * Waits until a count is reached. It asks often, because the time until then is a part of the measurement; but a count
 * that takes long for the measured server takes no more than a tenth of its time.
 */
export async function until(what: string, expected: number, count: () => Promise<number>): Promise<void> {
  const since = performance.now();
  for (;;) {
    const askedAt = performance.now();
    const is = await count();
    if (is === expected) return;
    const answeredAt = performance.now();
    if (answeredAt - since > limitMs)
      throw new Error(`${what}: ${is} after ${limitMs / 1000} s, not ${expected}`);
    await delay(Math.max(shortestPauseMs, 9 * (answeredAt - askedAt)));
  }
}
