package foreign

import (
	"strconv"
	"strings"
	"time"
)

// field is a field of an operation that means something here.
type field uint8

const (
	processField field = iota
	typeField
	functionField
	valueField
	timeField
	indexField
	// argsField and countField count only where there are semaphores.
	argsField
	lockField
	tokenField
	modeField
	permitsField
	countField
	// leaseField has the length of a lease. That of a field which is only called lease may be its name.
	leaseField
	leaseNameField
	fieldCount
	// commentField says why something failed; noField is unknown.
	commentField
	noField
)

// role is what a field is for. The unit is that of a length of time, if its name tells: lease_ms.
type role struct {
	field field
	unit  time.Duration
}

// fieldNames are the names of fields in the form that plain gives them.
var fieldNames = map[string]field{
	"process": processField, "type": typeField, "f": functionField, "value": valueField,
	"time": timeField, "index": indexField,
	"key": lockField, "lock": lockField, "name": lockField, "resource": lockField,
	"lockname": lockField, "lockkey": lockField,
	"token": tokenField, "fence": tokenField, "fencingtoken": tokenField,
	"mode": modeField, "lockmode": modeField, "permits": permitsField,
	"acquiredpermits": permitsField, "numpermits": permitsField,
	"count": countField, "n": countField, "weight": countField, "amount": countField, "tokens": countField,
	"args": argsField,
	"ttl":  leaseField, "leasetime": leaseField, "leaseduration": leaseField, "leasettl": leaseField,
	"lockttl":      leaseField,
	"lockduration": leaseField, "leaselength": leaseField,
	"lease": leaseNameField,
	"error": commentField, "exception": commentField,
}

// units are the names of units of time, short and long, in the form that plain gives them.
var units = map[string]time.Duration{
	"ns": time.Nanosecond, "nanos": time.Nanosecond, "nanoseconds": time.Nanosecond, "nanosecond": time.Nanosecond,
	"us": time.Microsecond, "micros": time.Microsecond,
	"microseconds": time.Microsecond, "microsecond": time.Microsecond,
	"ms": time.Millisecond, "millis": time.Millisecond,
	"milliseconds": time.Millisecond, "millisecond": time.Millisecond,
	"s": time.Second, "sec": time.Second, "secs": time.Second, "seconds": time.Second, "second": time.Second,
	"m": time.Minute, "min": time.Minute, "mins": time.Minute, "minutes": time.Minute, "minute": time.Minute,
	"h": time.Hour, "hour": time.Hour, "hours": time.Hour,
}

// roleOf is what a field of this name is for. Those that every history has, and that may mean something else, as Name,
// are written in one way only. A length of time may have its unit behind it: ttl_ms, leaseDurationSeconds.
func roleOf(name string) role {
	short := plain(name)
	f, known := fieldNames[short]
	if known && (f > lockField || name == short || strings.HasPrefix(short, "lock")) {
		return role{field: f}
	}
	at := strings.LastIndexAny(name, "-_ ") + 1
	if at == 0 {
		at = strings.LastIndexFunc(name, func(c rune) bool { return 'A' <= c && c <= 'Z' })
	}
	if at > 0 {
		unit, isUnit := units[plain(name[at:])]
		if f, known := fieldNames[plain(name[:at])]; isUnit && (known && f == leaseField || f == leaseNameField) {
			return role{leaseField, unit}
		}
	}
	return role{field: noField}
}

// fields are the places of an operation's values among the nodes; 0 for a field that is not there, or nil. unit is that
// of the length of the lease, if the field's name tells.
type fields struct {
	at   [fieldCount]int32
	unit time.Duration
	data int32 // a number that is the value itself
	// unknown are the keys of the operation that are not understood, and unknownOfValue those of its value.
	unknown, unknownOfValue []int32
}

// fields finds the fields of a map: of the operation that the scanner holds, or of its value, where those do not count that
// every operation has.
func (r *reader) fields(record int32) (found fields, err error) {
	nodes := r.s.nodes
	for at := record + 1; at < nodes[record].end; at = nodes[nodes[at].end].end {
		as, val := roleOf(string(r.field(&nodes[at]))), nodes[at].end
		switch {
		case as.field == commentField:
		case as.field == noField, as.field < lockField && record != 0,
			(as.field == argsField || as.field == countField) && len(r.o.Semaphores) == 0:
			found.unknown = append(found.unknown, at)
		case nodes[val].kind == nothing:
		case found.at[as.field] != 0:
			return found, notOperation("%q is there twice", r.field(&nodes[at]))
		default:
			found.at[as.field] = val
			if as.field == leaseField {
				found.unit = as.unit
			}
		}
	}
	return found, nil
}

// addValue adds the fields of a value that is a map. What the operation says itself counts first.
func (f *fields) addValue(inside fields) {
	for i, at := range inside.at {
		if f.at[i] == 0 && at != 0 {
			f.at[i] = at
			if field(i) == leaseField {
				f.unit = inside.unit
			}
		}
	}
	f.unknownOfValue = inside.unknown
}

// name is a node that names something: a text, keyword, word or whole number. A number is named by its digits.
func (r *reader) name(n *node, what string) ([]byte, error) {
	var name []byte
	switch n.kind {
	case text, keyword, word:
		name = r.s.textOf(n)
	case number:
		i, err := r.s.int(n)
		if err != nil {
			return nil, notOperation("%s: %v", what, err)
		}
		name = strconv.AppendInt(nil, i, 10)
	default:
		return nil, notOperation("%s is neither a name nor a number", what)
	}
	if len(name) == 0 || len(name) > maxName {
		return nil, notOperation("%s has a name of %d bytes, must be from 1 to %d", what, len(name), maxName)
	}
	return name, nil
}

// field is the name of a key, without the colon that some converters to JSON leave on it; empty if it is no name.
func (r *reader) field(n *node) []byte {
	if n.kind != text && n.kind != keyword {
		return nil
	}
	t := r.s.textOf(n)
	if n.kind == text && len(t) > 1 && t[0] == ':' {
		t = t[1:]
	}
	return t
}

// wordOf is the text of a word, however it is written; nil if the node is none.
func (r *reader) wordOf(n *node) []byte {
	if n.kind == word {
		return r.s.textOf(n)
	}
	return r.field(n)
}
