import { type Flow, openFlow } from '../flow.ts';
import type { Bench, Line, Opened } from '../line.ts';

const counts = [4, 2, 1];

async function open(bench: Bench): Promise<Opened> {
  const flows: { processes: number; flow: Flow }[] = [];
  for (const processes of counts)
    flows.push({ processes, flow: await openFlow(bench, `flow-${processes}`, processes) });
  return {
    sides: flows.map(({ processes, flow }) => ({
      name: `of-each-${processes}`,
      title: `${processes} of each of web, worker_email, worker_webhooks, and one worker_events`,
      run: flow.run,
    })),
    close: async () => {
      for (const { flow } of flows) await flow.close();
    },
  };
}

export const flowProcesses: Line = {
  name: 'flow-processes',
  title: 'POST /v2/email to its email.sent at an endpoint, by the number of processes',
  unit: 'emails',
  targets: {},
  notes: ['All that the machine can do at once; more processes than processors only show what they cost.'],
  open,
};
