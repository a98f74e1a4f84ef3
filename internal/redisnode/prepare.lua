-- Declares a run of the server fit to vote, if it is the present one: see driver.OpPrepare. Answers {1 or 0, run id}.
local run = string.match(redis.call('INFO', 'server'), 'run_id:(%x+)')
if not run then return redis.error_reply('ERR redlock: INFO server gives no run_id') end
if ARGV[2] ~= run then return {0, run} end
redis.call('SET', KEYS[1], run .. ' 0 ' .. ARGV[1])
return {1, run}
