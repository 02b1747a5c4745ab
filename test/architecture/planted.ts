import { formatsArePure, importDirections, systemBehindDomain } from './layers.ts';
import { boardInOps, bullmqInItsPlaces, expressInApi, knexInDb } from './libraries.ts';
import { plantedCircles } from './planted-circles.ts';
import { plantedClient } from './planted-client.ts';
import { plantedFolders } from './planted-folders.ts';
import { plantedJobs } from './planted-jobs.ts';
import { plantedPointers } from './planted-pointers.ts';
import { plantedSql } from './planted-sql.ts';
import { plantedUrls } from './planted-urls.ts';
import { plantedWorkspaceFirst } from './planted-workspace-first.ts';
import type { File, Rule } from './rule.ts';
import {
  collectorIsNodes,
  everyTestRuns,
  jobsAreWhole,
  noLongFile,
  productStandsAlone,
  settingsInConfig,
} from './shape.ts';

/** Path -> text. */
type Plants = Record<string, string>;
export type Guarded = { guarantee: string; rule: Rule; breaches: Plants[]; harmless: Plants };

// Written apart, or this file would break the rule that it shows.
const held = ['skip', 'only', 'todo'];
const inverted = 'fails';
const unit = 'it';

/** Every rule over the text of the tree, with files that break it and files that come close and do not. */
export const guarded: Guarded[] = [
  ...plantedCircles,
  {
    guarantee: 'imports go one way',
    rule: importDirections,
    breaches: [
      { 'shared/formats/cursor.ts': "import { Webhook } from '../schemas/webhooks.ts';" },
      { 'shared/formats/cursor.ts': "import { config } from '../config/config.ts';" },
      { 'shared/formats/cursor.ts': "import { now } from '../common/clock.ts';" },
      { 'shared/schemas/webhooks.ts': "import { sweep } from '../jobs/sweep.ts';" },
      { 'shared/schemas/webhooks.ts': "import type { Row } from '../db/client.ts';" },
      { 'shared/jobs/sweep.ts': "import { enqueue } from '../queue.ts';" },
      { 'shared/jobs/sweep.ts': "import { query } from '../db/client.ts';" },
      { 'shared/db/webhooks.ts': "import * as jobs from '../jobs/sweep.ts';" },
      { 'shared/db/webhooks.ts': "export * from '../domain/webhooks.ts';" },
      { 'shared/db/webhooks.ts': "import { enqueue } from '../queue.ts';" },
      { 'shared/queue.ts': "import * as webhooks from './domain/webhooks.ts';" },
      { 'shared/queue.ts': "import { send } from './transports/smtp.ts';" },
      { 'shared/queue/enqueue.ts': "import * as webhooks from '../domain/webhooks.ts';" },
      { 'shared/transports/smtp.ts': "import { enqueue } from '../queue.ts';" },
      { 'shared/transports/smtp/pool.ts': "import * as email from '../../domain/email.ts';" },
      { 'shared/config/config.ts': "import { logger } from '../domain/log.ts';" },
      { 'shared/common/clock.ts': "import { query } from '../db/client.ts';" },
      { 'shared/domain/webhooks.ts': "import { app } from '../../api/app.ts';" },
      { 'shared/domain/webhooks.ts': "const { app } = await import('../../api/app.ts');" },
      { 'shared/domain/webhooks.ts': "const handler = require('../../workers/handle.ts');" },
      { 'shared/domain/webhooks.ts': "new Worker(new URL('../../workers/thread.ts', import.meta.url));" },
      { 'shared/domain/webhooks.ts': "import { startUp } from '../lifecycle.ts';" },
      { 'api/routes/webhooks.ts': "import * as webhooks from '../../shared/db/webhooks.ts';" },
      { 'api/routes/webhooks.ts': "import type { Row } from '../../shared/db/client.ts';" },
      { 'api/routes/webhooks.ts': "import {\n  type A,\n  b,\n} from '../../shared/db/client.ts';" },
      { 'api/routes/webhooks.ts': "import { send } from '../../shared/transports/smtp.ts';" },
      { 'api/routes/webhooks.ts': "import { sweep } from '../../shared/jobs/sweep.ts';" },
      { 'api/operators.ts': "import { jobs } from '../shared/jobs/index.ts';" },
      { 'api/ops/board.ts': "import { query } from '../../shared/db/client.ts';" },
      { 'api/app.ts': "import '../workers/main.ts';" },
      { 'workers/main.ts': "import { createApp } from '../api/app.ts';" },
      { 'workers/jobs/sweep.ts': "export { query } from '../../shared/db/client.ts';" },
      { 'shared/unheard-of.ts': 'export const nothing = 0;' },
      { 'shared/unheard-of/part.ts': 'export const nothing = 0;' },
    ],
    harmless: {
      'shared/formats/cursor.ts':
        "import { z } from 'zod';\nimport { invalid } from '../common/errors.ts';\nimport './ids.ts';",
      'shared/schemas/webhooks.ts':
        "import { isId } from '../formats/ids.ts';\n// as in import('../db/client.ts')",
      'shared/jobs/sweep.ts': "import { Id } from '../schemas/fields.ts';",
      'shared/db/webhooks.ts':
        "import { idToBytes } from '../formats/ids.ts';\nimport { query } from './client.ts';",
      'shared/queue.ts':
        "import { afterCommit } from './db/client.ts';\nimport type { Job } from './jobs/job.ts';",
      'shared/transports/smtp.ts': "import { config } from '../config/config.ts';",
      'shared/domain/webhooks.ts':
        "import * as webhooks from '../db/webhooks.ts';\nimport { enqueue } from '../queue.ts';\nimport { transaction } from '../db/client.ts';",
      'shared/lifecycle.ts': "import { closeDatabase } from './db/client.ts';",
      'api/routes/webhooks.ts': "import * as webhooks from '../../shared/domain/webhooks.ts';",
      'api/app.ts': "import { createOps } from './ops/index.ts';",
      'api/ops/board.ts':
        "import { jobs } from '../../shared/jobs/index.ts';\nimport { page } from '../public/page.ts';",
      'workers/jobs/sweep.ts': "import * as webhooks from '../../shared/domain/webhooks.ts';",
    },
  },
  {
    guarantee: 'what spans workspaces is reached by the domain only',
    rule: systemBehindDomain,
    breaches: [
      { 'shared/db/webhooks.ts': "export * from './webhooks.system.ts';" },
      { 'shared/queue.ts': "import { find } from './db/webhooks.system.ts';" },
      { 'workers/jobs/sweep.ts': "import { find } from '../../shared/db/webhooks.system.ts';" },
      { 'shared/lifecycle.ts': "import { find } from './db/webhooks.system.ts';" },
    ],
    harmless: {
      'shared/lifecycle.ts': "import { sampleClock } from './db/server/clock.system.ts';",
      'shared/domain/sweep.ts': "import { find } from '../db/webhooks.system.ts';",
      'shared/domain/webhooks/relay.ts': "import { find } from '../../db/webhooks.system.ts';",
      'shared/db/sweep.system.ts': "import { find } from './webhooks.system.ts';",
    },
  },
  {
    guarantee: 'formats are pure',
    rule: formatsArePure,
    breaches: [
      { 'shared/formats/liquid.ts': "import { readFileSync } from 'node:fs';" },
      { 'shared/formats/liquid.ts': "import fs from 'fs/promises';" },
      { 'shared/formats/liquid.ts': "import { request } from 'undici';" },
      { 'shared/formats/network-address.ts': "import { isIP, connect } from 'node:net';" },
      { 'shared/formats/network-address.ts': "import net from 'node:net';" },
      { 'shared/formats/liquid.ts': "import { Worker } from 'node:worker_threads';" },
    ],
    harmless: {
      'shared/formats/liquid.ts':
        "import { createHash } from 'node:crypto';\nimport { Liquid } from 'liquidjs';",
      'shared/formats/network-address.ts': "import { BlockList, isIP } from 'node:net';",
      'shared/transports/smtp.ts': "import { connect } from 'node:net';",
    },
  },
  {
    guarantee: 'Knex stays in shared/db',
    rule: knexInDb,
    breaches: [
      { 'shared/domain/webhooks.ts': "import knex from 'knex';" },
      { 'shared/domain/webhooks.ts': "/* it is quick */ import knex from 'knex';" },
      { 'shared/queue.ts': "import type { Knex } from 'knex';" },
      { 'workers/jobs/sweep.ts': "import mysql from 'mysql2/promise';" },
      { 'api/app.ts': "const mysql = await import('mysql2');" },
    ],
    harmless: {
      'shared/db/client.ts': "import knex, { type Knex } from 'knex';",
      'shared/db/migrations/0001_workspaces.ts': "import type { Knex } from 'knex';",
      'shared/domain/webhooks.ts': "import { words } from 'knexish';",
      'scripts/bench/bare.ts': "import mysql from 'mysql2/promise';",
    },
  },
  {
    guarantee: 'settings are read in shared/config/config.ts only',
    rule: settingsInConfig,
    breaches: [
      { 'api/app.ts': 'const port = process.env.PORT;' },
      { 'shared/common/logger.ts': "const level = process.env['LOG_LEVEL'];" },
      { 'shared/queue.ts': "const url = process['env'].REDIS_URL;" },
      { 'workers/main.ts': 'const { env } = process;' },
      { 'workers/main.ts': "import { argv, env } from 'node:process';" },
    ],
    harmless: {
      'shared/config/config.ts': 'const given = process.env;',
      'shared/common/logger.ts': '// process.env is not for us\nconst pid = process.pid;',
      'scripts/setup/environment.ts': 'export const given = process.env;',
    },
  },
  {
    guarantee: 'no garbage collector is switched on in production',
    rule: collectorIsNodes,
    breaches: [
      { 'shared/domain/email.ts': "import { setFlagsFromString } from 'node:v8';" },
      { 'api/app.ts': "import v8 from 'node:v8';\nv8.setFlagsFromString('--no-opt');" },
      { 'workers/main.ts': 'if (globalThis.gc) globalThis.gc();' },
      { 'workers/main.ts': 'const { gc } = globalThis;' },
      { 'scripts/setup/start/run.ts': "fork(program, { execArgv: ['--expose-gc'] });" },
      { Procfile: 'web: node --expose-gc api/server.ts' },
      { Procfile: 'web: node --expose_gc api/server.ts' },
    ],
    harmless: {
      Procfile: 'web: node --max-semi-space-size=16 api/server.ts',
      'workers/main.ts': '// global.gc is not for us\nconst gc = 1;',
      'test/support/kept-memory.ts': "setFlagsFromString('--expose-gc');",
    },
  },
  {
    guarantee: 'Express stays in api/',
    rule: expressInApi,
    breaches: [
      { 'shared/domain/webhooks.ts': "import type { Request } from 'express';" },
      { 'workers/main.ts': "import express from 'express';" },
      { 'workers/main.ts': "import { ExpressAdapter } from '@bull-board/express';" },
    ],
    harmless: { 'api/middleware/problems.ts': "import type { Request } from 'express';" },
  },
  {
    guarantee: 'BullMQ stays in the queue, the workers and the board',
    rule: bullmqInItsPlaces,
    breaches: [
      { 'shared/domain/webhooks.ts': "import { Queue } from 'bullmq';" },
      { 'shared/jobs/sweep.ts': "import type { JobsOptions } from 'bullmq';" },
      { 'api/routes/webhooks.ts': "import { Queue } from 'bullmq';" },
      { 'api/operators.ts': "import { Queue } from 'bullmq';" },
    ],
    harmless: {
      'shared/queue.ts': "import { Queue } from 'bullmq';",
      'workers/handle.ts': "import { type Job, UnrecoverableError } from 'bullmq';",
      'api/ops.ts': "import { Queue } from 'bullmq';",
      'api/ops/board.ts': "import { Queue } from 'bullmq';",
    },
  },
  {
    guarantee: 'the board of the queues stays in api/ops',
    rule: boardInOps,
    breaches: [{ 'api/app.ts': "import { createBullBoard } from '@bull-board/api';" }],
    harmless: { 'api/ops/board.ts': "import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';" },
  },
  {
    guarantee: 'the product needs neither scripts nor tests',
    rule: productStandsAlone,
    breaches: [
      { 'api/app.ts': "import { given } from '../scripts/setup/environment.ts';" },
      { 'shared/queue.ts': "import { waitFor } from '../test/support/wait-for.ts';" },
      { 'shared/config/config.ts': "import { version } from '../../package.json' with { type: 'json' };" },
    ],
    harmless: { 'scripts/setup/demo.ts': "import * as workspaces from '../../shared/domain/workspaces.ts';" },
  },
  {
    guarantee: 'no file is longer than 300 lines',
    rule: noLongFile,
    breaches: [
      { 'shared/domain/webhooks.ts': 'x;\n'.repeat(301) },
      { 'test/flows/everything.test.ts': 'x;\n'.repeat(301) },
      { 'scripts/start': 'x\n'.repeat(301) },
      { 'api/public/docs.html': 'x\n'.repeat(301) },
      { 'test/faults/storm/README.md': 'x\n'.repeat(301) },
    ],
    harmless: {
      'shared/domain/webhooks.ts': 'x;\n'.repeat(300),
      'test/faults/README.md': 'x\n'.repeat(301),
    },
  },
  {
    guarantee: 'every job has a contract, a handler and a test',
    rule: jobsAreWhole,
    breaches: [
      { 'shared/jobs/sweep.ts': '', 'test/workers/sweep.test.ts': '' },
      { 'shared/jobs/sweep.ts': '', 'workers/jobs/sweep.ts': '' },
      { 'shared/jobs/sweep.ts': '', 'workers/jobs/sweep.ts': '', 'test/flows/sweep.test.ts': '' },
      { 'workers/jobs/sweep.ts': '' },
    ],
    harmless: {
      'shared/jobs/job.ts': '',
      'shared/jobs/index.ts': '',
      'shared/jobs/sweep.ts': '',
      'workers/jobs/index.ts': '',
      'workers/jobs/sweep/find-missing.ts': '',
      'test/workers/sweep.test.ts': '',
    },
  },
  ...plantedClient,
  ...plantedFolders,
  ...plantedJobs,
  ...plantedSql,
  ...plantedPointers,
  ...plantedUrls,
  ...plantedWorkspaceFirst,
  {
    guarantee: 'no test is kept from running',
    rule: everyTestRuns,
    breaches: [
      ...held.flatMap((word) =>
        ['it', 'test', 'describe', 'test.concurrent'].map((call) => ({
          'test/api/webhooks.test.ts': `${call}.${word}('is delivered', () => {});`,
        })),
      ),
      { 'test/api/webhooks.test.ts': `test.${held[0]}If(onMac)('is delivered', () => {});` },
      { 'test/api/webhooks.test.ts': `test('is delivered', { ${held[0]}: true }, () => {});` },
      { 'test/api/webhooks.test.ts': `context.${held[0]}('not here');` },
      { 'test/flows/email.test.ts': `test.${inverted}('is delivered', () => {});` },
      { 'test/flows/email.test.ts': `x${unit}('is delivered', () => {});` },
    ],
    harmless: {
      'test/api/webhooks.test.ts':
        "test('a delivery is sent only once; skip is no status', () => client.fails('ECONNRESET'));",
      'shared/domain/webhooks.ts': `cursor.${held[0]}(1);`,
    },
  },
];

export function planted(plants: Plants): File[] {
  return Object.entries(plants).map(([path, source]) => ({ path, source }));
}
