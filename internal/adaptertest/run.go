//go:build unix

package adaptertest

import (
	"flag"
	"testing"

	"go.uber.org/goleak"
)

// atOnce is how many tests run at a time: they mostly wait.
const atOnce = "16"

// Main runs the tests of an adapter, and sees that they leave no goroutines behind.
func Main(m *testing.M, others ...goleak.Option) {
	flag.Parse()
	if err := flag.Set("test.parallel", atOnce); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m, others...)
}

// Run runs all tests.
func Run(t *testing.T, a Adapter) {
	for _, test := range []struct {
		name string
		run  func(*testing.T, Adapter)
	}{
		{"Commands", commands},
		{"ABatchIsItsCommandsInOrder", aBatchIsItsCommandsInOrder},
		{"Rounds", roundTrips},
		{"PlainReleaseFallsBack", plainReleaseFallsBack},
		{"SlotsApart", slotsApart},
		{"Outcomes", outcomes},
		{"BrokenPipeline", brokenPipeline},
		{"Closed", closed},
		{"DialOutlivesDeadline", dialOutlivesDeadline},
		{"Hostile", hostile},
		{"ServersThatChange", serversThatChange},
		{"ServerComesBack", serverComesBack},
		{"GuardOverRestarts", guardOverRestarts},
		{"Forbidden", forbidden},
		{"Replicas", replicas},
		{"Listen", listen},
		{"ListenForbidden", listenForbidden},
		{"ListenFails", listenFails},
		{"ListenToSilence", listenToSilence},
		{"ListenAfterSilence", listenAfterSilence},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, a) })
	}
}
