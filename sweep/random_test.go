package sweep_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"

	"redlocksim/adversary"
	"redlocksim/scenarios"
	"redlocksim/scenarios/protocols"
	"redlocksim/sweep"
)

var randomSettings = flag.Int("random-settings", 40, "how many random settings are attacked; 500 take about a minute")

// drawn is a random settings file: latency distributions, TTLs, nodes, quorums, presets, guard times, drift, kinds of clock.
func drawn(r *rand.Rand) string {
	one := func(of ...string) string { return of[r.IntN(len(of))] }
	n := 1 + r.IntN(7)
	lock := fmt.Sprintf("ttl: %dms, node-timeout: %dms, guard-time: %dms, clock: %s, drift: {factor: %d%%, constant: %dms}",
		2000+r.IntN(20000), 100+r.IntN(300), r.IntN(2)*r.IntN(1000), one("monotonic", "boottime", "wall"), r.IntN(20), r.IntN(20))
	if r.IntN(3) == 0 {
		lock += ", preset: " + one(protocols.Presets()...)
	} else {
		lock += ", protocol: " + one("redlock", "redlock-plain") + fmt.Sprintf(", quorum: %d", n/2+1+r.IntN(n-n/2))
	}
	latency := fmt.Sprintf("{min: %dms, max: %dms}", r.IntN(5), 5+r.IntN(30))
	if r.IntN(2) == 0 {
		latency = fmt.Sprintf("{min: %dus, p50: 3ms, p99: 9ms, max: %dms}", r.IntN(3000), 10+r.IntN(30))
	}
	return fmt.Sprintf("lock: {%s}\nnodes: {names: %v, persistence: %s}\nnetwork: {latency: %s}\nbudget: {clock-rate: %d%%, clock-step: %dms, pause: %dms, suspend: %dms, restart-delay: %dms, memory-loss: %d}\n",
		lock, "["+join(sweep.NodeNames(n))+"]", one("none", "everysec", "always"), latency, r.IntN(8), r.IntN(2)*r.IntN(400), r.IntN(3000), r.IntN(2)*r.IntN(800), r.IntN(25000), r.IntN(n+1))
}

func join(names []string) string {
	text := ""
	for i, name := range names {
		if i > 0 {
			text += ", "
		}
		text += name
	}
	return text
}

// Whatever the settings, an attack takes place or says why it does not, which few do.
func TestAttacksTakePlace(t *testing.T) {
	attacks, untested, broken := 0, 0, 0
	for seed := range uint64(*randomSettings) {
		text := drawn(rand.New(rand.NewPCG(seed, 1)))
		s, err := scenarios.ParseSettings("drawn", []byte(text))
		if err != nil {
			continue // a combination that the lock refuses
		}
		all, _ := adversary.Find()
		for _, x := range all {
			out, err := x.Run(&adversary.Settings{Scenario: s, Pause: s.Budget.Pause}, scenarios.Options{Seed: seed})
			if err != nil {
				t.Fatalf("%s\n%v", text, err)
			}
			attacks++
			switch {
			case out.Broken != "":
				broken++
			case out.NotTested != "":
				untested++
				t.Logf("seed %d, %s: %s", seed, x.Name, out.NotTested)
			}
		}
	}
	t.Logf("%d attacks: %d broke the lock, %d not tested", attacks, broken, untested)
	if attacks == 0 || untested*20 > attacks {
		t.Errorf("%d of %d attacks were not tested, more than 5 %%", untested, attacks)
	}
}
