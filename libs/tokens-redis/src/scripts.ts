/**
 * The scripts of the token store. Redis runs each in one step, by its own clock. All may be repeated: a call whose
 * answer was lost finds its own effects when repeated, and applies to the same ids again.
 *
 * deduplication key   "p<id>": pending, or "d<id>": done, for ten minutes
 * lane                hash: `server`, `startedAt` and `count` of its rate window, and for each id whose slot is unused the
 *                     start of the window that its token was counted in, "" without a rate
 * slots of a lane     sorted set: the ids that hold one, each scored with the end of its lease
 *
 * A lane is known on the server on which it was restored: `server` is the run id, another one after each start. So a
 * Redis that restarts from its disk, which may lack its last second, or a replica that takes over with less, is
 * restored from the records before it grants.
 *
 * Each call that makes a key gives it an end; the two keys of a lane have the same end, so that no lane is known
 * without its slots. A million flow keys of a minute ago take no memory.
 */
import { limits, skewMsMax } from "@posthaste/domain";
import { script } from "./link/connection.ts";

/** A lane that is not used is forgotten with the leases of its slots, and restored from the records when it is next in use. */
const laneMs = 2 * limits.leaseMs;
/** A lane with an open window is kept until the window ends, but no longer than this: the rest of a long window is in the lane's row. */
export const laneMsMax = 3_600_000;
/** One call handles this many ended slots; further ones count as taken until the next call. */
const endedMax = 1_000;

/**
 * A time that is further ahead than its own length is over, as in `isOver` of the domain: Redis keeps the ends of
 * keys, too, by the time of its host, which may have been ahead and set back.
 *
 * `ask` answers one question: `key`, and `slots` if a question has two keys; its arguments come by `take`.
 */
const forEachQuestion = (keys: 1 | 2, ask: string) =>
  script(`
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local server = ARGV[1]
local at = 1
local function take() at = at + 1 return ARGV[at] end
local function number() return tonumber(take()) end
local function ids()
  local all = {}
  for i = 1, number() do all[i] = take() end
  return all
end
local function isAhead(at, length) return at > now + length + ${skewMsMax} end
local function held(key, length)
  if redis.call('PTTL', key) > length + ${skewMsMax} then return false end
  return redis.call('GET', key)
end
local function windowOf(key)
  local window = redis.call('HMGET', key, 'startedAt', 'count')
  return tonumber(window[1]), tonumber(window[2])
end
local function keep(key, slots, windowEnds)
  local windowMs = math.min((windowEnds or now) - now, ${laneMsMax})
  local left = math.max(${laneMs}, windowMs, math.min(redis.call('PTTL', key), ${laneMsMax}))
  redis.call('PEXPIRE', key, left)
  redis.call('PEXPIRE', slots, left)
end
local function hold(key, slots, id)
  redis.call('ZADD', slots, now + ${limits.leaseMs}, id)
  redis.call('HDEL', key, id)
end
local function drop(key, slots, id)
  redis.call('ZREM', slots, id)
  local countedIn = redis.call('HGET', key, id)
  if not countedIn then return end
  redis.call('HDEL', key, id)
  local startedAt, count = windowOf(key)
  if startedAt and tonumber(countedIn) == startedAt and count > 0 then redis.call('HSET', key, 'count', count - 1) end
end
local function ended(slots)
  local function between(from, to) return redis.call('ZRANGEBYSCORE', slots, from, to, 'LIMIT', 0, ${endedMax}) end
  local ahead = between('(' .. string.format('%.0f', now + ${limits.leaseMs + skewMsMax}), '+inf')
  if #ahead > 0 then return ahead end
  return between('-inf', now)
end
local function ask(key, slots)
${ask}
end
local answers = {}
for i = 1, #KEYS, ${keys} do answers[#answers + 1] = ask(KEYS[i], KEYS[i + 1]) end
return answers`);

/** id, and the id that the key may still name → the key's value if another id has it, or "" when it is the claimer's. */
export const claim = forEachQuestion(
  1,
  `
  local mine, instead = 'p' .. take(), take()
  local other = held(key, ${limits.deduplicationMs})
  local isGone = instead ~= '' and other and string.sub(other, 2) == instead
  if other and other ~= mine and not isGone then return other end
  redis.call('SET', key, mine, 'PX', ${limits.deduplicationPendingMsMax})
  return ''`,
);

/** id → 1. Also sets an expired key, since its record exists. */
export const confirm = forEachQuestion(
  1,
  `
  local id = take()
  local known = held(key, ${limits.deduplicationMs})
  if not known or known == 'p' .. id then
    redis.call('SET', key, 'd' .. id, 'PX', ${limits.deduplicationMs})
  end
  return 1`,
);

/**
 * parallelism, rate ("" for none), periodMs, ids → false for an unknown lane, or: which of them are granted, by number, opensInMs,
 * startedAt, count. Decides as `takeSlots` of the domain does, in one step.
 */
