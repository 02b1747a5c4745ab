import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { config } from '../../shared/config/config.ts';
import { folder } from './run-program.ts';

const textOf = (name: string) => readFileSync(join(folder, name), 'utf8');

test('the guide puts every file that HAProxy reads where it looks for it, the check as a program', () => {
  const guide = textOf('several-machines.md');
  expect(guide).toContain('\ninstall -m 755 check-mysql.sh /etc/haproxy/\n');
  expect(guide).toMatch(
    /\ninstall -m 600 \/dev\/stdin \/etc\/haproxy\/check\.cnf <<'END'\n\[client\]\nuser=.+\npassword=.+\nEND\n/,
  );
  expect(textOf('haproxy.cfg')).toContain('external-check command /etc/haproxy/check-mysql.sh\n');
  expect(textOf('check-mysql.sh')).toContain('--defaults-file=/etc/haproxy/check.cnf ');
});

test('the socket by which the guide switches servers is one that its HAProxy has, and may be told to', () => {
  const [, socket] = /^ {2}stats socket (\S+) mode 600 level admin$/m.exec(textOf('haproxy.cfg')) ?? [];
  expect(socket).toBeDefined();
  expect(textOf('several-machines.md')).toContain(`\`${socket}\``);
});

test('every server that the guide switches is one of its HAProxy', () => {
  const sections = textOf('haproxy.cfg')
    .split(/^listen /m)
    .slice(1);
  const servers = sections.flatMap((section) =>
    [...section.matchAll(/^ {2}server (\S+) /gm)].map(([, name]) => `${section.split(/\s/)[0]}/${name}`),
  );
  const switched = [...textOf('several-machines.md').matchAll(/ server (\S+\/\S+?)(?= state |`)/g)];
  const names = switched.map(([, name]) => name);
  expect(names).toContain('web/web1');
  expect(servers).toEqual(expect.arrayContaining(names));
});

test('HAProxy leads to another process what one that ends refuses, and cuts no statement of a long migration', () => {
  const sections = textOf('haproxy.cfg').split(/^(?=global|defaults|listen)/m);
  const sectionOf = (name: string) =>
    sections.find((section) => section.startsWith(`${name}\n`) || section.startsWith(`${name} `));
  expect(sectionOf('listen web')).toContain('\n  option redispatch 1\n');
  expect(sectionOf('defaults mysql')).toMatch(/\n {2}timeout client 24h\n {2}timeout server 24h\n/);
});

test('every container that the guide starts gets the time that a process takes to stop', () => {
  const starts = textOf('deploy.md').match(/^\$ docker run -d .*$/gm) ?? [];
  expect(starts.length).toBeGreaterThan(1);
  for (const start of starts) {
    const [, seconds] = /--stop-timeout (\d+) /.exec(start) ?? [];
    expect([start, Number(seconds) > config.SHUTDOWN_SECONDS]).toEqual([start, true]);
  }
});

test('the unit starts again for as long as it takes, with the Node of the packages and time to stop', () => {
  const [, unit = ''] = /```ini\n([^]*?)```/.exec(textOf('deploy.md')) ?? [];
  const lines = unit.split('\n');
  const sectionOf = (line: string) =>
    lines.slice(0, lines.indexOf(line)).findLast((each) => each.startsWith('['));
  // With the limits of systemd, five starts within 10 seconds without MySQL are the last ones.
  expect(sectionOf('StartLimitIntervalSec=0')).toBe('[Unit]');
  expect(sectionOf('Restart=always')).toBe('[Service]');
  expect(sectionOf('RestartSec=2')).toBe('[Service]');
  const [, node = ''] = /^ExecStart=\/srv\/messaging\/current\/(\S+) /m.exec(unit) ?? [];
  const { packages } = JSON.parse(readFileSync(join(folder, '../../../package-lock.json'), 'utf8'));
  expect(packages[node.replace(/\/bin\/node$/, '')]).toMatchObject({
    version: expect.stringMatching(/^24\./),
    optional: true,
  });
  expect(Number(/^TimeoutStopSec=(\d+)$/m.exec(unit)?.[1])).toBeGreaterThan(config.SHUTDOWN_SECONDS);
});
