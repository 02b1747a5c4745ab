import { now } from '../../common/clock.ts';
import { config } from '../../config/config.ts';
import { simulatorAnswer } from '../../jobs/simulator-answer.ts';
import { enqueue } from '../../queue/queue.ts';
import { jobName } from '../../work/job-name.ts';

export const gateway = 'simulator';

/** The simulator has a text, which its phone is to report. */
export function wake(reference: string): void {
  const at = new Date(now().getTime() + config.SIMULATOR_SECONDS * 1000);
  enqueue(simulatorAnswer, { reference }, { lane: 'default', id: jobName({ id: reference, claims: 0 }), at });
}