export const acquire = forEachQuestion(
  2,
  `
  local parallelism, rate, periodMs, wanted = number(), number(), number(), ids()
  if redis.call('HGET', key, 'server') ~= server then return false end
  for _, id in ipairs(ended(slots)) do
    if redis.call('HEXISTS', key, id) == 0 then return false end
    drop(key, slots, id)
  end
  local startedAt, count = windowOf(key)
  local function isOver() return not startedAt or startedAt + periodMs <= now or isAhead(startedAt, 0) end
  local function rateLeft()
    if not rate then return math.huge end
    if isOver() then return rate end
    return math.max(0, rate - count)
  end

  local left = rateLeft()
  local free = (parallelism or math.huge) - redis.call('ZCARD', slots)
  local granted, counted = {}, {}
  for i, id in ipairs(wanted) do
    local holds = redis.call('ZSCORE', slots, id)
    local countedIn = holds and redis.call('HGET', key, id)
    local hasToken = countedIn and (not rate or (tonumber(countedIn) == startedAt and not isOver()))
    if hasToken or (#counted < left and (holds or free > 0)) then
      if not hasToken then counted[#counted + 1] = id end
      if not holds then free = free - 1 end
      redis.call('ZADD', slots, now + ${limits.leaseMs}, id)
      granted[#granted + 1] = i
    end
  end

  if #counted > 0 and rate then
    if isOver() then startedAt, count = now, 0 end
    count = count + #counted
    redis.call('HSET', key, 'startedAt', startedAt, 'count', count)
  end
  for _, id in ipairs(counted) do redis.call('HSET', key, id, rate and startedAt or '') end
  keep(key, slots, rate and startedAt and startedAt + periodMs)
  local opensIn = #granted < #wanted and rateLeft() == 0 and startedAt + periodMs - now
  return { granted, opensIn, startedAt or false, count or false }`,
);

/** ids → the numbers of those that are missing. */
export const use = forEachQuestion(
  2,
  `
  local gone = {}
  for i, id in ipairs(ids()) do
    local untilAt = tonumber(redis.call('ZSCORE', slots, id))
    if untilAt and untilAt > now and not isAhead(untilAt, ${limits.leaseMs}) then hold(key, slots, id) else gone[#gone + 1] = i end
  end
  keep(key, slots)
  return gone`,
);

/** ids → 1. */
export const putBack = forEachQuestion(
  2,
  `
  for _, id in ipairs(ids()) do hold(key, slots, id) end
  keep(key, slots)
  return 1`,
);

/** ids → 1. */
export const release = forEachQuestion(
  2,
  `
  for _, id in ipairs(ids()) do drop(key, slots, id) end
  return 1`,
);

/**
 * startedAt, count ("" for no window), ids, then how long each still holds its slot, and 1 if the lane is known with
 * these → 1. Adds to the lane's data. A server that knows the lane knows its window better; otherwise the later or
 * fuller of two windows is used, and neither may be further ahead than one of ours could: it may come from another
 * clock. For slots that ended in use the holders decide.
 */
export const restore = forEachQuestion(
  2,
  `
  local startedAt, count, holders = number(), number(), ids()
  local knownStart, knownCount = windowOf(key)
  if startedAt and not isAhead(startedAt, 0) and redis.call('HGET', key, 'server') ~= server then
    startedAt = math.min(startedAt, now)
    if not knownStart or isAhead(knownStart, 0) or startedAt > knownStart or (startedAt == knownStart and count > knownCount) then
      redis.call('HSET', key, 'startedAt', startedAt, 'count', count)
    end
  end
  for _, id in ipairs(ended(slots)) do
    if redis.call('HEXISTS', key, id) == 0 then redis.call('ZREM', slots, id) end
  end
  for _, id in ipairs(holders) do
    local leftMs = math.min(number(), ${limits.leaseMs})
    if leftMs > 0 and not redis.call('ZSCORE', slots, id) then redis.call('ZADD', slots, now + leftMs, id) end
  end
  if number() == 1 then redis.call('HSET', key, 'server', server) end
  keep(key, slots)
  return 1`,
);

/** → startedAt. An unknown lane takes the later window when it is restored. */
export const resetRate = forEachQuestion(
  2,
  `
  local before = windowOf(key) or 0
  local startedAt = isAhead(before, 0) and now or math.max(now, before + 1)
  redis.call('HSET', key, 'startedAt', startedAt, 'count', 0)
  keep(key, slots)
  return startedAt`,
);

/** → slots, startedAt, count. */
export const peek = forEachQuestion(
  2,
  `
  local window = redis.call('HMGET', key, 'startedAt', 'count')
  local held = redis.call('ZCOUNT', slots, '(' .. string.format('%.0f', now), '+inf')
  return { held, tonumber(window[1]) or false, tonumber(window[2]) or false }`,
);

/** n, max, how long it lasts → whether it is within the bound, and how much is left. */
export const spend = forEachQuestion(
  1,
  `
  local n, max, lasts = number(), number(), number()
  local count = tonumber(held(key, lasts) or 0)
  if count + n > max then return { 0, math.max(0, max - count) } end
  redis.call('SET', key, string.format('%.0f', count + n), 'PX', lasts)
  return { 1, max - count - n }`,
);
