//go:build unix

package adaptertest

import "testing"

var tests = []struct {
	name string
	run  func(*testing.T, Adapter)
}{
	{"Semantics", semanticsOfCommands},
	{"Conditions", conditionsOfVotes},
	{"ABatchIsItsCommandsInOrder", aBatchIsItsCommandsInOrder},
	{"ManyAtOnce", manyAtOnce},
	{"SlotsApart", slotsApart},
	{"Rounds", roundTrips},
	{"ConditionalRounds", conditionalRounds},
	{"Outcomes", outcomes},
	{"StrangeReplies", strangeReplies},
	{"BrokenPipeline", brokenPipeline},
	{"Closed", closed},
	{"DialOutlivesDeadline", dialOutlivesDeadline},
	{"HostileReplies", hostileReplies},
	{"HostileSubscriptions", hostileSubscriptions},
	{"HostileMinority", hostileMinority},
	{"ServerOutOfMemory", serverOutOfMemory},
	{"ServerBecomesReplica", serverBecomesReplica},
	{"ServerComesBack", serverComesBack},
	{"GuardOnRealServer", guardOnRealServer},
	{"ForbiddenCommands", forbiddenCommands},
	{"CommandsForbiddenLater", commandsForbiddenLater},
	{"EvalshaForbidden", evalshaForbidden},
	{"PlainReleaseFallsBack", plainReleaseFallsBack},
	{"Replicas", replicas},
	{"Listen", listen},
	{"ListenToNobody", listenToNobody},
	{"ClosedTwiceWhileListening", closedTwiceWhileListening},
	{"WakeUp", wakeUp},
	{"WakeUpForbidden", wakeUpForbidden},
	{"WakeUpFails", wakeUpFails},
	{"ListenToSilence", listenToSilence},
	{"ListenAfterSilence", listenAfterSilence},
	{"NobodyListensInThePause", nobodyListensInThePause},
}

// Run runs all tests.
func Run(t *testing.T, a Adapter) {
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) { test.run(t, a) })
	}
}
