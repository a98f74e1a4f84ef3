-- may fails, with nothing written, if this user must not do to a key what extends and releases do. The key must not exist:
-- then nothing of this changes anything. It gives which plain commands the server has and allows that do the same: the sum of
-- 1 for DELIFEQ, 2 for DELEX, 4 for SET IFEQ, and if wanted is 'plain' and the lock must do with them 8, in place of failing.
local function may(key, value, wanted)
  local found = 0
  if type(redis.pcall('DELIFEQ', key, value)) == 'number' then found = 1 end
  if type(redis.pcall('DELEX', key, 'IFEQ', value)) == 'number' then found = found + 2 end
  if redis.pcall('SET', key, value, 'IFEQ', value, 'PX', 1) == false then found = found + 4 end
  for _, command in ipairs({{'GET', key}, {'PTTL', key}, {'PEXPIRE', key, 1}, {'DEL', key}}) do
    local answer = redis.pcall(unpack(command))
    if type(answer) == 'table' and answer.err then
      if wanted == 'plain' and found > 4 then return found + 8 end
      return redis.call(unpack(command))
    end
  end
  return found
end
