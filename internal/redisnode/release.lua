-- Deletes those keys that hold the value; 1 if all of them did, 2 if somebody was called besides. A key of another type makes
-- GET an error, which is kept for the reply (pcall) so that it does not save the keys after it.
--
-- With a channel as the second argument, the lines and turns of the keys follow these, and line.lua stands before this. The third
-- is for how long it is the turn of who is called, 0 if nobody is, and the fourth a waiter that no longer waits, or ''. Where the
-- user may not publish, the answer is a list of 1 and the error.
local all, failure, unpublished = 1, nil, nil
local anyone = false
local channel, time, waiter = ARGV[2], ARGV[3], ARGV[4]
local n = channel and #KEYS / 3 or #KEYS
for i = 1, n do
  local line, turn = KEYS[n + i], KEYS[2 * n + i]
  local held = redis.pcall('GET', KEYS[i])
  if held == ARGV[1] then
    redis.call('DEL', KEYS[i])
    if channel and time ~= '0' then
      local called, why = callNext(KEYS[i], line, turn, channel, time)
      anyone, unpublished = anyone or called, why or unpublished
    end
  else
    all = 0
    if type(held) == 'table' then failure = held end
  end
  if channel and waiter ~= '' and stepOut(line, turn, waiter) and time ~= '0' and redis.call('EXISTS', KEYS[i]) == 0 then
    callNext(KEYS[i], line, turn, channel, time)
  end
end
if all == 1 and unpublished then return {1, unpublished} end
if all == 1 and anyone then return 2 end
return failure or all
