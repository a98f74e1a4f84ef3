-- unfit is the restart guard: see driver.Conditions, which also says what the record is. It gives nothing if the node is
-- fit to vote, and otherwise the answer: {-2, record}: in quarantine; {-3, ms}: the record has another largest TTL.
local function unfit(guard, max, watched)
  local record = redis.call('GET', guard)
  local run = string.match(redis.call('INFO', 'server'), 'run_id:(%x+)')
  if not run then return redis.error_reply('ERR redlock: INFO server gives no run_id') end
  local found, since, limit
  if record then
    found, since, limit = string.match(record, '^(%x+) (%d+) (%d+)$')
    if not found then return redis.error_reply('ERR redlock: ' .. guard .. ' is not a record of the restart guard') end
    if tonumber(limit) ~= max then return {-3, tonumber(limit)} end
    if found == run and since == '0' then return nil end
  end
  local clock = redis.call('TIME')
  local now = tonumber(clock[1]) * 1000 + math.floor(tonumber(clock[2]) / 1000)
  if found ~= run then
    record = string.format('%s %.0f %.0f', run, now, max)
    redis.call('SET', guard, record)
    return {-2, record}
  end
  -- More than max, not max: the clock is rounded down.
  if record ~= watched or now - tonumber(since) <= max then return {-2, record} end
  redis.call('SET', guard, run .. ' 0 ' .. limit)
end
