import type { Connection } from './connection.ts';

/** Shard 0 is not for connections: the exact recount uses it. */
const shards = 32;
const shardOf = new WeakMap<Connection, number>();
let lastShard = Math.floor(Math.random() * shards);

/** Returns the own shard of a connection, so two commits at once for one workspace seldom wait for each other. */
export function shardFor(connection: Connection): number {
  let shard = shardOf.get(connection);
  if (shard === undefined) {
    lastShard = (lastShard % (shards - 1)) + 1;
    shard = lastShard;
    shardOf.set(connection, shard);
  }
  return shard;
}
