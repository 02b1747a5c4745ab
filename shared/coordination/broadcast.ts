import type { Redis } from 'ioredis';
import { logger } from '../common/logger.ts';
import { config } from '../config/config.ts';
import { afterCommit } from '../db/client.ts';
import { connectToListen } from '../queue/connection.ts';
import { producerConnection } from '../queue/queue.ts';

type Listener = {
  /** This record has changed. */
  changed: (id: string) => void;
  /** Any record may have changed, because this process did not listen for a while. */
  missed: () => void;
};

const listeners = new Map<string, Listener[]>();

/**
 * Calls the listener for every change that a process announces under this topic, from `openBroadcast` on. Changes of
 * this process itself are always heard.
 */
export function listen(topic: string, listener: Listener): void {
  listeners.set(topic, [...(listeners.get(topic) ?? []), listener]);
}

/**
 * Tells every process that a record has changed or is gone, once the transaction has committed. Best effort: the call
 * neither throws nor delays the caller, and while Redis is away the other processes hear nothing. So code that relies
 * on it must also forget records by itself after a time.
 */
export function announce(topic: string, id: string): void {
  afterCommit(() => {
    notifyListeners(topic, id);
    producerConnection()
      .publish(channel(), `${topic} ${id}`)
      .catch((error) =>
        logger.debug({ err: error, topic }, 'a change could not be announced to the other processes'),
      );
  });
}

function channel(): string {
  return `${config.QUEUE_PREFIX}:changes`;
}

function notifyListeners(topic: string, id: string): void {
  for (const { changed } of listeners.get(topic) ?? []) changed(id);
}

// A dead connection is detected by its silence: there is no answer to the heartbeat.
const heartbeatMs = 2_000;
const silenceMs = 2_000;

let subscriber: { connection: Redis; heartbeat: NodeJS.Timeout } | undefined;

/** Begins to listen to the other processes, over a connection of its own, which reconnects by itself. */
export function openBroadcast(): void {
  if (subscriber) return;
  const connection = connectToListen({
    enableOfflineQueue: false,
    autoResubscribe: false,
    autoResendUnfulfilledCommands: false,
    connectTimeout: 2_000,
    socketTimeout: silenceMs,
    retryStrategy: (attempt) => Math.min(attempt * 100, 1_000),
  });
  connection
    .on('message', (_channel, message: string) => {
      const space = message.indexOf(' ');
      notifyListeners(message.slice(0, space), message.slice(space + 1));
    })
    .on('ready', () => void subscribe(connection));
  const heartbeat = setInterval(() => void connection.ping().catch(() => undefined), heartbeatMs).unref();
  subscriber = { connection, heartbeat };
}

async function subscribe(connection: Redis): Promise<void> {
  try {
    await connection.subscribe(channel());
    // This must come last: a record that is read again before the subscription works could become stale unnoticed.
    for (const { missed } of [...listeners.values()].flat()) missed();
  } catch (error) {
    logger.debug({ err: error }, 'the changes of other processes cannot be received yet');
    if (subscriber?.connection === connection) connection.disconnect(true);
  }
}

export function closeBroadcast(): void {
  if (!subscriber) return;
  clearInterval(subscriber.heartbeat);
  subscriber.connection.disconnect();
  subscriber = undefined;
}
