// @slow: it starts a process for each wrong setting.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import type { config as Config } from '../../shared/config/config.ts';
import { isCertificateFile } from '../../workers/inbound/certificate.ts';

const checkout = join(import.meta.dirname, '../..');
const load = ['--input-type=module', '-e', "await import('./shared/config/config.ts')"];

/** Loads the settings in a new process; returns its exit code and its whole output. */
function loadWith(env: Record<string, string>, args = load) {
  const { PATH = '', LD_LIBRARY_PATH = '', NODE_COMPILE_CACHE = '' } = process.env;
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    cwd: checkout,
    env: { PATH, LD_LIBRARY_PATH, NODE_COMPILE_CACHE, ...env },
    encoding: 'utf8',
  });
  return { code: status, lines: (stdout + stderr).trim().split('\n') };
}

let loads = 0;

/** Does what `loadWith` does, in this process, which takes a tenth of the time. Returns the settings too. */
async function loadHere(settings: Record<string, string>) {
  const { env } = process;
  let code: number | null = 0;
  let config: Partial<typeof Config> = {};
  const printed: string[] = [];
  const streams = [process.stdout, process.stderr].map((stream) =>
    vi.spyOn(stream, 'write').mockImplementation((text) => printed.push(String(text)) > 0),
  );
  const ended = new Error('the process would end here');
  const exit = vi.spyOn(process, 'exit').mockImplementation((given) => {
    code = Number(given);
    throw ended;
  });
  process.env = { ...settings };
  try {
    ({ config } = await import(`../../shared/config/config.ts?load=${(loads += 1)}`));
  } catch (error) {
    if (error !== ended) throw error;
  } finally {
    process.env = env;
    for (const spy of [...streams, exit]) spy.mockRestore();
  }
  return { code, lines: printed.join('').trim().split('\n'), config };
}

const secret = 'hunter2';
// Nothing listens on port 1.
const nowhere = `mysql://root:${secret}@127.0.0.1:1/messaging`;
const bad: Record<string, string> = {
  PORT: '70000',
  RELAY_BATCH: 'many',
  LEASE_SECONDS: '0',
  LOG_LEVEL: 'loud',
  CLOCK_SHIFTABLE: 'perhaps',
  PUBLIC_URL: 'api.example.com',
  TRUST_PROXY: 'loopback,10.0.0.0/99',
  MYSQL_URL: `postgres://root:${secret}@127.0.0.1/messaging`,
  REDIS_URL: '127.0.0.1:6379',
  REDIS_TLS_VERIFY: 'perhaps',
  SMTP_URL: 'http://relay.example',
  SHORT_LINK_URL: 'acme',
  SECRET_KEY: secret,
  SYSTEM_SENDER: 'nobody',
  TEST_SENDER: 'nobody',
  INBOUND_TOKEN: 'short',
  OPS_PASSWORD: 'fifteen-letters',
  DNS_SERVERS: 'ns.example',
  FBL_REPORTERS: '@',
  RETURN_PATH_DOMAIN: 'bounces@acme.example',
  SPF_INCLUDE: 'include:_spf.acme.example ~all',
  EMAIL_DELIVERED_ON: 'hope',
  SMS_GATEWAY: 'pigeon',
  SMS_GATEWAYS: `[{"name":"acme","type":"smpp","url":"http://${secret}"}]`,
  SMS_SYSTEM_SENDER: '!',
  SHORT_LINKS_TO_DRAMA_NUMBERS: 'x',
  WEBHOOK_RETRY_SCHEDULE_SECONDS: '1,-1',
  WEBHOOK_ALLOWED_NETWORKS: 'home',
  WEBHOOK_PUBLIC_ADDRESSES: '192.0.2.7,eth0',
  WEBHOOK_LOCAL_ADDRESS: 'eth0',
};

test('settings that are wrong are told all at once, a line each with an example, without a stack or a secret', async () => {
  const { code, lines } = loadWith(bad);
  expect(code).toBe(78);
  const [title, ...faults] = lines;
  expect(title).toBe(`${Object.keys(bad).length} settings are wrong:`);
  expect(new Set(faults.map((line) => line.trim().split(' ')[0]))).toEqual(new Set(Object.keys(bad)));
  for (const line of faults) expect(line).toMatch(/^ {2}[A-Z_]+ must .+, for example [A-Z_]+=.+$/);
  expect(lines.join('\n')).not.toContain(secret);
  expect(faults).toContain(
    '  RELAY_BATCH must be a whole number from 1 to 5000, for example RELAY_BATCH=1000',
  );
  expect(faults).toContain('  EMAIL_DELIVERED_ON must be dsn or accept, for example EMAIL_DELIVERED_ON=dsn');

  // Each example from a message is accepted when it is copied.
  const copied = faults.map(
    (line) => /for example ([A-Z_]+)='?(.+?)'?$/.exec(line)!.slice(1) as [string, string],
  );
  expect(await loadHere(Object.fromEntries(copied))).toMatchObject({ code: 0, lines: [''] });
});

