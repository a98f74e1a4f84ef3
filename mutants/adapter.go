package mutants

// plainSet is how it makes one.
const plainSet = `return append(slices.Grow(args, 6), "set", keys[0], value, "nx", "px", ttl), Status`

// adapter lists the bugs of the go-redis adapter, and of what adapters share, their scripts among it.
var adapter = []Mutant{
	{
		Name:    "script-again-after-the-release",
		Bug:     "a command that met a forgotten script is sent again although its lock is being released",
		Edits:   []Edit{{"internal/batch/message.go", "case c.IsMoot():", "case c.IsMoot() && false:"}},
		Killers: []string{"87-forgotten-script-and-release"},
	},
	{
		Name: "wire-all-again", Tier: "wire",
		Bug:     "all commands that met a forgotten script are sent again, also those that nobody wants any more",
		Edits:   []Edit{{"internal/redisnode/exchange.go", "return again\n", "return missed\n"}},
		Killers: []string{"102-forgotten-script-and-batch"},
	},
	{
		Name: "wire-release-by-del", Tier: "wire",
		Bug: "the release script deletes whatever is there", Real: "several tutorials",
		Edits:   []Edit{{"internal/redisnode/release.lua", "if held == ARGV[1] then", "if held then"}},
		Killers: []string{"09-contention"},
	},
	{
		Name: "wire-list-fails-releases", Tier: "wire",
		Bug:     "a key of another type ends the script for several releases, and the keys after it stand for their TTL",
		Edits:   []Edit{{"internal/redisnode/releases.lua", "redis.pcall('GET'", "redis.call('GET'"}},
		Killers: []string{"112-keys-overwritten/together"},
	},
	{
		Name: "wire-no-ttl", Tier: "wire",
		Bug: "SET NX without PX: a lock that outlives its holder",
		Edits: []Edit{
			{"internal/redisnode/request.go", plainSet, `return append(args, "set", keys[0], value, "nx"), Status`},
			{"internal/redisnode/acquire.lua", "ARGV[1], 'PX', ARGV[2])", "ARGV[1])"},
		},
		Killers: []string{"12-holder-dies/crash", "12-holder-dies/cut-off"},
	},
	{
		Name: "wire-set-without-nx", Tier: "wire",
		Bug: "SET without NX: whoever asks has the lock",
		Edits: []Edit{
			{"internal/redisnode/request.go", plainSet, `return append(args, "set", keys[0], value, "px", ttl), Status`},
			{"internal/redisnode/acquire.lua", "== 1 then return 0 end", "== 9 then return 0 end"},
		},
		Killers: []string{"05-single-instance/healthy", "09-contention"},
	},
	{
		Name: "wire-extend-re-creates", Tier: "wire",
		Bug: "an extend sets the key again where it is missing", Real: "redlock-rb #36, redsync #149, RedLock.net #49",
		Edits: []Edit{
			{"internal/redisnode/extend.lua", "if redis.call('GET', KEYS[i]) ~= ARGV[1] then return 0 end",
				"local held = redis.call('GET', KEYS[i])\n  if held and held ~= ARGV[1] then return 0 end"},
			{"internal/redisnode/extend.lua", "redis.call('PEXPIRE', KEYS[i], math.max(ttl, redis.call('PTTL', KEYS[i])))",
				"redis.call('SET', KEYS[i], ARGV[1], 'PX', math.max(ttl, redis.call('PTTL', KEYS[i])))"},
		},
		Killers: []string{"56-late-extend/after-expiry", "56-late-extend/after-release"},
	},
	{
		Name: "wire-extend-by-set", Tier: "wire",
		Bug: "a renewal is a plain SET, also where the lock was released meanwhile", Real: "RedLock.net #64, Redisson #7272",
		Edits: []Edit{
			{"internal/redisnode/request.go", plainSet, "if c.Op == driver.OpExtend {\n\t\t\treturn append(args, \"set\", keys[0], value, \"px\", ttl), Status\n\t\t}\n\t\t" + plainSet},
			{"internal/batch/script.go", "case driver.OpExtend:\n\t\treturn Extend", "case driver.OpExtend:\n\t\treturn None"},
		},
		Killers: []string{"56-late-extend/after-release", "56-late-extend/at-the-next-holder"},
	},
	{
		Name: "wire-extend-does-not-compare", Tier: "wire",
		Bug:     "an extend prolongs the key whoever has it",
		Edits:   []Edit{{"internal/redisnode/extend.lua", "~= ARGV[1] then return 0", "== false then return 0"}},
		Killers: []string{"56-late-extend/at-the-next-holder"},
	},
	{
		Name: "wire-extend-compares-first-key", Tier: "wire",
		Bug:     "an extend of several keys compares the first one only",
		Edits:   []Edit{{"internal/redisnode/extend.lua", "redis.call('GET', KEYS[i]) ~=", "redis.call('GET', KEYS[1]) ~="}},
		Killers: []string{"94-evicted-keys/one-of-two"},
	},
	{
		Name: "wire-extend-compares-last-key", Tier: "wire",
		Bug:     "an extend of several keys compares the last one only",
		Edits:   []Edit{{"internal/redisnode/extend.lua", "redis.call('GET', KEYS[i]) ~=", "redis.call('GET', KEYS[#KEYS]) ~="}},
		Killers: []string{"94-evicted-keys/one-of-two"},
	},
	{
		Name: "wire-extend-adds-up", Tier: "wire",
		Bug:     "an extend adds its TTL to what is left of the one before",
		Edits:   []Edit{{"internal/redisnode/extend.lua", "math.max(ttl, redis.call('PTTL', KEYS[i]))", "ttl + redis.call('PTTL', KEYS[i])"}},
		Killers: []string{"39-renewal/finishes"},
	},
	{
		Name: "wire-late-extend-shortens", Tier: "wire",
		Bug: "an extend sets the keys' time, also to less than an extend behind it has asked for", Real: "redislock v0.9.4 Refresh",
		Edits:   []Edit{{"internal/redisnode/extend.lua", "math.max(ttl, redis.call('PTTL', KEYS[i]))", "ttl"}},
		Killers: []string{"56-late-extend/after-a-longer-one", "115-commands-in-place-of-scripts/a-late-shorter-extend"},
	},
	{
		Name: "wire-counts-its-own-key", Tier: "wire",
		Bug: "a retry uses the same value and counts the key that an earlier attempt left",
		Edits: []Edit{
			{"redlock/attempt.go", "if c.last != nil || value == \"\" {", "if c.last != nil {\n\t\tvalue = c.last.acquisition.value\n\t} else if value == \"\" {"},
			{"internal/batch/script.go", "case len(c.Keys) == 1:", "case false:"},
			{"internal/redisnode/acquire.lua", "if redis.call('EXISTS'", "if redis.call('GET', KEYS[1]) == ARGV[1] then return 1 end\nif redis.call('EXISTS'"},
		},
		Killers: []string{"60-own-old-votes"},
	},
	{
		Name: "wire-any-token", Tier: "wire",
		Bug:     "a node votes for a fencing token that is not above its counter",
		Edits:   []Edit{{"internal/redisnode/vote.lua", "if token > 0 and token <= counter then", "if false then"}},
		Killers: []string{"68-lost-counters/two"},
	},
	{
		Name: "wire-late-vote-shortens", Tier: "wire",
		Bug:     "a vote for a second token that arrives after an extend cuts the key's time short",
		Edits:   []Edit{{"internal/redisnode/vote.lua", "if ours[i] then px = math.max(ttl, redis.call('PTTL', KEYS[i])) end", ""}},
		Killers: []string{"101-late-second-vote"},
	},
	{
		Name: "wire-hash-first", Tier: "wire",
		Bug:     "a script is asked for by its hash at first, too, and then sent a second time",
		Edits:   []Edit{{"internal/redisnode/server.go", "as: s.known.Scripts()", "as: ^batch.Scripts(0)"}},
		Killers: []string{"62-round-trips"},
	},
	{
		Name:  "script-always-in-full",
		Bug:   "nobody remembers which scripts a node has run, and every one is sent in full",
		Edits: []Edit{{"internal/batch/message.go", "if fate == Ran && r.InFull {", "if fate == Ran && r.InFull && false {"}},
		Tests: []Test{{"internal/batch", "TestScriptInFull"}},
	},
	{
		Name:  "wire-first-vote-forgotten",
		Bug:   "no vote shows that a node allows what a lock needs, and every acquire is a script in full",
		Edits: []Edit{{"internal/redisnode/exchange.go", "s.known.Learn(foundPlain(r, a))", "_ = foundPlain(r, a)"}},
		Tests: []Test{{"redlock/goredis", "TestAdapter/Rounds"}},
	},
	{
		Name:  "wire-no-is-an-error",
		Bug:   "a node that has another's key is said to have failed",
		Edits: []Edit{{"internal/redisnode/reply.go", "case a.IsNil:", "case a.IsNil && false:"}},
		Tests: []Test{{"redlock/goredis", "TestAdapter/Commands"}},
	},
	{
		Name: "wire-wrong-hash", Tier: "wire",
		Bug: "scripts are asked for by a wrong hash, and sent a second time each time", Real: "redsync #203",
		Edits:   []Edit{{"internal/redisnode/scripts.go", "sha1.Sum([]byte(source))", "sha1.Sum([]byte(source + \"\\n\"))"}},
		Killers: []string{"62-round-trips"},
	},
	{
		Name: "wire-joint-release-stops", Tier: "wire",
		Bug: "the script of several releases stops at the first wrong value",
		Edits: []Edit{{"internal/redisnode/releases.lua", "    answers[i] = 0\n",
			"    for j = i, #KEYS do answers[j] = 0 end\n    return answers\n"}},
		Killers: []string{"74-joint-commands/a-wrong-value"},
	},
	{
		Name: "wire-joint-votes-share-a-verdict", Tier: "wire",
		Bug:     "several votes under the restart guard are all answered as the first",
		Edits:   []Edit{{"internal/redisnode/votes.lua", "and 1 or 0", "and 1 or votes[1] or 0"}},
		Killers: []string{"74-joint-commands/one-is-taken"},
	},
	{
		Name: "wire-answers-off-by-one", Tier: "wire",
		Bug:     "of several commands in a script each gets the answer to the next",
		Edits:   []Edit{{"internal/redisnode/joint.go", "list[number].(type)", "list[(number+1)%len(list)].(type)"}},
		Killers: []string{"74-joint-commands/one-is-taken"},
	},
	{
		Name: "wire-lost-is-done", Tier: "wire",
		Bug: "what is lost of a batch whose beginning was answered is taken for done",
		Edits: []Edit{{"internal/redisnode/exchange.go", "return x.read(&requests[request], answer(request), command, m.batch.Looks())",
			"if request > 0 && answer(0).Status == \"OK\" && answer(request).Outcome == driver.Refused {\n\t\t\treturn batch.Unanswered, driver.Reply{Outcome: driver.Accepted}\n\t\t}\n\t\treturn x.read(&requests[request], answer(request), command, m.batch.Looks())"}},
		Killers: []string{"75-split-batches/with-a-reset"},
	},
	{
		Name: "forgotten-script-drops-commands", Tier: "wire",
		Bug:     "of the commands whose script the node has forgotten only the first is sent again",
		Edits:   []Edit{{"internal/batch/message.go", "\t\t\twanted = append(wanted, c)\n", "\t\t\tif len(wanted) > 0 {\n\t\t\t\tcontinue\n\t\t\t}\n\t\t\twanted = append(wanted, c)\n"}},
		Killers: []string{"74-joint-commands/forgotten-script"},
	},
	{
		Name: "wire-subscription-without-a-deadline", Tier: "wire",
		Bug:   "a subscription waits for ever for a server that accepts connections and never answers",
		Edits: []Edit{{"internal/subscription/subscription.go", "ctx, cancel := s.within(2 * step)", "ctx, cancel := context.WithCancel(context.Background())"}},
		Tests: []Test{{"redlock/goredis", "TestAdapter/ListenToSilence"}},
	},
	{
		Name: "wire-votes-without-looking", Tier: "wire",
		Bug:   "a server votes that allows SET, and not what extends and releases need",
		Edits: []Edit{{"internal/redisnode/exchange.go", "appendRequest(args, &requests[number], m.batch.Looks())", "appendRequest(args, &requests[number], false)"}},
		Tests: []Test{{"redlock/goredis", "TestAdapter/Forbidden"}},
	},
	{
		Name: "wire-any-largest-ttl", Tier: "wire",
		Bug:     "a node votes whose record of the restart guard has another largest TTL",
		Edits:   []Edit{{"internal/redisnode/guard.lua", "    if tonumber(limit) ~= max then return {-3, tonumber(limit)} end\n", ""}},
		Killers: []string{"107-guard-set-by-hand/one-node", "107-guard-set-by-hand/majority"},
	},
	{
		Name: "wire-any-record", Tier: "wire",
		Bug:     "a node whose record of the restart guard cannot be read begins a new quarantine, in place of saying so",
		Edits:   []Edit{{"internal/redisnode/guard.lua", "    if not found then return redis.error_reply('ERR redlock: ' .. guard .. ' is not a record of the restart guard') end\n    if tonumber", "    if found and tonumber"}},
		Killers: []string{"107-guard-set-by-hand/overwritten"},
	},
	{
		Name: "wire-counts-any-status-as-a-vote", Tier: "wire",
		Bug:     "a node that answers a SET with QUEUED is counted as one that voted",
		Edits:   []Edit{{"internal/redisnode/reply.go", "case a.Status == \"OK\":", "case a.Status != \"\":"}, {"internal/redisnode/reply.go", "case a.Status != \"\":\n\t\treturn of.strange(c, a.Status)\n", ""}},
		Killers: []string{"109-wrong-answers/a-minority", "109-wrong-answers/a-majority"},
	},
	{
		Name: "wire-counts-any-answer-of-a-script", Tier: "wire",
		Bug:     "whatever a node answers to a script for several commands, each counts as done",
		Edits:   []Edit{{"internal/redisnode/joint.go", "\tif len(list) != r.Len() {\n\t\treturn of.strange(c, a.Value)\n\t}", "\tif len(list) != r.Len() {\n\t\treturn driver.Reply{Outcome: driver.Accepted}\n\t}"}},
		Killers: []string{"109-wrong-answers/several-at-once"},
	},
	{
		Name:    "joins-nothing",
		Bug:     "commands that wait together are sent one by one",
		Edits:   []Edit{{"internal/batch/request.go", "if k != alone && at >= 0 &&", "if k == alone && at >= 0 &&"}},
		Killers: []string{"108-what-locks-cost/released-together", "108-what-locks-cost/voted-together"},
	},
	{
		Name:    "joins-none-to-the-first",
		Bug:     "commands share the script of every request of a message but the first",
		Edits:   []Edit{{"internal/batch/request.go", "if k != alone && at >= 0 &&", "if k != alone && at > 0 &&"}},
		Killers: []string{"108-what-locks-cost/released-together", "108-what-locks-cost/voted-together"},
	},
	{
		Name:    "first-option-only",
		Bug:     "of the options of a node only the first one counts",
		Edits:   []Edit{{"redlock/goredis/node.go", "\t\to(n)\n\t}\n", "\t\to(n)\n\t\tbreak\n\t}\n"}},
		Killers: []string{"09-contention"},
		Tier:    "wire",
	},
	{
		Name: "wire-unknown-command-is-failure", Tier: "wire",
		Bug:     "a command that an older server does not know is given up, and no script follows it",
		Edits:   []Edit{{"internal/redisnode/exchange.go", "if r.Script != batch.None && a.Err != nil && isForbidden(a.Err) {", "if false {"}},
		Killers: []string{"115-commands-in-place-of-scripts/a-release-on-an-older-server"},
	},
	{
		Name:    "release-without-script-tells-nobody",
		Bug:     "a release that others wait for is a command that publishes nothing",
		Edits:   []Edit{{"internal/batch/plain.go", "|| c.Wake ||", "||"}},
		Killers: []string{"115-commands-in-place-of-scripts/waiters-are-told"},
	},
	{
		Name: "wire-delex-any-value", Tier: "wire",
		Bug:     "DELEX without IFEQ deletes whatever is there",
		Edits:   []Edit{{"internal/redisnode/plain.go", "append(args, \"delex\", keys[0], \"ifeq\", value)", "append(args, \"delex\", keys[0])"}},
		Killers: []string{"115-commands-in-place-of-scripts/mixed-versions"},
	},
	{
		Name: "wire-several-keys-one-by-one", Tier: "wire",
		Bug: "an acquire of several keys sets some of them before it finds that another is taken",
		Edits: []Edit{
			{"internal/redisnode/acquire.lua", "for i = 1, #KEYS do\n  if redis.call('EXISTS', KEYS[i]) == 1 then return 0 end\nend\n", ""},
			{"internal/redisnode/acquire.lua", "for i = 1, #KEYS do redis.call('SET', KEYS[i], ARGV[1], 'PX', ARGV[2]) end",
				"for i = 1, #KEYS do\n  if not redis.call('SET', KEYS[i], ARGV[1], 'NX', 'PX', ARGV[2]) then return 0 end\nend"},
		},
		Killers: []string{"71-locks-on-several-resources/contention"},
	},
}
