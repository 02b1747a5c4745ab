import { answerTable } from '../../db/simulator/answers.system.ts';
import { simulatorAnswer } from '../../jobs/simulator-answer.ts';
import { messageAdmission } from '../work/message-admission.ts';

export const gateway = 'simulator';

/** Answers to one workspace that have a job in Redis; the others wait in MySQL. */
export const jobsPerWorkspace = 100;

export const { checkSoon, turns, kind } = messageAdmission<
  'default',
  { reference: string; workspaceId?: string | undefined }
>({
  name: 'simulator_answer',
  table: answerTable,
  job: simulatorAnswer,
  payloadOf: ({ id, workspaceId }) => ({ reference: id, workspaceId }),
  window: () => jobsPerWorkspace,
});

/** Wakes the simulator for a text that a phone must report. Texts of one moment are looked for together. */
export function wake(workspaceId: string): void {
  checkSoon('default', workspaceId);
}
