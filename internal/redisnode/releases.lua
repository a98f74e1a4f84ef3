-- Several releases of one key each: KEYS, and in ARGV the value of each. Answers a list with 1 (deleted), 0 (gone, or
-- another's) or the text of an error for each.
local answers = {}
for i = 1, #KEYS do
  local held = redis.pcall('GET', KEYS[i])
  if held == ARGV[i] then
    redis.call('DEL', KEYS[i])
    answers[i] = 1
  elseif type(held) == 'table' then
    answers[i] = held.err
  else
    answers[i] = 0
  end
end
return answers
