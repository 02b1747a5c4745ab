import { leaveOut } from './left-out.ts';
import type { MjmlJob, ThreadResult } from './protocol.ts';
import { seal } from './seal.ts';

/** The entry of a sandbox process: only here does the platform compile customers' MJML. */
process.on('disconnect', () => process.exit());
// Ignores signals, because a signal may go to all processes of the platform. The parent ends this process when it no
// longer needs it.
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
