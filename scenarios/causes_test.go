package scenarios_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"redlocksim/mutants"
	"redlocksim/scenarios"
	"redlocksim/scenarios/scenariotest"
)

// cause is what a scenario's verdict comes from: how to take it away, and what is found then.
type cause struct {
	remove func(*scenarios.Scenario)
	found  string
}

// causes are those of the scenarios of the catalogue, by their names.
var causes = map[string]cause{
	"01-setnx-then-expire/a-minute":                        {later("crash", ms(10)), "safe"},
	"01-setnx-then-expire/an-hour":                         {later("crash", ms(10)), "safe"},
	"02-get-then-set":                                      {lock("protocol: single"), "safe"},
	"03-release-by-del/overlong-work":                      {lock("release: cad"), "safe"},
	"03-release-by-del/held-up":                            {lock("release: cad"), "safe"},
	"04-release-by-get-then-del":                           {lock("release: cad"), "safe"},
	"05-single-instance/down":                              {fault("power-loss", "restart-after: 0s"), "safe"},
	"05-single-instance/down-for-good":                     {fault("power-loss", "restart-after: 0s"), "safe"},
	"06-failover-to-a-replica":                             {later("power-loss", ms(100)), "safe"},
	"07-failover-with-wait/saved":                          {lock("replicas: 0"), "lease-overlap"},
	"07-failover-with-wait/other-replica":                  {fault("promote", "replica: M2"), "safe"},
	"07-failover-with-wait/both-sides-serve":               {fault("promote", "clients: null"), "safe"},
	"08-redlock-over-replicated-nodes":                     {later("power-loss", ms(100)), "safe"},
	"113-what-helps-at-a-failover/guard":                   {unguarded, "lease-overlap"},
	"113-what-helps-at-a-failover/guard-and-both-sides":    {fault("promote", "clients: null"), "safe"},
	"113-what-helps-at-a-failover/counters":                {later("power-loss", ms(100)), "safe"},
	"113-what-helps-at-a-failover/sequence":                {lock("sequence: false, fencing: true"), "lease-overlap, token-repeated"},
	"113-what-helps-at-a-failover/sequence-and-both-sides": {fault("promote", "clients: null"), "safe"},
	"113-what-helps-at-a-failover/no-token":                {fault("partition", "for: 1ms"), "safe"},
	"113-what-helps-at-a-failover/sequence-and-too-late":   {fault("delay", "by: 1ns"), "safe"},
	"128-votes-and-replicas/minority":                      {lock("replicas: 0"), "safe"},
	"128-votes-and-replicas/given-up":                      {lock("replicas: 0"), "safe"},
	"128-votes-and-replicas/two-at-once":                   {lock("replicas: 0"), "safe"},
	"129-half-open/forgotten":                              {lock("wake-up: 0s"), "safe"},
	"129-half-open/nothing-comes":                          {lock("wake-up: 0s"), "safe"},
	"129-half-open/deaf":                                   {fault("partition", "for: 1ns"), "safe"},
	"116-late-failover/too-early":                          {fault("failover", "after: 10s"), "safe"},
	"116-late-failover/after-the-lease":                    {fault("failover", "after: 2s"), "lease-overlap"},
	"116-late-failover/guard":                              {unguarded, "lease-overlap"},
	"116-late-failover/one-of-five":                        {fault("failover", "after: 2s"), "lease-overlap"},
	"125-failover-learned-in-turn/behind":                  {fault("hold", "for: 1ns"), "safe"},
	"125-failover-learned-in-turn/up-to-date":              {fault("promote", "clients: null"), "safe"},
	"126-clock-jump-and-writes/unfenced":                   {fault("clock-step", "by: 0s"), "safe"},
	"126-clock-jump-and-writes/fenced":                     {lock("fencing: false"), "lease-overlap, lost-update"},
	"119-semaphore/holder-dies":                            {survives, "safe"},
	"119-semaphore/clock-jumps":                            {fault("clock-step", "by: 0s"), "safe"},
	"120-permits-of-each-node/two-permits":                 {lock("protocol: redlock"), "safe"},
	"120-permits-of-each-node/one-permit": {func(s *scenarios.Scenario) {
		s.Resources = append(slices.Clone(s.Resources), "pool/2")
	}, "lease-overlap"},
	"127-between-two-commands/renewal": {lock("protocol: redlock-plain, extending: get-set, node-timeout: 10s"), "lease-overlap, conduct"},
	"127-between-two-commands/release": {lock("protocol: single, release: get-del, node-timeout: 10s"), "lease-overlap, conduct, contract"},

	"66-wake-up/refused-call-nobody": {lock("wake-up: 0s"), "safe"},
	"66-wake-up/gate-dead":           {lock("wake-up: 0s"), "safe"},
	"66-wake-up/gate-silent":         {lock("wake-up: 0s"), "safe"},
	"66-wake-up/gate-forgets":        {lock("wake-up: 0s"), "safe"},
	"66-wake-up/gate-restarts":       {lock("wake-up: 0s"), "safe"},
	"66-wake-up/gate-slow":           {lock("wake-up: 0s"), "safe"},
	"66-wake-up/reset":               {lock("wake-up: 0s"), "safe"},
	"66-wake-up/cut-off":             {lock("wake-up: 0s"), "safe"},
	"66-wake-up/fenced":              {lock("wake-up: 0s"), "safe"},
	"66-wake-up/quarantined":         {lock("wake-up: 0s"), "safe"},
	"66-wake-up/batched":             {lock("wake-up: 0s"), "safe"},
	"66-wake-up/one-redis":           {lock("wake-up: 0s"), "safe"},
	"66-wake-up/reset-just-before":   {fault("reset", "nodes: [A]"), "safe"},
	"66-wake-up/beside-others":       {lock("retry-delay: {min: 5s, max: 5s}, wake-up: 0s"), "safe"},
	"111-everything-at-once":         {lock("fencing: false"), "safe"},
	"123-gate/key-left":              {survives, "safe"},
	"123-gate/different":             {fault("partition", "for: 1ns"), "safe"},
	"124-releases-sent-again/closed": {instead(scenarios.CloseStep, scenarios.SleepStep), "safe"},
	"122-busy-wait/at-once":          {lock("retry-delay: {min: 5ms, max: 10ms}"), "safe"},
	"122-busy-wait/settings":         {lock("retry-delay: {min: 5ms, max: 10ms}"), "safe"},
	"122-busy-wait/pauses":           {lock("retry-delay: {min: 0s, max: 1us}"), "busy-wait"},
	"121-read-write/not-kept-out": {steps(func(step scenarios.Step) scenarios.Step {
		if step.Kind == scenarios.WithAllStep {
			step = scenarios.Step{Kind: scenarios.LockStep, For: 30 * time.Second, Resource: []string{"doc/1", "doc/2", "doc/3"}}
		}
		return step
	}), "safe"},
	"121-read-write/at-once": {func(s *scenarios.Scenario) {
		s.Timeline[len(s.Timeline)-1].Do = []scenarios.Step{{Kind: scenarios.WithAllStep, For: time.Second, Resource: []string{"doc"}}}
	}, "safe"},
	"121-read-write/dies":                                        {survives, "safe"},
	"121-read-write/dies-waiting":                                {survives, "safe"},
	"121-read-write/closed":                                      {instead(scenarios.CloseStep, scenarios.SleepStep), "safe"},
	"121-read-write/clock-jumps":                                 {fault("clock-step", "by: 0s"), "safe"},
	"120-permits-of-each-node/permits-are-locks":                 {lock("protocol: node-permits"), "lease-overlap"},
	"16-failed-acquire-cleans-up-with-del/parallel":              {lock("cleanup: cad"), "safe"},
	"16-failed-acquire-cleans-up-with-del/sequential":            {lock("cleanup: cad"), "safe"},
	"44-redisson/failover":                                       {later("power-loss", ms(100)), "safe"},
	"44-redisson/lost-wake-up":                                   {fault("partition", "for: 1ns"), "safe"},
	"44-redisson/holder-dies":                                    {survives, "safe"},
	"44-redisson/paused-holder":                                  {fault("pause", "for: 1ns"), "safe"},
	"45-redisson-fair/dead-head":                                 {survives, "safe"},
	"46-redisson-multi/red-lock":                                 {fault("clock-rate", "rate: 0%"), "safe"},
	"46-redisson-multi/multi-lock":                               {fault("clock-rate", "rate: 0%"), "safe"},
	"17-clock-jump":                                              {fault("clock-step", "by: 0s"), "safe"},
	"24-restart-at-once/one-of-three":                            {file("nodes: {persistence: always}"), "safe"},
	"68-lost-counters/three":                                     {file("nodes: {persistence: always}"), "safe"},
	"94-evicted-keys/majority":                                   {fault("evict", "keys: counters"), "safe"},
	"112-keys-overwritten/one-node":                              {lock("quorum: 3"), "safe"},
	"112-keys-overwritten/majority":                              {fault("evict", "keys: counters"), "safe"},
	"112-keys-overwritten/fenced":                                {lock("quorum: 3"), "safe"},
	"94-evicted-keys/spare":                                      {lock("quorum: 3"), "lease-overlap"},
	"24-restart-at-once/three-of-five":                           {file("nodes: {persistence: always}"), "safe"},
	"22-clock-rates/not-covered":                                 {fault("clock-rate", "rate: 0%"), "safe"},
	"11-three-nodes-unreachable":                                 {fault("partition", "for: 1ns"), "safe"},
	"14-partition-at-every-attempt/a-minute":                     {fault("partition", "for: 1ns"), "safe"},
	"14-partition-at-every-attempt/two-minutes":                  {fault("partition", "for: 1ns"), "safe"},
	"14-partition-at-every-attempt/healed":                       {fault("partition", "for: 1ns"), "safe"},
	"12-holder-dies/slow-nodes":                                  {fault("clock-rate", "rate: 0%"), "safe"},
	"18-clock-jump-on-all-nodes-held/one-of-five":                {text("timeline:\n", "timeline:\n  - {at: 0s, fault: {partition: {clients: [client-1], nodes: [A, B]}}}\n"), "lease-overlap"},
	"18-clock-jump-on-all-nodes-held/three-of-five":              {fault("clock-step", "by: 0s"), "safe"},
	"19-clock-steps-back/release-lost":                           {fault("clock-step", "by: 0s"), "safe"},
	"20-client-clock-steps-back/wall":                            {fault("clock-step", "by: 0s"), "safe"},
	"21-suspended-host/monotonic":                                {fault("suspend", "for: 1ns"), "safe"},
	"31-slow-acquire/replies-in-flight":                          {lock("protocol: redlock-plain, validity: unchecked"), "accepted-after-expiry"},
	"25-restart-delayed":                                         {fault("kill", "restart-after: 0s"), "lease-overlap"},
	"26-restart-too-early/too-short":                             {fault("kill", "restart-after: 10100ms"), "safe"},
	"26-restart-too-early/clock-jumped":                          {fault("clock-step", "by: 0s"), "safe"},
	"27-crash-after-set/every-second-power-loss":                 {file("nodes: {persistence: always}"), "safe"},
	"28-three-nodes-delayed-restart":                             {fault("kill", "restart-after: 0s"), "unprotected"},
	"133-messages-overtake":                                      {lock("protocol: redlock-plain, cleanup: del"), "lease-overlap, lost-update, conduct, contract"},
	"39-renewal/dies":                                            {survives, "safe"},
	"42-stuck-holder/two-minutes-without-limit":                  {lock("renewals: 3"), "safe"},
	"42-stuck-holder/limited":                                    {lock("renewals: 0"), "safe"},
	"43-extend-only-holder/at-once":                              {fault("kill", "restart-after: 10100ms"), "safe"},
	"43-extend-only-holder/delayed":                              {fault("kill", "restart-after: 0s"), "lease-overlap"},
	"boundaries/clock-step-breaks":                               {fault("clock-step", "by: 0s"), "safe"},
	"boundaries/restart-delay-breaks":                            {file("nodes: {persistence: always}"), "safe"},
	"15-sequential-acquire/sequential":                           {lock("asking: parallel"), "safe"},
	"15-sequential-acquire/parallel-waits-for-all":               {lock("protocol: redlock"), "safe"},
	"40-careless-renewal/one-node":                               {lock("extending: quorum"), "safe"},
	"40-careless-renewal/from-replies":                           {lock("extending: quorum"), "safe"},
	"41-extend-re-creates/sets":                                  {lock("extending: quorum"), "safe"},
	"30-restart-guard-and-clock-steps/forward-trusting-the-node": {fault("clock-step", "by: 0s"), "safe"},
	"34-fencing/paused":                                          {lock("fencing: false"), "stale-write"},
	"34-fencing/delayed":                                         {lock("fencing: false"), "stale-write"},
	"35-fencing-and-reads/before-the-first-effect":               {fault("pause", "for: 1ns"), "safe"},
	"35-fencing-and-reads/reads-unchecked":                       {file("storage: fenced"), "safe"},
	"35-fencing-and-reads/reads-checked":                         {file("storage: fenced-writes"), "stale-write, lost-update"},
	"37-compare-and-set-on-the-value/marked-before-the-pause":    {file("storage: register"), "stale-write"},
	"37-compare-and-set-on-the-value/marks-after-the-pause":      {fault("pause", "for: 1ns"), "safe"},
	"36-careless-tokens/one-node-forgets":                        {file("nodes: {persistence: always}"), "safe"},
	"36-careless-tokens/highest-of-a-quorum":                     {lock("tokens: one-node"), "safe"},
	"36-careless-tokens/drawn-before-the-lock":                   {fault("pause", "for: 1ns"), "safe"},
	"15-sequential-acquire/parallel-returns-at-quorum":           {lock("protocol: redlock-plain"), "safe"},
	"19-clock-steps-back/released":                               {instead(scenarios.UnlockStep, scenarios.SleepStep), "safe"},
	"20-client-clock-steps-back/monotonic":                       {lock("clock: wall"), "lease-overlap, contract, refinement"},
	"21-suspended-host/boottime":                                 {lock("clock: monotonic"), "lease-overlap"},
	"23-slewed-clocks":                                           {text("0.05%, for", "10%, for"), "lease-overlap, contract"},
	"24-restart-at-once/one-of-five":                             {text("timeline:\n", "timeline:\n  - {at: 0s, fault: {partition: {clients: [client-1], nodes: [D, E]}}}\n"), "lease-overlap"},
	"27-crash-after-set/snapshots-kill":                          {file("nodes: {persistence: always}"), "safe"},
	"27-crash-after-set/snapshots-power-loss-later":              {file("nodes: {snapshot-every: 1m}"), "lease-overlap"},
	"27-crash-after-set/snapshots-bring-back":                    {file("nodes: {snapshot-every: 1m}"), "safe"},
	"130-version-column/redisson-paused":                         {file("storage: register"), "stale-write, lost-update"},
	"130-version-column/single-paused":                           {file("storage: register"), "stale-write, lost-update"},
	"130-version-column/two-holders":                             {file("storage: register"), "lease-overlap, lost-update"},
	"130-version-column/late-write-first":                        {fault("pause", "for: 1ns"), "safe"},
	"131-values-that-are-not-random/same-microsecond":            {lock("value-from: random"), "safe"},
	"131-values-that-are-not-random/next-microsecond":            {timeline(func(item *scenarios.Item) { item.When.At = ms(1000) }), "lease-overlap, conduct"},
	"131-values-that-are-not-random/two-clients":                 {lock("value-from: time"), "lease-overlap, conduct"},
	"131-values-that-are-not-random/two-threads":                 {lock("value-from: random"), "safe"},
	"131-values-that-are-not-random/clock-steps-back":            {fault("clock-step", "by: 0s"), "safe"},
	"27-crash-after-set/every-second-kill":                       {file("nodes: {persistence: none}"), "lease-overlap"},
	"27-crash-after-set/always-power-loss":                       {file("nodes: {persistence: none}"), "lease-overlap"},
	"38-orphaned-votes/two":                                      {twoVotes, "safe"},
	"39-renewal/finishes":                                        {instead(scenarios.RenewStep, scenarios.SleepStep), "stale-write"},
	"39-renewal/again":                                           {instead(scenarios.RenewStep, scenarios.SleepStep), "stale-write, accepted-after-expiry"},
	"39-renewal/again-after-a-loss":                              {instead(scenarios.RenewStep, scenarios.SleepStep), "stale-write"},
	"39-renewal/shorter":                                         {instead(scenarios.ExtendStep, scenarios.SleepStep), "stale-write"},
	"39-renewal/renewed-after-a-shorter-one":                     {instead(scenarios.RenewStep, scenarios.SleepStep), "stale-write"},
	"57-renewal-fails-once/a-longer-one":                         {instead(scenarios.RenewStep, scenarios.SleepStep), "stale-write"},
	"39-renewal/beside":                                          {instead(scenarios.RenewStep, scenarios.SleepStep), "stale-write, accepted-after-expiry"},
	"40-careless-renewal/by-the-rules":                           {lock("protocol: redlock-plain, extending: any-node"), "lease-overlap, contract"},
	"41-extend-re-creates/compares":                              {lock("protocol: redlock-plain, extending: set"), "lost-update"},
	"42-stuck-holder/a-minute-without-limit":                     {lock("renewals: 3"), "safe"},
	"boundaries/clock-step-holds":                                {fault("clock-step", "by: 9001ms"), "lease-overlap"},
	"boundaries/restart-delay-holds":                             {fault("kill", "restart-after: 8897ms"), "lease-overlap"},
	"boundaries/pause-holds":                                     {fault("pause", "for: 10002ms"), "stale-write"},
	"boundaries/pause-breaks":                                    {fault("pause", "for: 10001ms"), "accepted-after-expiry"},
	"boundaries/drift-holds":                                     {lock("drift: {constant: 1817ms}"), "lease-overlap, contract"},
	"boundaries/drift-breaks":                                    {lock("drift: {constant: 1818ms}"), "safe"},
	"33-delayed-write":                                           {fault("hold", "for: 1ns"), "safe"},
	"38-orphaned-votes/three":                                    {fault("delay", "by: 1ns"), "safe"},
	"38-orphaned-votes/three-released-once":                      {fault("delay", "by: 1ns"), "safe"},
	"32-pause-before-write":                                      {fault("pause", "for: 1ns"), "safe"},
	"69-two-locks/independent": {func(s *scenarios.Scenario) { // of one lock
		s.Timeline = slices.Clone(s.Timeline)
		for i := range s.Timeline {
			s.Timeline[i].Resource = s.Resources[:1]
		}
	}, "conduct"}, // more commands than two locks need
	"69-two-locks/one-breaks":               {fault("clock-step", "by: 0s"), "safe"},
	"109-wrong-answers/a-majority":          {fault("wrong-answers", "for: 1ns"), "safe"},
	"109-wrong-answers/released-in-vain":    {fault("wrong-answers", "for: 1ns"), "safe"},
	"108-what-locks-cost/one-by-one":        {oneFewer, "conduct"},
	"108-what-locks-cost/several-as-one":    {oneFewer, "conduct"},
	"108-what-locks-cost/prepared-in-part":  {oneFewer, "conduct"},
	"108-what-locks-cost/late-vote":         {oneFewer, "conduct"},
	"108-what-locks-cost/refused":           {oneFewer, "conduct"},
	"117-vote-crosses-the-release":          {oneFewer, "conduct"},
	"108-what-locks-cost/released-together": {lock("batching: 100"), "conduct"},
	"108-what-locks-cost/voted-together":    {lock("batching: 100"), "conduct"},
	"67-batches/after-silence":              {fault("partition", "for: 10s"), "safe"},
	"67-batches/together":                   {lock("retry-delay: {min: 5s, max: 5s}"), "safe"},
	"70-locks-in-opposite-orders/opposite": {func(s *scenarios.Scenario) { // in the same
		s.Timeline = slices.Clone(s.Timeline)
		s.Timeline[1].Do = s.Timeline[0].Do
	}, "safe"},
	"70-locks-in-opposite-orders/unchecked":  {instead(scenarios.WriteUncheckedStep, scenarios.WriteStep), "safe"},
	"70-locks-in-opposite-orders/same":       {steppingAs("70-locks-in-opposite-orders/opposite"), "safe"},
	"70-locks-in-opposite-orders/at-once":    {steppingAs("70-locks-in-opposite-orders/opposite"), "safe"},
	"71-locks-on-several-resources/jump":     {fault("clock-step", "by: 0s"), "safe"},
	"72-one-token-for-several-resources":     {file("storage: register"), "stale-write, accepted-after-expiry"},
	"74-joint-commands/refused-by-the-guard": {unguarded, "lease-overlap"},
	"75-split-batches/silently":              {fault("split", "for: 1ns"), "safe"},
	"76-guard-time/without":                  {fault("pause", "for: 1ns"), "safe"},
	"76-guard-time/with":                     {lock("guard-time: 0s"), "stale-write"},
	"77-reset-and-restart/reset":             {later("reset", 500*time.Millisecond), "safe"},
	"77-reset-and-restart/votes-cast":        {later("reset", 500*time.Millisecond), "safe"},
	"77-reset-and-restart/restart":           {later("restart", time.Second), "safe"},

	"78-clock-stall/holder": {fault("clock-stall", "for: 1ns"), "safe"},
	"78-clock-stall/nodes":  {fault("clock-stall", "for: 1ns"), "safe"}, // and client 2 waits until 10 s only

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
	"81-released-and-lost/on-a-minority":     {fault("partition", "for: 1ms"), "safe"},
	"82-with-lock/renewed":                   {lock("renewals: 1"), "safe"},
	"82-with-lock/limit":                     {asUsual(scenarios.WithLockStep), "safe"},
	"82-with-lock/max-time":                  {asUsual(scenarios.RenewStep), "safe"},
	"82-with-lock/wait":                      {asUsual(scenarios.WithLockStep), "safe"},
	"82-with-lock/cancelled":                 {asUsual(scenarios.WithLockStep), "safe"},
	"82-with-lock/longest-time":              {asUsual(scenarios.RenewStep), "safe"},
	"82-with-lock/renewal-fails":             {fault("partition", "for: 1ms"), "safe"},
	"103-closed-client":                      {instead(scenarios.CloseStep, scenarios.SleepStep), "safe"},
	"114-renewal-with-jitter/renewed":        {lock("renewals: 1"), "safe"},
	"119-semaphore/turns":                    {lock("retry-delay: {min: 2s, max: 2s}"), "safe"},
	"119-semaphore/lost-here":                {lock("ttl: 40s"), "safe"},
	"119-semaphore/closed":                   {instead(scenarios.CloseStep, scenarios.SleepStep), "safe"},
	"119-semaphore/no-quorum":                {fault("kill", "restart-after: 1ms"), "safe"},
	"121-read-write/handed-on":               {lock("retry-delay: {min: 2s, max: 2s}"), "safe"},
	"82-with-lock/told-early":                {lock("loss-lead: 0s"), "safe"},
	"83-new-client/closed-while-waiting":     {instead(scenarios.CloseStep, scenarios.SleepStep), "safe"},
	"83-new-client/holding":                  {instead(scenarios.CloseStep, scenarios.SleepStep), "safe"},
	"84-late-messages/stragglers":            {fault("delay", "by: 1ns"), "safe"},
	"84-late-messages/release":               {fault("delay", "by: 1ns"), "safe"},
	"85-guard-and-a-shorter-ttl":             {unguarded, "lease-overlap"},
	"86-counters-that-expire/too-soon":       {lock("counter-ttl: 1h"), "safe"},
	"86-counters-that-expire/long-enough":    {lock("counter-ttl: 10s"), "token-repeated"},

	"47-consensus/paused-client":                  {fault("pause", "for: 1ns"), "safe"},
	"47-consensus/paused-client-fenced":           {file("storage: register"), "stale-write"},
	"47-consensus/cut-off-client":                 {lock("belief: told"), "lease-overlap"},
	"47-consensus/cut-off-client-until-told":      {lock("belief: acknowledged"), "safe"},
	"47-consensus/cut-off-with-the-leader":        {lock("belief: told"), "lease-overlap"},
	"47-consensus/leader-cut-off":                 {lock("node-timeout: 30s"), "safe"}, // stays with the old leader
	"47-consensus/minority":                       {fault("partition", "for: 1ns"), "safe"},
	"48-database-row-lock/before-the-write":       {lock("effects: storage"), "stale-write"},
	"48-database-row-lock/outside":                {lock("effects: transaction"), "safe"},
	"49-database-unique-index/one-minute":         {lock("clean-up: 10s"), "safe"},
	"49-database-unique-index/ten-minutes":        {lock("clean-up: 10s"), "safe"},
	"49-database-unique-index/clean-up":           {lock("clean-up: 0s"), "safe"},
	"49-database-unique-index/clean-up-too-early": {lock("clean-up: 0s"), "safe"},
	"50-conditional-update":                       {file("storage: register"), "stale-write"},

	"90-failed-attempt-leaves-its-votes": {lock("cleanup: cad"), "safe"},

	"92-counters-set-by-hand/one-node":          {countersOfAll, "safe"},
	"92-counters-set-by-hand/one-of-two-by-far": {fault("set-counters", "to: 1"), "safe"},
	"92-counters-set-by-hand/two-of-five":       {countersOfAll, "safe"},
	"92-counters-set-by-hand/largest":           {fault("set-counters", "to: 1"), "safe"},

	"97-server-without-a-command/no-release":                    {file("nodes: {forbidden: null}"), "safe"},
	"97-server-without-a-command/no-extend-and-fencing":         {file("nodes: {forbidden: null}"), "safe"},
	"97-server-without-a-command/no-release-and-votes-together": {file("nodes: {forbidden: null}"), "safe"},

	"115-commands-in-place-of-scripts/several-ttls": {file("nodes: {forbidden: null}"), "safe"},

	"95-higher-quorum/two-forget":       {lock("quorum: 3"), "lease-overlap"},
	"95-higher-quorum/three-forget":     {file("nodes: {persistence: always}"), "safe"},
	"95-higher-quorum/two-down":         {fault("power-loss", "restart-after: 0s"), "safe"},
	"51-implementations/redlock-rb":     {lock("node-timeout: 1m"), "safe"},
	"51-implementations/redlock-py":     {lock("failed-node: no-vote"), "safe"},
	"51-implementations/redlock-php":    {lock("failed-node: no-vote"), "safe"},
	"51-implementations/phpredis-mutex": {lock("node-timeout: 50ms"), "safe"},
	"51-implementations/redsync":        {lock("node-timeout: 50ms"), "safe"},
	"51-implementations/redisson":       {lock("node-timeout: 50ms"), "safe"},
	// a release still dies at B
	"51-implementations/redis-distlock":          {lock("node-timeout: 50ms"), "conduct, leftover"},
	"51-implementations/redlock-cpp":             {lock("connect-timeout: 0s"), "safe"},
	"51-implementations/redlock-cs":              {lock("failed-release: go-on"), "safe"},
	"51-implementations/redlock-net":             {lock("node-timeout: 50ms"), "safe"},
	"51-implementations/scarletlock":             {lock("failed-release: go-on"), "safe"},
	"51-implementations/node-redlock":            {lock("cleanup: cad"), "safe"},
	"104-faults-at-messages/votes-unheard":       {fault("partition", "for: 1ns"), "safe"},
	"104-faults-at-messages/voter-killed":        {file("nodes: {persistence: none}"), "lease-overlap"},
	"104-faults-at-messages/paused-after-asking": {fault("pause", "for: 1ns"), "safe"},
	"104-faults-at-messages/release-lost":        {fault("partition", "for: 1ns"), "safe"},
	"104-faults-at-messages/extend-unheard":      {fault("partition", "for: 1ns"), "safe"},
	"106-silent-nodes":                           {fault("partition", "for: 1ns"), "safe"},
	"105-restarted-client/waits-for-itself":      {lock("protocol: redlock-plain, value: client"), "conduct, contract"},
	"105-restarted-client/late-release":          {lock("protocol: redlock-plain, value: client"), "lease-overlap, conduct, contract"},
	"105-restarted-client/late-release-by-name":  {lock("value: attempt"), "safe"},

	"52-implementations-and-slow-acquires/redlock-rb":                  {lock("clock: wall"), "lease-overlap, contract"},
	"52-implementations-and-slow-acquires/redlock-rb-extends":          {lock("extending: quorum"), "safe"},
	"52-implementations-and-slow-acquires/redlock-py":                  {lock("clock: monotonic"), "safe"},
	"52-implementations-and-slow-acquires/redlock-py-clock-in-order":   {lock("validity: unchecked"), "accepted-after-expiry"},
	"52-implementations-and-slow-acquires/redlock-php":                 {lock("clock: monotonic"), "safe"},
	"52-implementations-and-slow-acquires/phpredis-mutex":              {lock("clock: monotonic"), "safe"},
	"52-implementations-and-slow-acquires/redsync":                     {lock("clock: wall"), "lease-overlap, contract"},
	"52-implementations-and-slow-acquires/redisson":                    {lock("clock: monotonic"), "safe"},
	"52-implementations-and-slow-acquires/redis-distlock":              {lock("clock: monotonic"), "safe"},
	"52-implementations-and-slow-acquires/redlock-cpp":                 {lock("clock: monotonic"), "safe"},
	"52-implementations-and-slow-acquires/redlock-cpp-cut-off":         {lock("connect-timeout: 0s"), "safe"},
	"52-implementations-and-slow-acquires/redlock-cs":                  {lock("clock: monotonic"), "safe"},
	"52-implementations-and-slow-acquires/redlock-net":                 {lock("clock: wall"), "lease-overlap, contract"},
	"52-implementations-and-slow-acquires/scarletlock":                 {lock("clock: monotonic"), "safe"},
	"52-implementations-and-slow-acquires/node-redlock":                {lock("clock: monotonic"), "safe"},
	"52-implementations-and-slow-acquires/node-redlock-clock-in-order": {lock("validity: checked"), "safe"},
}

// oneFewer allows for one command less than the algorithm needs.
func oneFewer(s *scenarios.Scenario) { s.Expect.Commands-- }

// Every counterexample, and every scenario that is safe because something is done in time, must come out otherwise when
// its cause is taken away.
func TestCausesAreCauses(t *testing.T) {
	for name, cause := range causes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := *scenariotest.Named(t, name)
			cause.remove(&s)
			for _, tier := range scenarios.Tiers() {
				r := scenariotest.Judged(t, &s, scenarios.Options{Tier: tier})
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
