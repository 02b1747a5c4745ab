import { once } from 'node:events';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { compileRendered, compileTemplate } from '../../shared/sandbox/mjml.ts';
import { forkConfined, readableProgram } from '../../shared/sandbox/mjml-process.ts';
import { marksBytes } from '../../shared/sandbox/protocol.ts';
import * as sandbox from '../../shared/sandbox/sandbox.ts';
import { mjmlDocument, mjmlText } from '../support/data/mjml.ts';

afterAll(sandbox.closeSandbox);

type Report = { outcomes: Record<string, string>; environment: string[] };

const attempts = join(import.meta.dirname, 'attempts.ts');

/** Returns the first message that is a report, and skips messages of the program itself. */
async function reportOf(emitter: Worker | ReturnType<typeof forkConfined>): Promise<Report> {
  for (;;) {
    const [message] = (await once(emitter, 'message')) as [Partial<Report>];
    if (message.outcomes) return message as Report;
  }
}

function refused(outcomes: Record<string, string>): string[] {
  return Object.keys(outcomes).filter((name) =>
    ['ERR_ACCESS_DENIED', 'ERR_DLOPEN_DISABLED', 'EvalError', 'TypeError'].includes(outcomes[name]!),
  );
}

// Shows A35
test('a process of the sandbox reads its own program and the libraries, and reaches nothing else: no file, no network, no process', async () => {
  const child = forkConfined(attempts, { heapMb: 128, readable: [...readableProgram(), attempts] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const { outcomes, environment } = await reportOf(child);
  const { 'read its own program': program, 'read a library': library, ...others } = outcomes;
  expect([program, library]).toEqual(['done', 'done']);
  expect(Object.keys(others).length).toBeGreaterThan(100);
  expect(Object.keys(others).filter((name) => !refused(others).includes(name))).toEqual([]);
  expect(environment).toEqual([]);
});

// Shows A35
test.each(['thread.ts', 'mail-thread.ts'])(
  '%s of the sandbox can load nothing more, has no network and none of the server’s settings',
  async (entry) => {
    const worker = new Worker(attempts, {
      workerData: new SharedArrayBuffer(marksBytes),
      env: {},
      execArgv: [],
      argv: [entry],
    });
    onTestFinished(async () => void (await worker.terminate()));
    const { outcomes, environment } = await reportOf(worker);
    expect(Object.keys(outcomes).filter((name) => !refused(outcomes).includes(name))).toEqual([]);
    expect(environment).toEqual([]);
  },
);

const secret = /root:|SECRET_KEY|mysql:\/\/|"scripts"|workspaces\//;
const hidden = ['/etc/passwd', '.local/env.json', '../../.local/env.json', '../../package.json'];

// Shows A36
test.each(hidden)('MJML that names the file %s gets none of it', async (path) => {
  const include = `<mj-include path="${path}" />`;
  for (const source of [
    mjmlDocument(include),
    mjmlDocument(`<mj-section><mj-column>${include}</mj-column></mj-section>`),
    mjmlDocument('', `<mj-include path="${path}" type="css" />`),
    mjmlText(include),
    mjmlDocument('', `<mj-style><!-- @import "${path}"; --></mj-style><mj-font name="a" href="${path}" />`),
  ])
    for (const compile of [compileTemplate, compileRendered])
      expect(JSON.stringify(await compile('w', source))).not.toMatch(secret);
});

// Shows A35
test.each(hidden)('Liquid that names the file %s gets none of it', async (path) => {
  for (const source of [
    `{% render '${path}' %}`,
    `{% include '${path}' %}`,
    `{% layout '${path}' %}`,
    `{% block a %}{% include "${path}" %}{% endblock %}`,
    `{{ '${path}' | render }}`,
  ]) {
    const result = await sandbox.render({
      workspaceId: 'w',
      parts: [{ name: 'html', source, escape: false }],
      data: {},
      now: new Date(0),
    });
    expect(result).toMatchObject({ ok: false });
    expect(JSON.stringify(result)).not.toMatch(secret);
  }
});