test('settings that do not go together are told in the same way, and in the same round', async () => {
  const { code, lines } = await loadHere({
    LEASE_SECONDS: '10',
    SHORT_LINK_URL: 'https://acme.example',
    PUBLIC_URL: 'https://acme.example/',
    RELAY_BATCH: 'many',
  });
  expect(code).toBe(78);
  expect(lines).toEqual([
    '3 settings are wrong:',
    '  RELAY_BATCH must be a whole number from 1 to 5000, for example RELAY_BATCH=1000',
    '  LEASE_SECONDS must be a number of at least 120, twice the longer of SMTP_TIMEOUT_SECONDS and WEBHOOK_TIMEOUT_SECONDS, for example LEASE_SECONDS=120',
    '  SHORT_LINK_URL must have a path of its own where it has the host of PUBLIC_URL, for example SHORT_LINK_URL=https://acme.example/l',
  ]);
  const mended = { LEASE_SECONDS: '120', SHORT_LINK_URL: 'https://acme.example/l' };
  expect(await loadHere({ ...mended, PUBLIC_URL: 'https://acme.example/' })).toMatchObject({
    code: 0,
    lines: [''],
  });
  // There a proxy removes the path, and the short links would be among the pages again.
  expect(await loadHere({ ...mended, PUBLIC_URL: 'https://acme.example/l' })).toMatchObject({ code: 78 });
});

test.each<[string, Record<string, string>]>([
  ['WEBHOOK_TIMEOUT_SECONDS', { LEASE_SECONDS: '10', WEBHOOK_TIMEOUT_SECONDS: 'long' }],
  ['PUBLIC_URL', { SHORT_LINK_URL: 'http://127.0.0.1:3000', PUBLIC_URL: 'acme' }],
  ['PORT', { SHORT_LINK_URL: 'http://127.0.0.1:3000', PORT: 'many' }],
])('nothing is compared with a malformed %s', async (name, env) => {
  const { code, lines } = await loadHere(env);
  expect(code).toBe(78);
  expect(lines).toEqual(['A setting is wrong:', expect.stringMatching(`^  ${name} must be `)]);
});

test.each(['-1', '1.5', 'true', '1,10.0.0.0/8', '10.0.0.0/0', '10.0.0.0/8,', 'proxy.example'])(
  'TRUST_PROXY is neither a number of proxies nor a list of addresses in %j',
  async (value) => {
    const { code, lines } = await loadHere({ TRUST_PROXY: value });
    expect(code).toBe(78);
    expect(lines).toEqual(['A setting is wrong:', expect.stringMatching(/^ {2}TRUST_PROXY must be /)]);
  },
);

test.each([
  ['2', 2],
  ['loopback, 10.0.0.0/8,2001:db8::1', ['loopback', '10.0.0.0/8', '2001:db8::1']],
])('TRUST_PROXY may be %j', async (value, expected) => {
  const { code, lines, config } = await loadHere({ TRUST_PROXY: value });
  expect({ code, lines }).toEqual({ code: 0, lines: [''] });
  expect(config.TRUST_PROXY).toEqual(expected);
});

test.each([
  { SYSTEM_SENDER: 'Acme, Inc. <alerts@acme.example>', TEST_SENDER: 'try@acme' },
  { SYSTEM_SENDER: 'alerts@acme', TEST_SENDER: 'try..me@acme.example' },
])('senders that no email could have are told: %j', async (env) => {
  const { code, lines } = await loadHere(env);
  expect(code).toBe(78);
  expect(lines.map((line) => line.trim().split(' ')[0])).toEqual(['2', ...Object.keys(env)]);
});

test.each(['https://bounces.acme.example', 'bücher.example'])(
  'RETURN_PATH_DOMAIN is no domain in %j, which no relay would take in an address',
  async (value) => {
    const { code, lines } = await loadHere({ RETURN_PATH_DOMAIN: value });
    expect(code).toBe(78);
    expect(lines).toEqual([
      'A setting is wrong:',
      '  RETURN_PATH_DOMAIN must be a domain, for example RETURN_PATH_DOMAIN=bounces.example.com',
    ]);
  },
);

test('RETURN_PATH_DOMAIN is taken in lower case', async () => {
  const { code, config } = await loadHere({ RETURN_PATH_DOMAIN: 'Bounces.Acme.example' });
  expect([code, config.RETURN_PATH_DOMAIN]).toEqual([0, 'bounces.acme.example']);
});

test('two keys of SECRET_KEY with one id are refused, without the keys', async () => {
  const { code, lines } = await loadHere({ SECRET_KEY: `k1:${'a'.repeat(64)},k1:${'b'.repeat(64)}` });
  expect(code).toBe(78);
  expect(lines).toEqual([
    'A setting is wrong:',
    `  SECRET_KEY must have another id for each key, for example SECRET_KEY=k1:${'0123456789abcdef'.repeat(4)}`,
  ]);
});

