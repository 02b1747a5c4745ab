import { expect, test } from 'vitest';
import { contentDigest, verifyContentDigest } from '../../../shared/formats/signatures/content-digest.ts';

const body = '{"hello": "world"}';
const sha256 = 'sha-256=:X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE=:';
const sha512 =
  'sha-512=:WZDPaVn/7XgHaAy8pmojAkGWoRx2UFChF41A2svX+TaPm+AbwAgBWnrIiYllu7BNNyealdVLvRwEmTHWXvJwew==:';
const otherSha256 = contentDigest('other');

test('the digests of the examples in RFC 9530 and RFC 9421 come out', () => {
  expect(contentDigest(body)).toBe(sha256);
  expect(contentDigest(`${body}\n`)).toBe('sha-256=:RK/0qy18MlBSVnWgjwz6lZEWjP/lF5HF9bvEF8FabDg=:');
  expect(verifyContentDigest(sha512, body)).toBe(true);
  expect(
    verifyContentDigest(
      'sha-512=:YMAam51Jz/jOATT6/zvHrLVgOYTGFy1d6GJiOHTohq4yP+pgk4vf2aCsyRZOtw8MjkM7iw7yZ/WkppmM44T3qg==:',
      `${body}\n`,
    ),
  ).toBe(true);
});

test('text counts as its UTF-8 bytes', () => {
  expect(contentDigest('£ é 😀')).toBe(contentDigest(Buffer.from('£ é 😀')));
});

test.each([
  ['sha-256', sha256],
  ['sha-512', sha512],
  ['both', `${sha256}, ${sha512}`],
  ['with parameters and blanks', `  ${sha256};note="x",   ${sha512}  `],
  ['beside one that is not recognised', `md5=:AAAA:, ${sha256}`],
])('a right digest is accepted: %s', (_name, header) => {
  expect(verifyContentDigest(header, Buffer.from(body))).toBe(true);
});

test.each([
  ['of other bytes', otherSha256],
  ['one of two is wrong', `${sha512}, ${otherSha256}`],
  ['none is recognised', 'md5=:XUFAKrxLKna5cZ2REBfFkg==:'],
  ['empty', ''],
  ['no dictionary', 'sha-256=:X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE='],
  ['no byte sequence', 'sha-256="X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE="'],
  ['a flag', 'sha-256'],
  ['an inner list', 'sha-256=(:X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE=:)'],
  ['cut short', 'sha-256=:X48E9qOokqqrvdts8nOJRA==:'],
  ['no bytes', 'sha-256=::'],
  ['another name for the algorithm', sha256.replace('sha-256', 'SHA-256')],
])('a digest is refused: %s', (_name, header) => {
  expect(verifyContentDigest(header, body)).toBe(false);
});
