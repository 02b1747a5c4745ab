import { beforeAll, expect, test } from 'vitest';
import { closeDatabase, query, transaction } from '../../../shared/db/client.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { atEnd } from '../../support/runner/at-end.ts';
import { selfSignedCertificateFiles } from '../../support/servers/certificate.ts';
import { startOwnMysql } from '../../support/servers/own-servers.ts';
import { startTcpProxy } from '../../support/servers/tcp-proxy.ts';

let mysql: Awaited<ReturnType<typeof startOwnMysql>>;
let second: Awaited<ReturnType<typeof startOwnMysql>>;
let own: URL;
/** A user of both servers. */
const twin = { username: 'twin', password: 'twin' };
let authority: string;
beforeAll(async () => {
  const { key, cert } = selfSignedCertificateFiles(['localhost']);
  authority = cert;
  mysql = await startOwnMysql({ options: [`--ssl-key=${key}`, `--ssl-cert=${cert}`] });
  own = new URL(mysql.url);
  second = await startOwnMysql();
  for (const server of [mysql, second]) {
    await server.query("CREATE USER 'twin'@'127.0.0.1' IDENTIFIED BY 'twin'");
    await server.query("GRANT SELECT, INSERT, CREATE, DROP ON *.* TO 'twin'@'127.0.0.1'");
  }
  atEnd(closeDatabase);
});

const nobody = '127.0.0.1:1';
const urlOf = (
  hosts: string[],
  { username, password }: Pick<URL, 'username' | 'password'> = own,
  search = '',
) => `mysql://${username}:${password}@${hosts.join(',')}/mysql${search}`;
async function usedPort(): Promise<number> {
  const [row] = await query<{ port: number }[]>('SELECT @@port AS port');
  return row!['port'];
}
async function use(url: string): Promise<void> {
  // First the address: work that other tests have left may open the pool again at any time.
  changeSettings({ MYSQL_URL: url });
  await closeDatabase();
}

test('of several servers the first that takes writes is used, and another once it turns read-only', async () => {
  const [ownPort, otherPort] = [Number(own.port), Number(new URL(second.url).port)];
  await use(urlOf([nobody, own.host, new URL(second.url).host], twin));
  expect(await usedPort()).toBe(ownPort);

  await mysql.query('SET GLOBAL read_only = 1');
  // The other server at once does the statement that this one refuses.
  await transaction(() => query('CREATE TABLE mysql.switched (id INT PRIMARY KEY)'));
  expect(await usedPort()).toBe(otherPort);
  expect(await second.query("SHOW TABLES FROM mysql LIKE 'switched'")).toHaveLength(1);
  await mysql.query('SET GLOBAL read_only = 0');
});

test('once a statement has had no answer in time, the next one goes to another server', async () => {
  const line = await startTcpProxy(mysql.url);
  changeSettings({ MYSQL_TIMEOUT_SECONDS: 1 });
  await use(urlOf([`127.0.0.1:${line.port}`, new URL(second.url).host], twin));
  expect(await usedPort()).toBe(Number(own.port));
  line.freeze();
  await expect(query('SELECT 1')).rejects.toThrow();
  changeSettings({ MYSQL_TIMEOUT_SECONDS: 30 });
  expect(await usedPort()).toBe(Number(new URL(second.url).port));
});

test('a server that stood still is asked again before it is used, as others may have gone on without it', async () => {
  const [ownPort, otherPort] = [Number(own.port), Number(new URL(second.url).port)];
  await use(urlOf([own.host, new URL(second.url).host], twin));
  await query('SELECT SLEEP(2.1)');
  expect(await usedPort()).toBe(ownPort);
  await mysql.query('SET GLOBAL read_only = 1');
  // A server that is only read-only still serves readers.
  expect(await usedPort()).toBe(ownPort);
  await Promise.all(Array.from({ length: 3 }, () => query('SELECT SLEEP(2.1)')));
  expect(await usedPort()).toBe(otherPort);
  await mysql.query('SET GLOBAL read_only = 0');
});

test('a server is known by the authority of ssl-ca, and refused without it', async () => {
  await use(urlOf([own.host], own, `?ssl-ca=${authority}`));
  const [row] = await query("SHOW STATUS LIKE 'Ssl_cipher'");
  expect(row!['Value']).not.toBe('');
  const { cert: other } = selfSignedCertificateFiles(['localhost']);
  await use(urlOf([own.host], own, `?ssl-ca=${other}`));
  await expect(query('SELECT 1')).rejects.toThrow();
});

// Shows F39
test('once new connections lead to another server, those that led to the one before serve nobody', async () => {
  const line = await startTcpProxy(mysql.url);
  await use(urlOf([`127.0.0.1:${line.port}`], twin));
  const portsOf = async (count: number) => {
    const all = Array.from({ length: count }, () =>
      query<{ port: number }[]>('SELECT @@port AS port, SLEEP(0.1)'),
    );
    return new Set((await Promise.all(all)).map(([row]) => row!.port));
  };
  expect(await portsOf(3)).toEqual(new Set([Number(own.port)]));
  // The three connections stay open, and the fourth leads to another server.
  line.redirect(second.url);
  await portsOf(4);
  expect(await portsOf(3)).toEqual(new Set([Number(new URL(second.url).port)]));
});

test('a member of Group Replication that is outside of its group is not used, a server without a group is', async () => {
  const third = await startOwnMysql();
  const narrow = { username: 'narrow', password: 'narrow' };
  await third.query("CREATE USER 'narrow'@'127.0.0.1' IDENTIFIED BY 'narrow'");
  await third.query("GRANT SELECT ON mysql.* TO 'narrow'@'127.0.0.1'");
  // MariaDB has no group replication.
  const isMember = await third
    .query(
      `INSTALL PLUGIN group_replication SONAME 'group_replication.so';
      SET GLOBAL group_replication_group_name = '7c2df6d0-ac51-4de1-a210-c6b93df877f0'`,
    )
    .then(
      () => true,
      () => false,
    );
  const { host, port } = new URL(third.url);
  const answer = () => query('SELECT 1').catch(({ cause }) => cause.message);
  const expected = (refusal: string) => (isMember ? expect.stringContaining(refusal) : [{ 1: 1 }]);
  await use(urlOf([host], narrow));
  expect(await answer()).toEqual(expected('GRANT SELECT ON performance_schema.replication_group_members'));
  if (isMember)
    await third.query("GRANT SELECT ON performance_schema.replication_group_members TO 'narrow'@'127.0.0.1'");
  expect(await answer()).toEqual(expected('not the primary of its group, but OFFLINE'));

  await third.query("CREATE USER 'twin'@'127.0.0.1' IDENTIFIED BY 'twin'");
  await third.query("GRANT SELECT, INSERT ON *.* TO 'twin'@'127.0.0.1'");
  await use(urlOf([host, own.host], twin));
  expect(await usedPort()).toBe(Number(isMember ? own.port : port));
});
