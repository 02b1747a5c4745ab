import { config } from '../shared/config/config.ts';
import { countReports } from '../shared/jobs/count-reports.ts';
import type { Job } from '../shared/jobs/job.ts';
import { purgeExpired } from '../shared/jobs/purge-expired.ts';
import { sweep } from '../shared/jobs/sweep.ts';
import { webhookHealth } from '../shared/jobs/webhook-health.ts';
import { enqueueRepeating } from '../shared/queue/queue.ts';

/** The repeating jobs and how often. */
export const schedule: { job: Job; everySeconds: number }[] = [
  { job: sweep, everySeconds: config.SWEEP_SECONDS },
  { job: webhookHealth, everySeconds: config.WEBHOOK_HEALTH_SECONDS },
  { job: countReports, everySeconds: config.REPORT_EVERY_SECONDS },
  { job: purgeExpired, everySeconds: 300 },
];

/**
 * Starts the schedule of the jobs that this process runs: if no process runs a job, nobody needs to add it. The job id
 * is the period that a run belongs to, so all processes together add one job. After Redis was emptied, the next job comes
 * within a period. A schedule in Redis would be lost together with the jobs, and with it the sweep, which makes lost
 * jobs again.
 */
export function startSchedule(jobs: readonly Job[]): { stop(): void } {
  const own = schedule.filter(({ job }) => jobs.includes(job));
  const timers = own.map(({ job, everySeconds }) => {
    const add = () => void enqueueRepeating(job, everySeconds);
    add();
    return setInterval(add, everySeconds * 1000);
  });
  return {
    stop: () => {
      for (const timer of timers) clearInterval(timer);
    },
  };
}
