package scenarios_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"redlocksim/faults"
	"redlocksim/mutants"
	"redlocksim/scenarios"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim/kernel"
	"redlocksim/sim/storage"
)

// cause is what a scenario's verdict comes from: how to take it away, and what is found then.
type cause struct {
	remove func(*scenarios.Scenario)
	found  string
}

// causes are those of the scenarios of the catalogue, by their names.
var causes = map[string]cause{
	"01-setnx-then-expire/a-minute":    {crashLater, "safe"},
	"01-setnx-then-expire/an-hour":     {crashLater, "safe"},
	"02-get-then-set":                  {lock("protocol: single"), "safe"},
	"03-release-by-del":                {compares, "safe"},
	"04-release-by-get-then-del":       {compares, "safe"},
	"05-single-instance/down":          {restarts, "safe"},
	"05-single-instance/down-for-good": {restarts, "safe"},
	"06-failover-to-a-replica":         {diesLater, "safe"},
	"07-failover-with-wait/saved": {func(s *scenarios.Scenario) {
		protocols.Change(&s.Lock, func(own *protocols.OneRedisSettings) { own.Replicas = 0 })
	}, "lease-overlap"},
	"07-failover-with-wait/other-replica": {func(s *scenarios.Scenario) {
		weaken(s, func(f *faults.Promote) faults.Fault { return &faults.Promote{Node: f.Node, Replica: "M2"} })
	}, "safe"},
	"07-failover-with-wait/both-sides-serve":               {everybodyFollows, "safe"},
	"08-redlock-over-replicated-nodes":                     {diesLater, "safe"},
	"113-what-helps-at-a-failover/guard":                   {unguarded, "lease-overlap"},
	"113-what-helps-at-a-failover/guard-and-both-sides":    {everybodyFollows, "safe"},
	"113-what-helps-at-a-failover/counters":                {diesLater, "safe"},
	"113-what-helps-at-a-failover/sequence":                {lock("sequence: false, fencing: true"), "lease-overlap, token-repeated"},
	"113-what-helps-at-a-failover/sequence-and-both-sides": {everybodyFollows, "safe"},
	"113-what-helps-at-a-failover/no-token":                {healedAtOnce, "safe"},
	"116-late-failover/too-early":                          {failsOverAfter(10 * time.Second), "safe"},
	"116-late-failover/after-the-lease":                    {failsOverAfter(2 * time.Second), "lease-overlap"},
	"116-late-failover/guard":                              {unguarded, "lease-overlap"},
	"116-late-failover/one-of-five":                        {failsOverAfter(2 * time.Second), "lease-overlap"},
	"119-semaphore/holder-dies":                            {survives, "safe"},
	"119-semaphore/clock-jumps":                            {noStep, "safe"},
	"120-permits-of-each-node/two-permits":                 {lock("protocol: redlock"), "safe"},
	"120-permits-of-each-node/one-permit": {func(s *scenarios.Scenario) {
		s.Resources = append(slices.Clone(s.Resources), "pool/2")
	}, "lease-overlap"},
	"122-busy-wait/at-once":  {lock("retry-delay: {min: 5ms, max: 10ms}"), "safe"},
	"122-busy-wait/settings": {lock("retry-delay: {min: 5ms, max: 10ms}"), "safe"},
	"122-busy-wait/pauses":   {lock("retry-delay: {min: 0s, max: 1us}"), "busy-wait"},
	"121-read-write/not-kept-out": {steps(func(step scenarios.Step) scenarios.Step {
		if step.Kind == scenarios.WithAllStep {
			step = scenarios.Step{Kind: scenarios.LockStep, For: 30 * time.Second, Resource: []string{"doc/1", "doc/2", "doc/3"}}
		}
		return step
	}), "safe"},
	"121-read-write/at-once": {func(s *scenarios.Scenario) {
		s.Timeline[len(s.Timeline)-1].Do = []scenarios.Step{{Kind: scenarios.WithAllStep, For: time.Second, Resource: []string{"doc"}}}
	}, "safe"},
	"121-read-write/dies":                             {survives, "safe"},
	"121-read-write/dies-waiting":                     {survives, "safe"},
	"121-read-write/closed":                           {instead(scenarios.CloseStep, scenarios.SleepStep), "safe"},
	"121-read-write/clock-jumps":                      {noStep, "safe"},
	"120-permits-of-each-node/permits-are-locks":      {lock("protocol: node-permits"), "lease-overlap"},
	"16-failed-acquire-cleans-up-with-del/parallel":   {cleansUp, "safe"},
	"16-failed-acquire-cleans-up-with-del/sequential": {cleansUp, "safe"},
	"44-redisson/lost-wake-up":                        {shortCut, "safe"},
	"44-redisson/holder-dies":                         {survives, "safe"},
	"44-redisson/paused-holder":                       {noPause, "safe"},
	"45-redisson-fair/dead-head":                      {survives, "safe"},
	"46-redisson-multi/red-lock":                      {sameRates, "safe"},
	"46-redisson-multi/multi-lock":                    {sameRates, "safe"},
	"17-clock-jump":                                   {noStep, "safe"},
	"24-restart-at-once/one-of-three":                 {remembers, "safe"},
	"68-lost-counters/three":                          {remembers, "safe"},
	"94-evicted-keys/majority": {func(s *scenarios.Scenario) {
		weaken(s, func(f *faults.Evict) faults.Fault { return &faults.Evict{Node: f.Node, Keys: faults.Counters} })
	}, "safe"},
	"112-keys-overwritten/one-node": {lock("quorum: 3"), "safe"},
	"112-keys-overwritten/majority": {func(s *scenarios.Scenario) {
		weaken(s, func(f *faults.Evict) faults.Fault { return &faults.Evict{Node: f.Node, Keys: faults.Counters} })
	}, "safe"},
	"112-keys-overwritten/fenced":                   {lock("quorum: 3"), "safe"},
	"94-evicted-keys/spare":                         {lock("quorum: 3"), "lease-overlap"},
	"24-restart-at-once/three-of-five":              {remembers, "safe"},
	"22-clock-rates/not-covered":                    {sameRates, "safe"},
	"11-three-nodes-unreachable":                    {shortCut, "safe"},
	"14-partition-at-every-attempt/a-minute":        {shortCut, "safe"},
	"14-partition-at-every-attempt/two-minutes":     {shortCut, "safe"},
	"14-partition-at-every-attempt/healed":          {shortCut, "safe"},
	"12-holder-dies/slow-nodes":                     {sameRates, "safe"},
	"18-clock-jump-on-all-nodes-held/three-of-five": {noStep, "safe"},
	"19-clock-steps-back/release-lost":              {noStep, "safe"},
	"20-client-clock-steps-back/wall":               {noStep, "safe"},
	"21-suspended-host/monotonic": {func(s *scenarios.Scenario) {
		weaken(s, func(f *faults.Suspend) faults.Fault { return &faults.Suspend{Client: f.Client, For: 1} })
	}, "safe"},
	"25-restart-delayed":                         {restartAfter(0), "lease-overlap"},
	"26-restart-too-early/too-short":             {restartAfter(10100 * time.Millisecond), "safe"},
	"26-restart-too-early/clock-jumped":          {noStep, "safe"},
	"27-crash-after-set/every-second-power-loss": {remembers, "safe"},
	"28-three-nodes-delayed-restart":             {restartAfter(0), "unprotected"},
	"39-renewal/dies": {func(s *scenarios.Scenario) {
		weaken(s, func(f *faults.Crash) faults.Fault { return &faults.ClockStep{Process: f.Client} })
	}, "safe"},
	"42-stuck-holder/two-minutes-without-limit":                  {func(s *scenarios.Scenario) { s.Lock.Renewals = 3 }, "safe"},
	"42-stuck-holder/limited":                                    {func(s *scenarios.Scenario) { s.Lock.Renewals = 0 }, "safe"},
	"43-extend-only-holder/at-once":                              {restartAfter(10100 * time.Millisecond), "safe"},
	"43-extend-only-holder/delayed":                              {restartAfter(0), "lease-overlap"},
	"boundaries/clock-step-breaks":                               {noStep, "safe"},
	"boundaries/restart-delay-breaks":                            {remembers, "safe"},
	"15-sequential-acquire/sequential":                           {lock("asking: parallel"), "safe"},
	"15-sequential-acquire/parallel-waits-for-all":               {lock("protocol: redlock"), "safe"},
	"40-careless-renewal/one-node":                               {lock("extending: quorum"), "safe"},
	"40-careless-renewal/from-replies":                           {lock("extending: quorum"), "safe"},
	"41-extend-re-creates/sets":                                  {lock("extending: quorum"), "safe"},
	"30-restart-guard-and-clock-steps/forward-trusting-the-node": {noStep, "safe"},
	"34-fencing/paused":                                          {lock("fencing: false"), "stale-write"},
	"34-fencing/delayed":                                         {lock("fencing: false"), "stale-write"},
	"35-fencing-and-reads/before-the-first-effect":               {noPause, "safe"},
	"35-fencing-and-reads/reads-unchecked":                       {func(s *scenarios.Scenario) { s.Storage = storage.Fenced }, "safe"},
	"35-fencing-and-reads/reads-checked":                         {func(s *scenarios.Scenario) { s.Storage = storage.FencedWrites }, "stale-write, lost-update"},
	"37-compare-and-set-on-the-value/marked-before-the-pause":    {func(s *scenarios.Scenario) { s.Storage = storage.Register }, "stale-write"},
	"37-compare-and-set-on-the-value/marks-after-the-pause":      {noPause, "safe"},
	"36-careless-tokens/one-node-forgets":                        {remembers, "safe"},
	"36-careless-tokens/highest-of-a-quorum":                     {lock("tokens: one-node"), "safe"},
	"36-careless-tokens/drawn-before-the-lock":                   {noPause, "safe"},
	"15-sequential-acquire/parallel-returns-at-quorum":           {lock("protocol: redlock-plain"), "safe"},
	"19-clock-steps-back/released":                               {instead(scenarios.UnlockStep, scenarios.SleepStep), "safe"},
	"20-client-clock-steps-back/monotonic":                       {onClock(kernel.WallClock), "lease-overlap, contract"},
	"21-suspended-host/boottime":                                 {onClock(kernel.Monotonic), "lease-overlap"},
	"23-slewed-clocks": {func(s *scenarios.Scenario) {
		weaken(s, func(f *faults.ClockRate) faults.Fault {
			return &faults.ClockRate{Process: f.Process, Rate: faults.PPM(f.Rate.PPB() / 1000 * 200), For: f.For}
		})
	}, "lease-overlap, contract"},
	"24-restart-at-once/one-of-five": {func(s *scenarios.Scenario) {
		s.Timeline = append([]scenarios.Item{{Kind: "partition", Fault: &faults.Partition{Links: faults.Links{Clients: []string{"client-1"}, Nodes: []string{"D", "E"}}}}}, s.Timeline...)
	}, "lease-overlap"},
	"27-crash-after-set/every-second-kill": {forgets, "lease-overlap"},
	"27-crash-after-set/always-power-loss": {forgets, "lease-overlap"},
	"38-orphaned-votes/two": {func(s *scenarios.Scenario) {
		weaken(s, func(f *faults.Partition) faults.Fault {
			return &faults.Partition{Links: faults.Links{Clients: f.Clients, Nodes: []string{"D", "E"}, Direction: f.Direction}}
		})
		weaken(s, func(f *faults.Delay) faults.Fault {
			return &faults.Delay{Links: faults.Links{Clients: f.Clients, Nodes: []string{"A", "B", "C"}, Direction: f.Direction}, By: f.By, For: f.For}
		})
	}, "safe"},
	"39-renewal/finishes":                    {instead(scenarios.RenewStep, scenarios.SleepStep), "stale-write"},
	"40-careless-renewal/by-the-rules":       {lock("protocol: redlock-plain, extending: any-node"), "lease-overlap, contract"},
	"41-extend-re-creates/compares":          {lock("protocol: redlock-plain, extending: set"), "lost-update"},
	"42-stuck-holder/a-minute-without-limit": {func(s *scenarios.Scenario) { s.Lock.Renewals = 3 }, "safe"},
	"boundaries/clock-step-holds":            {stepOf(ms(9001)), "lease-overlap"},
	"boundaries/restart-delay-holds":         {restartAfter(ms(8897)), "lease-overlap"},
	"boundaries/pause-holds":                 {pauseOf(ms(10002)), "stale-write"},
	"boundaries/pause-breaks":                {pauseOf(ms(10001)), "accepted-after-expiry"},
	"boundaries/drift-holds":                 {drift(ms(1817)), "lease-overlap, contract"},
	"boundaries/drift-breaks":                {drift(ms(1818)), "safe"},
	"33-delayed-write":                       {shortHold, "safe"},
	"38-orphaned-votes/three": {func(s *scenarios.Scenario) {
		weaken(s, func(f *faults.Delay) faults.Fault { return &faults.Delay{Links: f.Links, By: 1} })
	}, "safe"},
	"32-pause-before-write": {noPause, "safe"},
	"69-two-locks/independent": {func(s *scenarios.Scenario) { // of one lock
		s.Timeline = slices.Clone(s.Timeline)
		for i := range s.Timeline {
			s.Timeline[i].Resource = s.Resources[:1]
		}
	}, "conduct"}, // more commands than two locks need
	"69-two-locks/one-breaks":               {noStep, "safe"},
	"109-wrong-answers/a-majority":          {rightAnswers, "safe"},
	"109-wrong-answers/released-in-vain":    {rightAnswers, "safe"},
	"108-what-locks-cost/one-by-one":        {oneFewer, "conduct"},
	"108-what-locks-cost/several-as-one":    {oneFewer, "conduct"},
	"108-what-locks-cost/prepared-in-part":  {oneFewer, "conduct"},
	"108-what-locks-cost/refused":           {oneFewer, "conduct"},
	"108-what-locks-cost/released-together": {unbatched, "conduct"},
	"108-what-locks-cost/voted-together":    {unbatched, "conduct"},
	"67-batches/after-silence": {func(s *scenarios.Scenario) { // the silence goes on
		weaken(s, func(f *faults.Partition) faults.Fault {
			return &faults.Partition{Links: f.Links, For: 10 * time.Second}
		})
	}, "safe"},
	"70-locks-in-opposite-orders/opposite": {func(s *scenarios.Scenario) { // in the same
		s.Timeline = slices.Clone(s.Timeline)
		s.Timeline[1].Do = s.Timeline[0].Do
	}, "safe"},
	"70-locks-in-opposite-orders/unchecked": {instead(scenarios.WriteUncheckedStep, scenarios.WriteStep), "safe"},
	"70-locks-in-opposite-orders/same":      {steppingAs("70-locks-in-opposite-orders/opposite"), "safe"},
	"70-locks-in-opposite-orders/at-once":   {steppingAs("70-locks-in-opposite-orders/opposite"), "safe"},
	"71-locks-on-several-resources/jump":    {noStep, "safe"},
	"72-one-token-for-several-resources":    {unfenced, "stale-write, accepted-after-expiry"},
	"74-joint-commands/refused-by-the-guard": {func(s *scenarios.Scenario) {
		protocols.Change(&s.Lock, func(own *protocols.RedlockSettings) { own.Guard = nil })
		s.Timeline = slices.Clone(s.Timeline[1:]) // nothing to prepare
	}, "lease-overlap"},
	"75-split-batches/silently": {func(s *scenarios.Scenario) {
		weaken(s, func(f *faults.Split) faults.Fault { whole := *f; whole.For = 1; return &whole })
	}, "safe"},
	"76-guard-time/without":        {pauseOf(1), "safe"},
	"76-guard-time/with":           {func(s *scenarios.Scenario) { s.Lock.GuardTime = 0 }, "stale-write"},
	"77-reset-and-restart/reset":   {func(s *scenarios.Scenario) { later[*faults.Reset](s, 500*time.Millisecond) }, "safe"},
	"77-reset-and-restart/restart": {func(s *scenarios.Scenario) { later[*faults.Restart](s, time.Second) }, "safe"},

	"78-clock-stall/holder": {noStall, "safe"},
	"78-clock-stall/nodes":  {noStall, "safe"}, // and client 2 waits until 10 s only

	"79-two-ttls/long-then-short":            {asUsual(scenarios.TryLockStep), "safe"},
	"79-two-ttls/short-then-long":            {asUsual(scenarios.LockStep), "safe"},
	"80-contexts-that-end/unlock-after":      {asUsual(scenarios.UnlockStep), "safe"},
	"80-contexts-that-end/unlock-meanwhile":  {asUsual(scenarios.UnlockStep), "safe"},
	"80-contexts-that-end/extend-after":      {asUsual(scenarios.ExtendStep), "safe"},
	"80-contexts-that-end/extend-meanwhile":  {asUsual(scenarios.ExtendStep), "safe"},
	"80-contexts-that-end/lock-meanwhile":    {asUsual(scenarios.LockStep), "safe"},
	"80-contexts-that-end/waiting-meanwhile": {asUsual(scenarios.LockStep), "safe"},
	"81-released-and-lost/twice":             {notAgain, "safe"},
	"81-released-and-lost/late":              {asUsual(scenarios.LockStep), "safe"},
	"81-released-and-lost/renewed-after":     {notAgain, "safe"},
	"81-released-and-lost/on-a-minority":     {healedAtOnce, "safe"},
	"82-with-lock/renewed":                   {lock("renewals: 1"), "safe"},
	"82-with-lock/limit":                     {asUsual(scenarios.WithLockStep), "safe"},
	"82-with-lock/max-time":                  {asUsual(scenarios.RenewStep), "safe"},
	"82-with-lock/wait":                      {asUsual(scenarios.WithLockStep), "safe"},
	"82-with-lock/cancelled":                 {asUsual(scenarios.WithLockStep), "safe"},
	"82-with-lock/longest-time":              {asUsual(scenarios.RenewStep), "safe"},
	"82-with-lock/renewal-fails":             {healedAtOnce, "safe"},
	"103-closed-client":                      {instead(scenarios.CloseStep, scenarios.SleepStep), "safe"},
	"114-renewal-with-jitter/renewed":        {lock("renewals: 1"), "safe"},
	"119-semaphore/turns":                    {lock("retry-delay: {min: 2s, max: 2s}"), "safe"},
	"119-semaphore/lost-here":                {lock("ttl: 40s"), "safe"},
	"119-semaphore/closed":                   {instead(scenarios.CloseStep, scenarios.SleepStep), "safe"},
	"119-semaphore/no-quorum":                {restartAfter(time.Millisecond), "safe"},
	"121-read-write/handed-on":               {lock("retry-delay: {min: 2s, max: 2s}"), "safe"},
	"82-with-lock/told-early":                {lock("loss-lead: 0s"), "safe"},
	"83-new-client/closed-while-waiting":     {instead(scenarios.CloseStep, scenarios.SleepStep), "safe"},
	"83-new-client/holding":                  {instead(scenarios.CloseStep, scenarios.SleepStep), "safe"},
	"84-late-messages/stragglers":            {noDelay, "safe"},
	"84-late-messages/release":               {noDelay, "safe"},
	"85-guard-and-a-shorter-ttl": {func(s *scenarios.Scenario) {
		protocols.Change(&s.Lock, func(own *protocols.RedlockSettings) { own.Guard = nil })
		s.Timeline = s.Timeline[1:] // nobody has to confirm that the nodes may vote
	}, "lease-overlap"},
	"86-counters-that-expire/too-soon":    {lock("counter-ttl: 1h"), "safe"},
	"86-counters-that-expire/long-enough": {lock("counter-ttl: 10s"), "token-repeated"},

	"47-consensus/paused-client":                  {noPause, "safe"},
	"47-consensus/paused-client-fenced":           {unfenced, "stale-write"},
	"47-consensus/cut-off-client":                 {lock("belief: told"), "lease-overlap"},
	"47-consensus/cut-off-client-until-told":      {lock("belief: acknowledged"), "safe"},
	"47-consensus/cut-off-with-the-leader":        {lock("belief: told"), "lease-overlap"},
	"47-consensus/leader-cut-off":                 {nodeTimeout(30 * time.Second), "safe"}, // stays with the old leader
	"47-consensus/minority":                       {shortCut, "safe"},
	"48-database-row-lock/before-the-write":       {lock("effects: storage"), "stale-write"},
	"48-database-row-lock/outside":                {lock("effects: transaction"), "safe"},
	"49-database-unique-index/one-minute":         {cleanUp(10 * time.Second), "safe"},
	"49-database-unique-index/ten-minutes":        {cleanUp(10 * time.Second), "safe"},
	"49-database-unique-index/clean-up":           {cleanUp(0), "safe"},
	"49-database-unique-index/clean-up-too-early": {cleanUp(0), "safe"},
	"50-conditional-update":                       {unfenced, "stale-write"},

	"90-failed-attempt-leaves-its-votes": {cleansUp, "safe"},

	"92-counters-set-by-hand/one-node":          {countersOfAll, "safe"},
	"92-counters-set-by-hand/one-of-two-by-far": {counters(1), "safe"},
	"92-counters-set-by-hand/two-of-five":       {countersOfAll, "safe"},
	"92-counters-set-by-hand/largest":           {counters(1), "safe"},

	"97-server-without-a-command/no-release":                    {allCommands, "safe"},
	"97-server-without-a-command/no-extend-and-fencing":         {allCommands, "safe"},
	"97-server-without-a-command/no-release-and-votes-together": {allCommands, "safe"},

	"115-commands-in-place-of-scripts/several-ttls": {allCommands, "safe"},

	"95-higher-quorum/two-forget":                {lock("quorum: 3"), "lease-overlap"},
	"95-higher-quorum/three-forget":              {remembers, "safe"},
	"95-higher-quorum/two-down":                  {restarts, "safe"},
	"51-implementations/redlock-rb":              {nodeTimeout(time.Minute), "safe"},
	"51-implementations/redlock-py":              {lock("failed-node: no-vote"), "safe"},
	"51-implementations/redlock-php":             {lock("failed-node: no-vote"), "safe"},
	"51-implementations/phpredis-mutex":          {nodeTimeout(ms(50)), "safe"},
	"51-implementations/redsync":                 {nodeTimeout(ms(50)), "safe"},
	"51-implementations/redisson":                {nodeTimeout(ms(50)), "safe"},
	"51-implementations/redis-distlock":          {nodeTimeout(ms(50)), "conduct, leftover"}, // a release still dies at B
	"51-implementations/redlock-cpp":             {lock("connect-timeout: 0s"), "safe"},
	"51-implementations/redlock-cs":              {releasesAll, "safe"},
	"51-implementations/redlock-net":             {nodeTimeout(ms(50)), "safe"},
	"51-implementations/scarletlock":             {releasesAll, "safe"},
	"51-implementations/node-redlock":            {cleansUp, "safe"},
	"104-faults-at-messages/votes-unheard":       {shortCut, "safe"},
	"104-faults-at-messages/voter-killed":        {forgets, "lease-overlap"},
	"104-faults-at-messages/paused-after-asking": {noPause, "safe"},
	"104-faults-at-messages/release-lost":        {shortCut, "safe"},
	"104-faults-at-messages/extend-unheard":      {shortCut, "safe"},
	"106-silent-nodes":                           {shortCut, "safe"},
	"105-restarted-client/waits-for-itself":      {lock("protocol: redlock-plain, value: client"), "conduct, contract"},
	"105-restarted-client/late-release":          {lock("protocol: redlock-plain, value: client"), "lease-overlap, conduct, contract"},
	"105-restarted-client/late-release-by-name":  {lock("value: attempt"), "safe"},

	"52-implementations-and-slow-acquires/redlock-rb":                  {onClock(kernel.WallClock), "lease-overlap, contract"},
	"52-implementations-and-slow-acquires/redlock-rb-extends":          {lock("extending: quorum"), "safe"},
	"52-implementations-and-slow-acquires/redlock-py":                  {onClock(kernel.Monotonic), "safe"},
	"52-implementations-and-slow-acquires/redlock-py-clock-in-order":   {unchecked, "accepted-after-expiry"},
	"52-implementations-and-slow-acquires/redlock-php":                 {onClock(kernel.Monotonic), "safe"},
	"52-implementations-and-slow-acquires/phpredis-mutex":              {onClock(kernel.Monotonic), "safe"},
	"52-implementations-and-slow-acquires/redsync":                     {onClock(kernel.WallClock), "lease-overlap, contract"},
	"52-implementations-and-slow-acquires/redisson":                    {onClock(kernel.Monotonic), "safe"},
	"52-implementations-and-slow-acquires/redis-distlock":              {onClock(kernel.Monotonic), "safe"},
	"52-implementations-and-slow-acquires/redlock-cpp":                 {onClock(kernel.Monotonic), "safe"},
	"52-implementations-and-slow-acquires/redlock-cpp-cut-off":         {lock("connect-timeout: 0s"), "safe"},
	"52-implementations-and-slow-acquires/redlock-cs":                  {onClock(kernel.Monotonic), "safe"},
	"52-implementations-and-slow-acquires/redlock-net":                 {onClock(kernel.WallClock), "lease-overlap, contract"},
	"52-implementations-and-slow-acquires/scarletlock":                 {onClock(kernel.Monotonic), "safe"},
	"52-implementations-and-slow-acquires/node-redlock":                {onClock(kernel.Monotonic), "safe"},
	"52-implementations-and-slow-acquires/node-redlock-clock-in-order": {checked, "safe"},
}

