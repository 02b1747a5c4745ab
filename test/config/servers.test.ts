import { expect, test } from 'vitest';
import { hasKnownParameters, isRedisAddress, parseServers, placeOf } from '../../shared/config/servers.ts';

test.each([
  ['redis://127.0.0.1:6379', true],
  ['rediss://:secret@redis.example:6380/2', true],
  ['redis+sentinel://:p%40ss@one:26379,two,[::1]:26381/mail?sentinelPassword=other', true],
  ['rediss+cluster://user:pass@one:7000,two:7001', true],
  ['redis://one:6379,two:6379', false],
  ['redis+sentinel://one:26379', false],
  ['redis+cluster://one:70000', false],
  ['redis+cluster://one,,two', false],
  ['redis+cluster://a%zz@one', false],
  ['redis+other://one/mail', false],
  ['http://one', false],
  ['127.0.0.1:6379', false],
])('%s names a Redis: %j', (address, isOne) => {
  expect(isRedisAddress(address)).toBe(isOne);
});

test.each([
  ['', true],
  ['?ssl-ca=/ca.pem', true],
  ['?ssl={"rejectUnauthorized":false}&connectTimeout=5000', true],
  ['?ssl-mode=REQUIRED', false],
  ['?ssl_ca=/ca.pem', false],
  ['?connectTimeout=5000&useSSL=true', false],
])('the driver of MySQL heeds the parameters %s: %j', (parameters, isHeeded) => {
  expect(hasKnownParameters(`mysql://user@one,two/messaging${parameters}`)).toBe(isHeeded);
});

test('an address of several servers is read with all that it has', () => {
  const address = 'redis+sentinel://user:p%40s:s@one:26379,two,[::1]:26381/mail?sentinelPassword=other';
  const { search, ...servers } = parseServers(address)!;
  expect(servers).toEqual({
    scheme: 'redis+sentinel',
    username: 'user',
    password: 'p@s:s',
    hosts: [
      { host: 'one', port: 26_379 },
      { host: 'two', port: undefined },
      { host: '::1', port: 26_381 },
    ],
    path: 'mail',
  });
  expect(search.get('sentinelPassword')).toBe('other');
});

test('the place of servers says nothing of user and password', () => {
  expect(placeOf('mysql://root:secret@db:3306/messaging?x=secret')).toBe('db:3306');
  expect(placeOf('redis+cluster://:secret@one:7000,two')).toBe('one:7000,two');
  expect(placeOf('mysql://root:sec@ret@db/messaging')).toBe('db');
});
