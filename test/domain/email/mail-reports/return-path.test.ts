import { describe, expect, test } from 'vitest';
import { makeReturnPath, readReturnPath } from '../../../../shared/domain/email/mail-reports/return-path.ts';
import { newId } from '../../../../shared/formats/ids.ts';

const host = 'bounce.acme.example';
const emailId = newId('email', new Date());
const address = makeReturnPath(emailId, host);

describe('the return path of an email', () => {
  test('leads back to its email, whatever host and case it comes with', () => {
    expect(readReturnPath(address)).toBe(emailId);
    expect(readReturnPath(address.toUpperCase())).toBe(emailId);
    expect(readReturnPath(address.replace(host, 'other.example'))).toBe(emailId);
  });

  test('is the same at every attempt and fits an SMTP local part', () => {
    expect(makeReturnPath(emailId, host)).toBe(address);
    const [local, domain] = address.split('@');
    expect(domain).toBe(host);
    expect(local!.length).toBeLessThanOrEqual(64);
    expect(local).toMatch(/^[a-z0-9+]+$/);
  });

  test('made for one email is good for no other', () => {
    const other = newId('email', new Date());
    const forged = address.replace(emailId.slice(6), other.slice(6));
    expect(forged).not.toBe(address);
    expect(readReturnPath(forged)).toBeNull();
  });

  test('with any character changed is none', () => {
    const end = address.indexOf('@');
    for (let index = 0; index < end; index += 1) {
      const changed = address[index] === '0' ? '1' : '0';
      expect(
        readReturnPath(address.slice(0, index) + changed + address.slice(index + 1)),
        `${index}`,
      ).toBeNull();
    }
  });

  test.each([
    ['nothing', ''],
    ['no host', address.slice(0, address.indexOf('@'))],
    ['a plain address', `bounce@${host}`],
    ['half a token', `bounce+${emailId.slice(6)}@${host}`],
    ['a longer token', address.replace('@', '0@')],
    ['something before it', `x${address}`],
    ['a NUL at the end', address.replace('@', '\0@')],
    ['a letter that no id has', address.replace(/.@/, 'u@')],
  ])('%s is none', (_name, text) => {
    expect(readReturnPath(text)).toBeNull();
  });
});