test('a parameter of MYSQL_URL that the driver would ignore is refused, because it may have asked for TLS', async () => {
  const { code, lines } = await loadHere({
    MYSQL_URL: `mysql://root:${secret}@db/messaging?ssl-mode=REQUIRED`,
  });
  expect(code).toBe(78);
  expect(lines).toEqual([
    'A setting is wrong:',
    "  MYSQL_URL must have no parameters but ssl-ca and options of the driver mysql2, for example MYSQL_URL='mysql://user:password@mysql.example:3306/messaging?ssl-ca=/etc/ssl/certs/ca-certificates.crt'",
  ]);
});

test.each([
  ['MYSQL_URL', 'name a PEM file that can be read as ssl-ca', 'mysql://db/messaging?ssl-ca=/missing.pem'],
  ['REDIS_TLS_CA_FILE', 'be a PEM file that can be read', '/missing.pem'],
])('a file of %s that is not there is told as a fault of the setting', async (name, form, value) => {
  const { code, lines } = await loadHere({ [name]: value });
  expect(code).toBe(78);
  expect(lines).toEqual(['A setting is wrong:', expect.stringContaining(`  ${name} must ${form}, for `)]);
});

test('inbound does not start without a file of a certificate and its key, and says so without a stack', () => {
  expect(isCertificateFile('/missing.pem')).toBe(false);
  const settings = {
    MYSQL_URL: nowhere,
    SECRET_KEY: `k1:${'a'.repeat(64)}`,
    INBOUND_TLS_FILE: import.meta.filename,
  };
  expect(loadWith(settings, ['workers/inbound.ts'])).toEqual({
    code: 78,
    lines: [
      'A setting is wrong:',
      '  INBOUND_TLS_FILE must be a PEM file that can be read, with a certificate and its key, for example INBOUND_TLS_FILE=/etc/ssl/private/inbound.pem',
    ],
  });
});

test('a file of SMS_GATEWAYS that is not there is told like any other fault, without a stack', async () => {
  const { code, lines } = await loadHere({ SMS_GATEWAYS: '/etc/messaging/missing.json' });
  expect(code).toBe(78);
  expect(lines).toEqual([
    'A setting is wrong:',
    expect.stringMatching(
      /^ {2}SMS_GATEWAYS must be a list in JSON, or the path of a file that can be read, for example SMS_GATEWAYS='\[\{.*\}\]'$/,
    ),
  ]);
});

test.each<[string, Record<string, string>, string]>([
  [
    'JawsDB and Heroku',
    { JAWSDB_URL: 'mysql://u:p@jaws.example:3306/d', REDIS_TLS_URL: 'rediss://:p@heroku.example:6380' },
    'mysql://u:p@jaws.example:3306/d rediss://:p@heroku.example:6380',
  ],
  [
    'ClearDB, whose address our driver would warn of',
    {
      CLEARDB_DATABASE_URL: 'mysql://u:p@clear.example/d?reconnect=true',
      REDISCLOUD_URL: 'redis://:p@cloud.example:1',
    },
    'mysql://u:p@clear.example/d redis://:p@cloud.example:1',
  ],
  [
    'a host, beside our own',
    {
      JAWSDB_URL: 'mysql://u@jaws.example/d',
      MYSQL_URL: 'mysql://u@own.example/d',
      REDIS_TLS_URL: 'rediss://a.example',
      REDIS_URL: 'redis://own.example',
    },
    'mysql://u@own.example/d redis://own.example',
  ],
])('the databases of %s are found by the names of their add-ons', async (_host, env, expected) => {
  const { code, config } = await loadHere(env);
  expect([code, `${config.MYSQL_URL} ${config.REDIS_URL}`]).toEqual([0, expected]);
});

const processes: [string, string[]][] = [
  ['web', ['api/server.ts']],
  ['a worker', ['workers/main.ts', 'send-email']],
  ['inbound', ['workers/inbound.ts']],
];

test.each([...processes, ['a migration', ['scripts/setup/migrate.ts', 'up']] as const])(
  '%s that finds no database names the setting and the host, in one line',
  (_what, args) => {
    const { code, lines } = loadWith({ MYSQL_URL: nowhere, SECRET_KEY: `k1:${'a'.repeat(64)}` }, [...args]);
    expect(code).toBe(1);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain('MYSQL_URL: the database at 127.0.0.1:1 cannot be used (ECONNREFUSED)');
    expect(lines[0]).not.toContain(secret);
  },
);

test.each(processes)('%s does not start without SECRET_KEY, and says how to make one', (_what, args) => {
  expect(loadWith({ MYSQL_URL: nowhere }, args)).toEqual({
    code: 78,
    lines: [
      'A setting is wrong:',
      '  SECRET_KEY must be set, to what this prints: echo k$(date +%s):$(openssl rand -hex 32)',
    ],
  });
});
