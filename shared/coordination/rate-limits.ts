import { config } from '../config/config.ts';
import { producerConnection, type RedisConnection } from '../queue/queue.ts';

/**
 * Token buckets in Redis, shared by all processes. A process takes a few tokens at a time, spends them by itself and
 * gives back what it did not need, so that most requests cost no round trip.
 */
export type Limit = { kind: 'key' | 'workspace' | 'address' | 'gateway'; perSecond: number; burst: number };

export type Ask = {
  limit: Limit;
  id: string;
  /** Tokens of the last lease that are still there: the new lease renews them. */
  held: number;
  /** Tokens that nobody needed. */
  returned: number;
  /** Requests that wait for a token. They get what there is, and it counts as spent. */
  waiting: number;
  /** Tokens that could soon be of use. They are lent while there are plenty. */
  want: number;
};
export type TokenGrant = { granted: number; left: number };

/** How long leased tokens may be spent: what a dead process held is lost to the others for as long. */
export const leaseSeconds = 1;

// rate-limiter-flexible has fixed windows, which let through twice the limit around their ends, takes all or nothing,
// and makes one round trip for each request and limit.
//
// Tokens that are lent to others count as full: a bucket never holds more than `burst`, the leases in all processes
// included, so that in any stretch of time at most burst + rate * time is let through. A bucket that is away is full,
// so it may go once it would be full again and its leases have ended.
const script = `
local holder, life = ARGV[1], tonumber(ARGV[2])
local time = redis.call('TIME')
local now = time[1] + time[2] / 1e6
local answer = {}
for i, key in ipairs(KEYS) do
  local rate, burst, held, returned, waiting, want = unpack(ARGV, 6 * i - 3, 6 * i + 2)
  rate, burst, held, waiting = tonumber(rate), tonumber(burst), tonumber(held), tonumber(waiting)
  local level, at, lent = burst, now, 0
  local fields = redis.call('HGETALL', key)
  for j = 1, #fields, 2 do
    local name, value = fields[j], fields[j + 1]
    if name == 'level' then level = tonumber(value)
    elseif name == 'at' then at = tonumber(value)
    elseif name ~= holder then
      local tokens, ending = value:match('(%S+) (%S+)')
      if tonumber(ending) > now then lent = lent + tokens else redis.call('HDEL', key, name) end
    end
  end
  level = level + math.max(0, now - at) * rate + returned
  level = math.max(0, math.min(level, burst - lent - held))
  local plenty = math.min(tonumber(want), math.floor(level / 10))
  local granted = math.min(math.floor(level), math.max(waiting, plenty))
  level = level - granted
  redis.call('HSET', key, 'level', string.format('%.6f', level), 'at', string.format('%.6f', now),
    holder, string.format('%d %.6f', held + granted - math.min(waiting, granted), now + life))
  redis.call('PEXPIRE', key, math.ceil(((burst - level) / rate + life) * 1000))
  answer[2 * i - 1], answer[2 * i] = granted, tostring(level)
end
return answer`;

type Leasing = {
  leaseTokens: (keyCount: number, ...keysAndValues: (string | number)[]) => Promise<unknown[]>;
};
const prepared = new WeakSet<RedisConnection>();

function leasing(connection: RedisConnection): Leasing {
  if (!prepared.has(connection)) {
    connection.defineCommand('leaseTokens', { lua: script });
    prepared.add(connection);
  }
  return connection as unknown as Leasing;
}

/** Whether it makes sense to ask Redis. One that hangs looks well, too. */
export function isReachable(): boolean {
  return producerConnection().status === 'ready';
}

/**
 * One round trip for all of the buckets. `holder` names who will spend the tokens. Rejects when Redis is away or takes
 * longer than a request should wait for it; what such a call took all the same is lost when its lease ends.
 */
export async function leaseTokens(
  holder: string,
  asks: readonly Ask[],
  lifeSeconds = leaseSeconds,
): Promise<TokenGrant[]> {
  const keys = asks.map(({ limit, id }) => `${config.QUEUE_PREFIX}:rate:${limit.kind}:${id}`);
  const values = asks.flatMap(({ limit: { perSecond, burst }, ...ask }) => [
    perSecond,
    burst,
    ask.held,
    ask.returned,
    ask.waiting,
    ask.want,
  ]);
  const call = [...keys, holder, lifeSeconds, ...values];
  const answer = await withinLimit(leasing(producerConnection()).leaseTokens(keys.length, ...call));
  return asks.map((_ask, index) => ({
    granted: Number(answer[2 * index]),
    left: Number(answer[2 * index + 1]),
  }));
}

/** Rejects when Redis takes longer than a request should wait for it. */
export function withinLimit<T>(answer: Promise<T>): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const giveUp = () => reject(new Error('Redis is too slow for a request to wait for it'));
  // An answer that came while this process was busy is read before the second of these runs.
  const timer = setTimeout(() => setImmediate(giveUp), config.RATE_LIMIT_WAIT_SECONDS * 1000);
  answer.then(resolve, reject).finally(() => clearTimeout(timer));
  return promise;
}
