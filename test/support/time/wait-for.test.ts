import { expect, test } from 'vitest';
import { waitFor } from './wait-for.ts';

test('it returns the first truthy answer', async () => {
  const answers = [undefined, null, 0, '', false, 'here', 'too late'];
  expect(await waitFor('something is there', () => answers.shift())).toBe('here');
  expect(answers).toEqual(['too late']);
});

test('an error means not yet', async () => {
  let asked = 0;
  const ask = async () => {
    asked += 1;
    expect(asked).toBe(3);
    return asked;
  };
  expect(await waitFor('it is asked three times', ask)).toBe(3);
});

test('in vain it says what was waited for and what was seen last', async () => {
  const waiting = waitFor('pigs fly', () => false, { timeoutMs: 1 });
  await expect(waiting).rejects.toThrow('Waited 1 ms in vain: pigs fly. Last: false');
  const failing = waitFor('pigs fly', () => Promise.reject(new Error('no wings')), { timeoutMs: 1 });
  await expect(failing).rejects.toThrow('pigs fly. Last: no wings');
});
