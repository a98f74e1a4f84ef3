package checker

import "redlocksim/sim/history"

// healing is the name of the fault by which a history says that all faults have been undone.
const healing = "heal"

// healed is the Seq at which the faults were undone last, 0 if they never were.
func (t *transcript) healed() int {
	for i := len(t.kept) - 1; i >= 0; i-- {
		if e := &t.kept[i]; e.Kind == history.Fault && e.Name == healing {
			return e.Seq
		}
	}
	return 0
}

// slowestRecovery finds the process that was granted last for the first time after the faults were undone: its wait from
// that moment, or from the first one after it at which it asks, to its first grant after it; if it is not granted, until
// it stops asking for good. The first of equals; none if nobody asks after the moment, or it never came.
//
// It is the liveness phase of a test with faults: a lock that is free and whose nodes can be reached must be had again,
// by everybody who keeps asking.
func slowestRecovery(t *transcript, asked []asking, healed int) Wait {
	if healed == 0 {
		return Wait{}
	}
	var recoveries []asking
	place := map[string]int{}
	for _, a := range asked {
		if a.to < healed {
			continue
		}
		i, known := place[a.process]
		switch {
		case !known:
			place[a.process] = len(recoveries)
			a.from = max(a.from, healed)
			recoveries = append(recoveries, a)
		case !recoveries[i].granted:
			recoveries[i].to, recoveries[i].granted = a.to, a.granted
		}
	}
	var slowest Wait
	for _, a := range recoveries {
		if w := t.wait(a); slowest.Process == "" || w.For() > slowest.For() {
			slowest = w
		}
	}
	return slowest
}
