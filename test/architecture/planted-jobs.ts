import { z } from 'zod';
import { defineJob } from '../../shared/jobs/job.ts';
import { jobsAreListed } from './jobs.ts';
import type { Guarded } from './planted.ts';

export const plantedJobs: Guarded[] = [
  {
    guarantee: 'every job is in the list of contracts and in that of handlers',
    rule: jobsAreListed,
    breaches: [
      { 'shared/jobs/sweep.ts': '' },
      { 'shared/jobs/sweep.ts': '', 'shared/jobs/index.ts': "import { purge } from './purge.ts';" },
      { 'shared/jobs/sweep.ts': '', 'shared/jobs/index.ts': "// import { sweep } from './sweep.ts';" },
      {
        'shared/jobs/sweep.ts': '',
        'workers/jobs/index.ts': "import sweep from '../../shared/jobs/sweep.ts';",
      },
      {
        'shared/jobs/sweep.ts': '',
        'shared/jobs/sweep-more.ts': '',
        'shared/jobs/index.ts': "import { more } from './sweep-more.ts';",
      },
      { 'workers/jobs/sweep.ts': '', 'workers/jobs/index.ts': '' },
      { 'workers/jobs/sweep/find-missing.ts': '', 'workers/jobs/index.ts': '' },
    ],
    harmless: {
      'shared/jobs/job.ts': '',
      'shared/jobs/sweep.ts': '',
      'shared/jobs/index.ts': "import { sweep } from './sweep.ts';",
      'workers/jobs/sweep/find-missing.ts': '',
      'workers/jobs/purge.ts': '',
      'workers/jobs/index.ts':
        "import purge from './purge.ts';\nimport sweep from './sweep/find-missing.ts';",
    },
  },
];

const payload = z.strictObject({});

/** Of two jobs, one of them with lanes, as contracts define them. */
export const jobs = [
  defineJob({ name: 'mail', lanes: { urgent: 'mail', bulk: 'mail-bulk' }, payload }),
  defineJob({ name: 'sweep', lanes: { default: 'sweep' }, payload }),
];

const rest = 'release: node scripts/setup/migrate.ts up\nweb: node --max-semi-space-size=16 api/server.ts\n';

/** Lines of a Procfile, and what is said of them. */
export const procfileBreaches: [lines: string, complaints: string[]][] = [
  ['', ['mail:urgent is run by no line', 'mail:bulk is run by no line', 'sweep:default is run by no line']],
  ['worker: node workers/main.ts mail', ['sweep:default is run by no line']],
  [
    'worker: node workers/main.ts mail\n# events: node workers/main.ts sweep',
    ['sweep:default is run by no line'],
  ],
  ['worker: node workers/main.ts mail:urgent sweep', ['mail:bulk is run by no line']],
  ['worker: node workers/main.ts mail sweep post', ['worker: There is no job "post". Jobs: mail sweep']],
  [
    'worker: node workers/main.ts mail sweep mail:slow',
    ['worker: mail has no lane "slow". Lanes: urgent bulk'],
  ],
  // A queue's name is not a lane's.
  [
    'worker: node workers/main.ts mail:urgent sweep\nbulk: node workers/main.ts mail-bulk',
    ['bulk: There is no job "mail-bulk". Jobs: mail sweep', 'mail:bulk is run by no line'],
  ],
  [
    'inbound: node workers/inbound.ts mail sweep:default\nworker: node workers/main.ts mail',
    ['sweep:default is run by no line'],
  ],
].map(([lines, complaints]) => [`${rest}${lines as string}`, complaints as string[]]);

export const procfileHarmless = [
  'worker: node workers/main.ts',
  'worker: node --max-semi-space-size=16 workers/main.ts mail sweep',
  'urgent: node workers/main.ts mail:urgent\nbulk: node workers/main.ts mail:bulk sweep:default',
  // More processes for what is urgent.
  'urgent: node workers/main.ts mail:urgent\nall: node workers/main.ts sweep mail',
].map((lines) => `${rest}${lines}`);
