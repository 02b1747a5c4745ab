import { importsOf } from './imports.ts';
import { isProduct, type Rule } from './rule.ts';

/** Modules that know nothing of the business. A layer that needs them may import them. */
const basis = [
  'shared/config',
  'shared/common/errors',
  'shared/common/faults',
  'shared/common/logger',
  'shared/common/clock',
  'shared/common/versions',
  'shared/common/metrics',
  'shared/common/process-gauges',
  'shared/common/request-context',
  'shared/common/secrets',
  'shared/common/batcher',
  'shared/common/time-slices',
  'shared/common/closing',
  'shared/common/circuit-breaker',
  'shared/common/fair-shares',
  'shared/common/parsed-url',
  'shared/common/semaphore',
  'shared/common/isolated',
  'shared/common/portions',
  'shared/common/thread-cpu',
];
const words = ['shared/schemas', 'shared/formats'];

const forApi = [
  'shared/domain',
  'shared/lifecycle',
  'shared/queue',
  'shared/coordination/rate-limits',
  'shared/coordination/known-keys',
  'shared/coordination/broadcast',
  'shared/sandbox',
  ...words,
  ...basis,
];

/**
 * Layer -> the layers that it may import besides itself. A layer is a folder of shared/, or a file there that stands
 * alone. The order of the design: schemas, formats <- jobs, db <- queue, transports <- domain <- api | workers.
 */
const mayImport: Record<string, string[]> = {
  ...Object.fromEntries(basis.map((name) => [name, basis])),
  // The setting with the list of gateways names countries.
  'shared/config': ['shared/formats', ...basis],
  // Pure: nothing here reads a setting, a clock or a log.
  'shared/formats': ['shared/common/errors', 'shared/common/versions'],
  'shared/schemas': ['shared/formats', ...basis],
  // Runs in customers' programs.
  'shared/client': [],
  'shared/jobs': [...words, ...basis],
  'shared/db': [...words, ...basis],
  'shared/sandbox': [...words, ...basis],
  'shared/key-generation': [...words, ...basis],
  // Reads the rows of work that is due, for the platform itself and across workspaces.
  'shared/work': ['shared/queue', 'shared/jobs', 'shared/db', ...words, ...basis],
  'shared/queue': ['shared/jobs', 'shared/db', ...words, ...basis],
  'shared/coordination/broadcast': ['shared/queue', 'shared/db', ...basis],
  'shared/coordination/rate-limits': ['shared/queue', ...basis],
  'shared/coordination/leases': ['shared/coordination/rate-limits', 'shared/queue', ...basis],
  'shared/coordination/known-keys': ['shared/queue', ...basis],
  // All processes together share the rate of a gateway.
  'shared/transports': ['shared/coordination/rate-limits', 'shared/jobs', 'shared/db', ...words, ...basis],
  'shared/domain': [
    'shared/work',
    'shared/queue',
    'shared/coordination/broadcast',
    'shared/coordination/leases',
    'shared/coordination/known-keys',
    'shared/transports',
    'shared/sandbox',
    'shared/key-generation',
    'shared/jobs',
    'shared/db',
    ...words,
    ...basis,
  ],
  // Opens and closes the resources of a process, so it knows all parts that hold some; only the entries know it.
  'shared/lifecycle': [
    'shared/domain',
    'shared/queue',
    'shared/coordination/broadcast',
    'shared/sandbox',
    'shared/jobs',
    'shared/db',
    ...words,
    ...basis,
  ],
  api: ['api/ops', ...forApi],
  // The board shows the queues, whose names are in the contracts of the jobs.
  'api/ops': ['api', 'shared/jobs', ...forApi],
  workers: [
    'shared/domain',
    'shared/lifecycle',
    'shared/work',
    'shared/queue',
    'shared/transports',
    'shared/sandbox',
    'shared/jobs',
    ...words,
    ...basis,
  ],
};

// The files of these folders have nothing to do with each other, so each has its own line in the table.
const collections = new Set(['common', 'coordination']);

function layerOf(path: string): string {
  const [top, second, third] = path.split('/') as [string, string?, string?];
  const name = (second && collections.has(second) ? `${second}/${third}` : second)?.replace(/\.ts$/, '');
  return top === 'shared' || name === 'ops' ? `${top}/${name}` : top;
}

/** One request, one transaction (architecture rule 1): the app opens it. */
const exceptions: Record<string, string> = { 'api/app.ts': 'shared/db/client.ts' };

/** Imports go one way only, as the table of layers says. */
export const importDirections: Rule = (files) =>
  files.filter(isProduct).flatMap((file) => {
    const from = layerOf(file.path);
    const allowed = mayImport[from];
    if (!allowed) return [`${file.path} is of no known layer: give ${from} its place in the table of layers`];
    return importsOf(file)
      .filter((found) => !found.external)
      .filter((found) => {
        const to = layerOf(found.target);
        return to !== from && !allowed.includes(to) && exceptions[file.path] !== found.target;
      })
      .map((found) => `${file.path} (${from}) may not import ${found.target}`);
  });

const systemFiles = /^shared\/db\/.*\.system(\.ts)?$/;
// The server's clock and settings, which every process asks for when it starts: no tenant's rows.
const ofTheServer = /^shared\/db\/server\/(clock|server)\.system\.ts$/;

/** Only code that reads across workspaces for the platform itself may use statements without the workspace in WHERE. */
export const systemBehindDomain: Rule = (files) =>
  files
    .filter(isProduct)
    .filter((file) => !/^shared\/(domain|work)\//.test(file.path) && !systemFiles.test(file.path))
    .flatMap((file) =>
      importsOf(file)
        .filter((found) => !found.external && systemFiles.test(found.target))
        .filter((found) => layerOf(file.path) !== 'shared/lifecycle' || !ofTheServer.test(found.target))
        .map(
          (found) =>
            `${file.path} may not import ${found.target}: only shared/domain and shared/work reach it`,
        ),
    );

const impure =
  /^(node:)?(fs|net|tls|dns|dgram|http|https|http2|child_process|worker_threads|cluster|process|timers)(\/|$)/;
// The parts of node:net that only compute with addresses, and open no socket.
const pureNet =
  /\bimport\s*\{(\s*(isIP|isIPv4|isIPv6|BlockList|SocketAddress)\s*,?)+\s*\}\s*from\s*'node:net'/;

/** A format imports no module that speaks to the outside. */
export const formatsArePure: Rule = (files) =>
  files
    .filter((file) => file.path.startsWith('shared/formats/'))
    .flatMap((file) =>
      importsOf(file)
        .filter(
          ({ external, target }) =>
            external && (impure.test(target) || /^(undici|ioredis)(\/|$)/.test(target)),
        )
        .filter(({ target }) => target !== 'node:net' || !pureNet.test(file.source))
        .map((found) => `${file.path} is to be pure and may not import ${found.target}`),
    );
