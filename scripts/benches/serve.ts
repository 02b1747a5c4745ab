import type { AddressInfo, Server } from 'node:net';

type Command = (payload: any) => unknown;
export interface Question {
  id: number;
  command: string;
  payload: unknown;
}
export interface Answer {
  /** Null: not an answer; the program is ready. */
  id: number | null;
  result?: unknown;
  error?: string;
}

/**
 * Lets main.ts send commands to this process: each command is a function of its payload. The process ends with
 * main.ts.
 */
export function serve(commands: Record<string, Command>, end: () => void = () => process.exit()): void {
  const send = (answer: Answer) => void process.send?.(answer);
  process.on('message', (question: Question) => {
    const run = async () => commands[question.command]!(question.payload);
    run().then(
      (result) => send({ id: question.id, result }),
      (error: unknown) => send({ id: question.id, error: String((error as Error).stack) }),
    );
  });
  process.on('disconnect', end);
  process.on('SIGTERM', end);
  send({ id: null });
}

/** Has a server listen on a free port of this machine alone; returns the port. */
export function listenOn(server: Server): Promise<number> {
  return new Promise((resolve) => {
    server.listen({ port: 0, host: '127.0.0.1', backlog: 4096 }, () =>
      resolve((server.address() as AddressInfo).port),
    );
  });
}

/** Makes a command that resolves once there are `count`. Call `look` whenever there is one more. */
export function awaitable(current: () => number): { look: () => void; reach: Command } {
  let awaited: { count: number; reached: () => void } | undefined;
  const look = () => {
    if (awaited && current() >= awaited.count) awaited.reached();
  };
  const reach = (count: number) =>
    new Promise<void>((resolve) => {
      awaited = { count, reached: resolve };
      look();
    });
  return { look, reach };
}