// oneFewer allows for one command less than the algorithm needs.
func oneFewer(s *scenarios.Scenario) { s.Expect.Commands-- }

// rightAnswers has wrong answers for a moment only.
func rightAnswers(s *scenarios.Scenario) {
	weaken(s, func(f *faults.WrongAnswers) faults.Fault {
		return &faults.WrongAnswers{Node: f.Node, With: f.With, For: 1}
	})
}

// unbatched has no command wait for another.
func unbatched(s *scenarios.Scenario) {
	protocols.Change(&s.Lock, func(own *protocols.RedlockSettings) { own.Batching = 100 })
}

// Every counterexample, and every scenario that is safe because something is done in time, must come out otherwise when
// its cause is taken away.
func TestCausesAreCauses(t *testing.T) {
	for name, cause := range causes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := *byName(t, name)
			cause.remove(&s)
			for _, tier := range scenarios.Tiers() {
				r, err := scenarios.Judge(&s, scenarios.Options{Tier: tier})
				if err != nil {
					t.Fatal(err)
				}
				if got := r.Findings.String(); got != cause.found || r.OK() {
					t.Errorf("tier %s without its cause: found %s, want %s; as expected: %v", tier, got, cause.found, r.OK())
				}
			}
		})
	}

	// Whatever is safe without a cause to take away must be broken by a mutant.
	for _, s := range scenarios.Catalogue() {
		if _, ok := causes[s.Name]; !ok && !killed(s.Name) {
			t.Errorf("nothing turns %s red: neither a cause nor a mutant", s.Name)
		}
	}
}

// killed says whether a mutant is known that the scenario, or its file, kills.
func killed(name string) bool {
	file, _, _ := strings.Cut(name, "/")
	return slices.ContainsFunc(mutants.All(), func(m mutants.Mutant) bool {
		return slices.Contains(m.Killers, name) || slices.Contains(m.Killers, file)
	})
}

func byName(t *testing.T, name string) *scenarios.Scenario {
	t.Helper()
	s, known := scenarios.Find(name)
	if !known {
		t.Fatalf("there is no scenario %s", name)
	}
	return s
}
