import type { Connection } from './connection.ts';

/** The first is for whoever counts exactly. */
const shards = 32;
const shardOf = new WeakMap<Connection, number>();
let lastShard = Math.floor(Math.random() * shards);

/** Its own for each connection of a process, so that two that commit at once for one owner wait for each other seldom. */
export function shardFor(connection: Connection): number {
  let shard = shardOf.get(connection);
  if (shard === undefined) {
    lastShard = (lastShard % (shards - 1)) + 1;
    shard = lastShard;
    shardOf.set(connection, shard);
  }
  return shard;
}
