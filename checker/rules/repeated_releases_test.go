package rules

import (
	"testing"
	"time"

	"redlocksim/checker"
	"redlocksim/redlock/driver"
	"redlocksim/sim/redis"
	"redlocksim/sim/trace"
)

// A message takes a millisecond, and the client of the test waits for a second for an answer.
func TestReleasesAreRepeatedInVain(t *testing.T) {
	const (
		confirmed = "c1 sends A a release again that the node has confirmed"
		open      = "c1 sends A a release again, "
		unheard   = "cut-replies A; SET r v on A; mend A; 2s; " // an acquire, whose answer is lost
	)
	for _, c := range []struct {
		name, does string
		says       driver.Outcome // the node, of releases
		counts     bool           // what the node says as a confirmation
		want       string
	}{
		{"once", "SET r v on A; 1ms; DEL r on A", driver.Accepted, true, ""},
		{"once on each node", "SET r v on AB; DEL r on AB", driver.Accepted, true, ""},
		{"twice at once", "SET r v on A; 1ms; meanwhile DEL r on A; DEL r on A", driver.Accepted, false, open + "0s after the one before"},
		{"while the answer is on its way", "SET r v on A; 1ms; meanwhile DEL r on A; 1ms; DEL r on A", driver.Accepted, false, open + "1ms after the one before"},
		{"behind the answer", "SET r v on A; 1ms; DEL r on A; DEL r on A", driver.Accepted, true, confirmed},
		{"long after the answer", "SET r v on A; 1ms; DEL r on A; 5s; DEL r on A", driver.Accepted, true, confirmed},
		{"where the key is gone", "SET r v on A; 1ms; DEL r on A; DEL r on A", driver.Declined, true, confirmed},
		{"for another vote", "SET r v on A; 1ms; DEL r on A; SET r w on A; DEL r on A", driver.Accepted, true, ""},
		{"for a vote that is cast again", "SET r v on A; 1ms; DEL r on A; SET r v on A; DEL r on A", driver.Accepted, true, ""},

		{"after an error", "SET r v on A; 1ms; DEL r on A; DEL r on A", driver.Failed, false, ""},
		{"while the answer is lost", "SET r v on A; 1ms; cut-replies A; meanwhile DEL r on A; 999ms; DEL r on A", driver.Accepted, false, open + "999ms after the one before"},
		{"when the answer is lost", "SET r v on A; 1ms; cut-replies A; meanwhile DEL r on A; 1s; DEL r on A", driver.Accepted, false, ""},
		{"after a reset", "SET r v on A; 1ms; meanwhile DEL r on A; in 1ms reset A; 2ms; DEL r on A", driver.Accepted, true, ""},

		{"of an acquire that may still come", unheard + "DEL r on A; DEL r on A", driver.Declined, false, ""},
		{"of an acquire that has come", unheard + "DEL r on A; DEL r on A", driver.Accepted, true, confirmed},
		{"of two acquires, of which one may still come", unheard + "SET r v on A; 1ms; DEL r on A; DEL r on A", driver.Accepted, false, ""},
		{"of two acquires, while the answer is on its way", unheard + "SET r v on A; 1ms; meanwhile DEL r on A; DEL r on A", driver.Accepted, false, ""},
		{"of two acquires that have come", "SET r v on A; SET r v on A; 1ms; DEL r on A; DEL r on A", driver.Accepted, true, confirmed},

		// The client may have given up what had to wait for its turn.
		{"of what may have waited", "meanwhile SET r v on A; 2ms; meanwhile DEL r on A; DEL r on A", driver.Accepted, false, ""},
		{"of what may have waited while the client stood still",
			"SET r v on A; cut-replies A; meanwhile SET r w on A; in 1ms pause; in 3s resume; 2ms; mend A; meanwhile DEL r on A; DEL r on A", driver.Accepted, false, ""},
		{"behind what nobody waits for", "SET r v on A; cut-replies A; meanwhile SET s v on A; 3s; mend A; meanwhile DEL r on A; DEL r on A", driver.Accepted, false,
			open + "0s after the one before"},
	} {
		t.Run(c.name, func(t *testing.T) {
			rig := newRig(t).patient()
			r := unwatched(t, nil, rig.plain())
			trace.On(r.World.Events, func(a *redis.Asked) { // as if the library was told
				if a.At == redis.Answered {
					a.Answer = map[redis.Intent]driver.Outcome{redis.Sets: driver.Accepted, redis.Deletes: c.says}[a.Intent]
				}
			})
			r.watch(repeatedReleasesRule)
			r.does("c1", c.does)
			r.finds(t, checker.Conduct, c.want)
			if n := r.Watched["repeated-releases"]; (n > 0) != c.counts {
				t.Errorf("counted %d premises", n)
			}
		})
	}
}

// Where the code of a client takes time, a command may have been due before it is sent.
func TestRepeatedReleasesAndStepTime(t *testing.T) {
	r := newRig(t).patient()
	r.StepTime = time.Millisecond
	r = r.only("repeated-releases")
	r.does("c1", "SET r v on A; 50ms; DEL r on A; DEL r on A")
	r.finds(t, checker.Conduct, "")
}
