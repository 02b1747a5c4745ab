import { leaveOut } from './left-out.ts';
import type { MjmlJob, ThreadResult } from './protocol.ts';
import { seal } from './seal.ts';

/** The entry of a process of the sandbox: customers' MJML is compiled here and nowhere else. */
process.on('disconnect', () => process.exit());
// A signal may go to all processes of the service: the parent ends this one when it is done with it.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {});

leaveOut();
const { compile } = await import('../formats/templates/mjml.ts');

const cpuMs = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

async function answer({ source, isTemplate }: MjmlJob): Promise<ThreadResult> {
  const startMs = cpuMs();
  const { html, faults } = await compile(source, isTemplate);
  const milliseconds = cpuMs() - startMs;
  if (!faults) return { outcome: 'done', outputs: html === null ? [] : [html], milliseconds };
  return {
    outcome: 'failed',
    faults: faults.map((fault) => ({ part: 0, ...fault })),
    outOfTime: false,
    milliseconds,
  };
}

process.on('message', (job: MjmlJob) => {
  void answer(job).then((result) => process.send?.(result));
});
seal();
process.send?.('ready');
