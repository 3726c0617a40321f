/**
 * What Redis does for us, each in one step of its own and by its own clock. All of them may be repeated: a call whose
 * answer was lost finds at its repetition what it did, and does it to the same ids again.
 *
 * deduplication key   "p<id>": pending, for 30 s, or "d<id>": done, for ten minutes
 * lane                hash: `server`, and of its rate window `startedAt` and `count`
 * slots of a lane     sorted set: the ids that hold one, each scored with the end of its lease
 *
 * A lane is known on the server that was told it: `server` is the run id, another one after each start. So a Redis that
 * restarts from its disk, which may lack its last second, or a replica that takes over with less, is told everything
 * once more before it grants. Every key has a time to live.
 */
import { limits } from "@posthaste/domain";
import { script } from "./link/connection.ts";

/** A key that was claimed stays so for this long; then its publish has failed, and the next may have it (P10). */
const pendingMs = 30_000;
/** An idle lane is forgotten, and told again when it is next in use. */
const laneMs = 86_400_000;

/** `ask` answers one question: `key`, and `slots` where a question has two keys; its arguments come by `take`. */
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
local function ask(key, slots)
${ask}
end
local answers = {}
for i = 1, #KEYS, ${keys} do answers[#answers + 1] = ask(KEYS[i], KEYS[i + 1]) end
return answers`);

/** id → what the key held for another, or "" when it is the claimer's. */
export const claim = forEachQuestion(
  1,
  `
  local mine = 'p' .. take()
  local held = redis.call('GET', key)
  if held and held ~= mine then return held end
  redis.call('SET', key, mine, 'PX', ${pendingMs})
  return ''`,
);

/** id → nothing of interest. */
export const confirm = forEachQuestion(
  1,
  `
  local id = take()
  if redis.call('GET', key) == 'p' .. id then
    redis.call('SET', key, 'd' .. id, 'PX', ${limits.deduplicationMs})
  end
  return 1`,
);

/** parallelism, rate ("" for none), periodMs, ids → which of them by number, opensAt, startedAt, count. Both limits in one step. */
export const acquire = forEachQuestion(
  2,
  `
  local parallelism, rate, periodMs, wanted = number(), number(), number(), ids()
  if redis.call('HGET', key, 'server') ~= server then return { {}, false, false, false } end
  redis.call('ZREMRANGEBYSCORE', slots, '-inf', now)
  local window = redis.call('HMGET', key, 'startedAt', 'count')
  local startedAt, count = tonumber(window[1]), tonumber(window[2])
  local function isOver() return not startedAt or startedAt + periodMs <= now end
  local function rateLeft()
    if not rate then return math.huge end
    if isOver() then return rate end
    return math.max(0, rate - count)
  end

  local left = rateLeft()
  local free = (parallelism or math.huge) - redis.call('ZCARD', slots)
  local granted = {}
  for i, id in ipairs(wanted) do
    if #granted >= left then break end
    local holds = redis.call('ZSCORE', slots, id)
    if holds or free > 0 then
      if not holds then free = free - 1 end
      redis.call('ZADD', slots, now + ${limits.leaseMs}, id)
      granted[#granted + 1] = i
    end
  end

  if #granted > 0 and rate then
    if isOver() then startedAt, count = now, 0 end
    count = count + #granted
    redis.call('HSET', key, 'startedAt', startedAt, 'count', count)
  end
  redis.call('PEXPIRE', key, ${laneMs})
  redis.call('PEXPIRE', slots, ${laneMs})
  local opensAt = #granted < #wanted and rateLeft() == 0 and startedAt + periodMs
  return { granted, opensAt, startedAt or false, count or false }`,
);

/** ids → which of them are gone, by number. */
export const renew = forEachQuestion(
  2,
  `
  local gone = {}
  redis.call('ZREMRANGEBYSCORE', slots, '-inf', now)
  for i, id in ipairs(ids()) do
    if redis.call('ZSCORE', slots, id) then redis.call('ZADD', slots, now + ${limits.leaseMs}, id)
    else gone[#gone + 1] = i end
  end
  redis.call('PEXPIRE', key, ${laneMs})
  redis.call('PEXPIRE', slots, ${laneMs})
  return gone`,
);

/** ids → nothing of interest. */
export const release = forEachQuestion(
  2,
  `
  for _, id in ipairs(ids()) do redis.call('ZREM', slots, id) end
  return 1`,
);

/** → 1 or 0. */
export const knows = forEachQuestion(
  2,
  `
  return redis.call('HGET', key, 'server') == server and 1 or 0`,
);

/**
 * startedAt, count ("" for no window), ids, then as many ends → nothing of interest. What is told is added to what is
 * there: of two windows the later or fuller one holds, of two ends the later. Times come from another clock, so none
 * may lie further ahead than one of ours could.
 */
export const restore = forEachQuestion(
  2,
  `
  local startedAt, count, holders = number(), number(), ids()
  local window = redis.call('HMGET', key, 'startedAt', 'count')
  local knownStart, knownCount = tonumber(window[1]), tonumber(window[2])
  if startedAt then
    startedAt = math.min(startedAt, now)
    if not knownStart or startedAt > knownStart or (startedAt == knownStart and count > knownCount) then
      redis.call('HSET', key, 'startedAt', startedAt, 'count', count)
    end
  end
  for _, id in ipairs(holders) do
    local untilAt = math.min(number(), now + ${limits.leaseMs})
    local known = tonumber(redis.call('ZSCORE', slots, id))
    if untilAt > now and (not known or untilAt > known) then redis.call('ZADD', slots, untilAt, id) end
  end
  redis.call('HSET', key, 'server', server)
  redis.call('PEXPIRE', key, ${laneMs})
  redis.call('PEXPIRE', slots, ${laneMs})
  return 1`,
);

/** → slots, startedAt, count. */
export const peek = forEachQuestion(
  2,
  `
  local window = redis.call('HMGET', key, 'startedAt', 'count')
  local held = redis.call('ZCOUNT', slots, '(' .. string.format('%.0f', now), '+inf')
  return { held, tonumber(window[1]) or false, tonumber(window[2]) or false }`,
);
