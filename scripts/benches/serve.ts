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
