import mysql from 'mysql2/promise';
import { findGalera } from '../../../scripts/setup/servers/programs.ts';
import { type Node, startGalera } from '../../support/servers/clusters/galera.ts';
import { startGroupReplication } from '../../support/servers/clusters/group-replication.ts';
import { startMysqlProxy } from '../../support/servers/clusters/haproxy.ts';
import { type OwnMysql, type OwnServer, ordinaryUser } from '../../support/servers/own-servers.ts';
import { addressOf } from '../../support/servers/tcp-proxy.ts';
import { waitFor } from '../../support/time/wait-for.ts';

/** A node of a group of servers that all have the same rows. */
export type Member = OwnMysql & Pick<Node, 'untilJoined'>;

/** Several MySQL, of which one is written to at a time. */
export type Database = {
  version: string;
  nodes: Member[];
  /** One proxy for each machine, which leads its processes to the writer; empty for a form without proxies. */
  proxies: OwnServer[];
  /** MYSQL_URL of the processes on that machine, counted from 1, as a user that read_only binds. */
  urlOf: (machine: number) => string;
  /** MYSQL_URL as root. */
  direct: string;
  /** The node that is written to now. */
  writer: () => Promise<Member>;
  /** Cuts the node off from the other nodes but not from its clients, where that is possible; returns the undo. */
  cutOff?: (node: Member) => Promise<() => Promise<void>>;
  /** Makes a planned switch, after which that node can be stopped; returns the undo. */
  switchFrom: (writer: Member) => Promise<() => Promise<void>>;
};

// The limit is long because a busy machine is slow.
const limit = { timeoutMs: 120_000 };

const through = (url: string, server: OwnServer): string => {
  const result = new URL(url);
  result.port = String(addressOf(server.url).port);
  return result.href;
};

/** Starts Galera behind a HAProxy on each of two machines. */
export async function galeraBehindHaproxy(): Promise<Database> {
  const nodes = await startGalera();
  const client = await findGalera(() => undefined);
  const proxies = await Promise.all([1, 2].map(() => startMysqlProxy(nodes, { client })));
  const [first] = nodes as [Node];
  const [{ version }] = await first.query('SELECT VERSION() AS version');
  await first.query(`CREATE DATABASE ${new URL(first.url).pathname.slice(1)}`);
  const ordinary = await ordinaryUser(first);
  const direct = through(first.url, proxies[0]!);
  for (const proxy of proxies)
    await waitFor('the proxy leads to a node', () => portBehind(through(first.url, proxy)), limit);
  return {
    version: `${version}, ${nodes.length} nodes of Galera behind HAProxy`,
    nodes,
    proxies,
    urlOf: (machine) => through(ordinary, proxies[(machine - 1) % proxies.length]!),
    direct,
    async writer() {
      const port = await portBehind(direct);
      return nodes.find(({ url }) => addressOf(url).port === port)!;
    },
    async cutOff(node) {
      await (node as Node).cutOff();
      return (node as Node).rejoin;
    },
    async switchFrom(writer) {
      for (const proxy of proxies) await proxy.lead('away', writer);
      return async () => {
        for (const proxy of proxies) await proxy.lead('back', writer);
      };
    },
  };
}

/** Starts Group Replication. Only its primary is not read-only, and the platform has to find that member. */
export async function groupReplication(): Promise<Database> {
  const nodes = await startGroupReplication();
  const [first] = nodes as [(typeof nodes)[number]];
  const [{ version }] = await first.query('SELECT VERSION() AS version');
  await first.query(`CREATE DATABASE ${new URL(first.url).pathname.slice(1)}`);
  const hosts = nodes.map(({ url }) => new URL(url).host).join(',');
  const ofAll = (url: string) => url.replace(new URL(url).host, hosts);
  const ordinary = ofAll(await ordinaryUser(first));
  return {
    version: `MySQL ${version}, ${nodes.length} members of a group`,
    nodes,
    proxies: [],
    urlOf: () => ordinary,
    direct: ofAll(first.url),
    writer: () =>
      waitFor(
        'a member is the primary',
        async () => {
          for (const node of nodes) if (await node.isPrimary()) return node;
          return undefined;
        },
        limit,
      ),
    async switchFrom(writer) {
      const others = nodes.filter((node) => node.url !== writer.url);
      const backlogs = await Promise.all(others.map((node) => node.backlog()));
      await others[backlogs.indexOf(Math.min(...backlogs))]!.becomePrimary();
      return async () => undefined;
    },
  };
}

async function portBehind(url: string): Promise<number> {
  const connection = await mysql.createConnection({ uri: url, connectTimeout: 10_000 });
  try {
    const [rows] = await connection.query<mysql.RowDataPacket[]>('SELECT @@port AS port');
    return rows[0]!['port'];
  } finally {
    connection.destroy();
  }
}
