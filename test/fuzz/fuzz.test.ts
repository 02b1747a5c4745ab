// @slow: it fuzzes each parser and a running platform.
import { expect, test } from 'vitest';
import { startProcess } from '../support/processes/processes.ts';
import { inputOf } from './inputs.ts';
import { faultOf } from './judge.ts';
import { optionsOf, repetition } from './options.ts';
import { errorsIn } from './platform.ts';
import { targets } from './targets/index.ts';
import { faultOfAnswer, faultOfReplies, filled, isToRepeat, replyCodeOf } from './wire.ts';

test('the seed decides every input: the same one makes the same bytes, another one others', () => {
  const inputs = (seed: number) =>
    targets.map((target) => Array.from({ length: 20 }, (_, index) => inputOf(seed, target, index)));
  expect(inputs(7)).toEqual(inputs(7));
  expect(inputs(7)).not.toEqual(inputs(8));
});

test('a parser that throws, or takes long, is found', async () => {
  const target = { name: 'bad', grammar: () => '', mostBytes: 10 };
  const thrown = await faultOf(
    { ...target, read: (bytes) => JSON.parse(bytes.toString()) as unknown },
    Buffer.from('{'),
  );
  expect(thrown).toMatch(/^SyntaxError/);
  const slow = { ...target, mostMs: 5, read: () => /^(a+)+$/.test(`${'a'.repeat(21)}b`) };
  expect(await faultOf(slow, Buffer.alloc(0))).toMatch(/CPU time, and may take 5 ms$/);
  expect(await faultOf({ ...target, read: () => null }, Buffer.alloc(0))).toBeNull();
});

test('an answer of 5xx is found, and so is a mail server that wants the message again', () => {
  expect(faultOfAnswer('HTTP/1.1 500 Internal Server Error\r\n\r\n')).toMatch(/^answered HTTP\/1.1 500/);
  expect(faultOfAnswer('HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 503 Busy\r\n\r\n')).not.toBeNull();
  for (const answer of ['HTTP/1.1 413 Too Large\r\n\r\nHTTP/1.1 500', 'HTTP/1.1 100 Continue\r\n\r\n', ''])
    expect(faultOfAnswer(answer)).toBeNull();
  expect(isToRepeat(faultOfAnswer('HTTP/1.1 503 Busy\r\nRetry-After: 1\r\n\r\n')!)).toBe(true);
  expect(isToRepeat(faultOfAnswer('HTTP/1.1 503 Busy\r\n\r\n')!)).toBe(false);
  expect(isToRepeat(faultOfAnswer('HTTP/1.1 500 No\r\nRetry-After: 1\r\n\r\n')!)).toBe(false);
  const replies = '220 a ESMTP\r\n250 Hello\r\n354 Go on\r\n451 4.3.0 Try again later\r\n221 Bye\r\n';
  expect([faultOfReplies(replies), replyCodeOf(replies)]).toEqual([
    'answered 451 4.3.0 Try again later',
    '451',
  ]);
  expect(faultOfReplies(replies.replace('451', '554'))).toBeNull();
});

test('lines of errors in the log are found', () => {
  const line = (level: number) => JSON.stringify({ level, msg: 'a line', err: { message: 'A fault' } });
  expect(errorsIn(`${line(30)}\nno JSON\n${line(50)}\n${line(60)}\n`)).toEqual([
    'a line: A fault',
    'a line: A fault',
  ]);
});

test('what only the run knows is filled in, and the length is right again where it was right', () => {
  const values = new Map([['key', 'msg_secret']]);
  const request = (length: number) =>
    Buffer.from(`POST / HTTP/1.1\r\nContent-Length: ${length}\r\n\r\n{key}`);
  expect(filled(request(5), values).toString()).toMatch(/Content-Length: 10\r\n\r\nmsg_secret$/);
  expect(filled(request(7), values).toString()).toMatch(/Content-Length: 7\r\n\r\nmsg_secret$/);
});

// Shows that all of it works together; for what it finds the long form is made (scripts/test fuzz).
test('a short run: every parser and the platform take what it makes', async () => {
  const fuzz = startProcess('test/fuzz/main.ts', ['--inputs', '30', '--seed', '3']);
  const { code } = await fuzz.exited;
  expect(code, fuzz.output()).toBe(0);
  expect(fuzz.output()).toContain(`${30 * targets.length} inputs for ${targets.length} parsers`);
  expect(fuzz.output()).toMatch(
    /[2-9] finds of earlier runs and 30 inputs for the platform; .*http 20[01]: \d+.*smtp 250: \d+/,
  );
  expect(fuzz.output()).toContain('Nothing was found.');
}, 300_000);

test.each([
  ['--minutes 20 --seed 7', 'scripts/test fuzz --minutes 20 --seed 7'],
  ['--seed=7 --target mail', 'scripts/test fuzz --minutes 20 --seed 7 --target mail'],
  ['--inputs 5 --seed 0', 'scripts/test fuzz --inputs 5 --seed 0'],
])('the command that repeats a run makes the same one: %s', (args, command) => {
  const options = optionsOf(args.split(' '));
  expect(repetition(options)).toBe(command);
  expect(optionsOf(command.split(' ').slice(2))).toEqual(options);
});

test.each([
  ['--seed x', 'must be positive numbers'],
  ['--minutes 0', 'must be positive numbers'],
  ['--inputs=-1', 'must be positive numbers'],
  ['--fast', "Unknown option '--fast'"],
])('what no run can be made of is refused: %s', (args, reason) => {
  expect(() => optionsOf(args.split(' '))).toThrow(reason);
});
