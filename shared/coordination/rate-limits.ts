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
  /** Unspent tokens of the last lease; the new lease renews them. */
  held: number;
  /** Unused tokens that the process gives back. */
  returned: number;
  /** Requests that wait for a token. They get the tokens that there are, and these count as spent. */
  waiting: number;
  /** Tokens that may soon be needed. They are lent only while the bucket has plenty. */
  want: number;
};
export type TokenGrant = { granted: number; left: number };

/** How long leased tokens may be spent. The tokens of a dead process are lost to the others for as long. */
export const leaseSeconds = 1;

// rate-limiter-flexible does not fit: its fixed windows let through twice the limit around their ends, it takes all
// tokens or none, and it makes one round trip for each request and limit.
//
// A bucket and its leases in all processes together never hold more than `burst` tokens, so in any stretch of time at
// most burst + rate * time is let through. A bucket without a key is full. So a key may expire once its bucket would
// be full again and its leases have ended.
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

/** Whether it makes sense to ask Redis. This is also true for a Redis that hangs. */
export function isReachable(): boolean {
  return producerConnection().status === 'ready';
}

/**
 * Leases tokens of all these buckets in one round trip. `holder` names the process that will spend them. Rejects when
 * Redis is away, or takes longer than a request should wait. Redis may still lend tokens to such a call; they are lost
 * until the lease ends.
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

/** Returns the answer of Redis; rejects when it takes longer than a request should wait for it. */
export function withinLimit<T>(answer: Promise<T>): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const giveUp = () => reject(new Error('Redis is too slow for a request to wait for it'));
  // setImmediate: an answer that came while this process was busy is read before `giveUp` runs.
  const timer = setTimeout(() => setImmediate(giveUp), config.RATE_LIMIT_WAIT_SECONDS * 1000);
  answer.then(resolve, reject).finally(() => clearTimeout(timer));
  return promise;
}
