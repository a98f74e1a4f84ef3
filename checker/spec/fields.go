package spec

import (
	"fmt"
	"slices"
	"strings"

	"redlocksim/redlock/driver"
	"redlocksim/redlock/observe"
)

// fields are those of a step that belong to some steps only.
type fields uint16

const (
	fieldNode fields = 1 << iota
	fieldLate
	fieldAccepted
	fieldQuorum
	fieldValidity
	fieldUntil
	fieldToken
	fieldDelay
	fieldReason
)

var fieldNames = [...]string{"Node", "Late", "Accepted", "Quorum", "Validity", "Until", "Token", "Delay", "Err"}

func (f fields) String() string {
	var names []string
	for i, name := range fieldNames {
		if f&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

// fieldsOf are those that are not zero.
func fieldsOf(e *Event) (set fields) {
	for i, isSet := range [...]bool{e.Node.Node != "" || e.Node.Outcome != 0 || e.Node.Err != nil || e.Node.Took != 0, e.Late, e.Accepted != 0, e.Quorum != 0, e.Validity != 0,
		!e.Until.IsZero(), e.Token != 0, e.Delay != 0, e.Err != nil} {
		if isSet {
			set |= 1 << i
		}
	}
	return set
}

// shape is what a step looks like.
type shape struct {
	ops  []driver.Op // that it may be of; none for a step of no operation
	must fields      // that it has
	may  fields      // and those that it can have beside
}

var (
	acquires = []driver.Op{driver.OpAcquire}
	extends  = []driver.Op{driver.OpExtend}
	releases = []driver.Op{driver.OpRelease}
	votes    = []driver.Op{driver.OpAcquire, driver.OpExtend}
	every    = []driver.Op{driver.OpAcquire, driver.OpExtend, driver.OpRelease, driver.OpPrepare}
)

// shapes are those of the steps, by [observe.Event]: fields that do not belong to a step are zero.
var shapes = [...]shape{
	observe.AttemptStarted:   {ops: acquires},
	observe.NodeAnswered:     {ops: every, must: fieldNode, may: fieldLate},
	observe.QuorumReached:    {ops: votes, must: fieldAccepted | fieldQuorum},
	observe.QuorumLost:       {ops: votes, must: fieldQuorum | fieldReason, may: fieldAccepted},
	observe.TokenRaised:      {ops: acquires, must: fieldToken},
	observe.ValidityComputed: {ops: votes, must: fieldUntil, may: fieldValidity},
	observe.Granted:          {ops: acquires, must: fieldValidity | fieldUntil, may: fieldToken},
	observe.Denied:           {ops: acquires, must: fieldReason},
	observe.Retrying:         {ops: acquires, must: fieldReason, may: fieldDelay},
	observe.GaveUp:           {ops: acquires, must: fieldReason},
	observe.ExtendStarted:    {ops: extends},
	observe.Extended:         {ops: extends, must: fieldValidity | fieldUntil},
	observe.NotExtended:      {ops: extends, must: fieldReason},
	observe.Lost:             {must: fieldUntil},
	observe.ReleaseStarted:   {ops: releases},
	observe.Released:         {ops: releases, must: fieldQuorum, may: fieldAccepted | fieldReason},
	observe.Joined:           {ops: acquires, must: fieldNode},
	observe.TakenBack:        {ops: releases, must: fieldNode},
	observe.Queued:           {ops: acquires},
	observe.Yielding:         {ops: acquires, must: fieldDelay},
	observe.GateAsked:        {ops: acquires, must: fieldNode},
}

// misshapen says what is wrong with a step by itself.
func misshapen(e *Event) (why string) {
	if e.Step == 0 || int(e.Step) >= len(shapes) {
		return "there is no such step"
	}
	s, has := shapes[e.Step], fieldsOf(e)
	switch missing, strange := s.must&^has, has&^(s.must|s.may); {
	case len(s.ops) == 0 && e.Op != 0:
		return fmt.Sprintf("it belongs to no operation, and says %s", e.Op)
	case len(s.ops) > 0 && !slices.Contains(s.ops, e.Op):
		return fmt.Sprintf("it does not belong to the operation %s", e.Op)
	case missing != 0:
		return "without " + missing.String()
	case strange != 0:
		return "with " + strange.String() + ", which does not belong to it"
	}
	return ""
}
