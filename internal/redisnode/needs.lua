-- may fails, with nothing written, if this user must not do to a key what extends and releases do. The key must not exist:
-- then nothing of this changes anything. It gives which plain commands the server has and allows that release: the sum of 1 for
-- DELIFEQ and 2 for DELEX.
local function may(key, value)
  for _, command in ipairs({{'GET', key}, {'PTTL', key}, {'PEXPIRE', key, 1}, {'DEL', key}}) do
    redis.call(unpack(command))
  end
  local found = 0
  if type(redis.pcall('DELIFEQ', key, value)) == 'number' then found = 1 end
  if type(redis.pcall('DELEX', key, 'IFEQ', value)) == 'number' then found = found + 2 end
  return found
end
