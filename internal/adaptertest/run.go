//go:build unix

package adaptertest

import "testing"

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
